/* SPDX-License-Identifier: Apache-2.0 */
/* Strings: strict numbers, quoting for messages, a growing buffer.  Pure code.  */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARRAY_SIZE(a) (sizeof (a) / sizeof ((a)[0]))

static inline bool str_equal (const char *a, const char *b)
{
  return a == b || (a != NULL && b != NULL && __builtin_strcmp (a, b) == 0);
}

bool str_has_prefix (const char *s, const char *prefix);
bool str_has_suffix (const char *s, const char *suffix);

/* Whether PATH is DIR or lies below it, by whole components ("/a/bc" is not below "/a/b").  Both
   are absolute and canonical.  */
bool path_is_within (const char *path, const char *dir);

/* Whole-string decimal conversion: no sign but '-' for the signed one, no blanks, no leading '+',
   nothing behind the digits.  Returns 0, -EINVAL (not a number) or -ERANGE.  *RET is untouched on
   failure: a failed parse is never 0.  */
int str_to_u64 (const char *s, uint64_t min, uint64_t max, uint64_t *ret);
int str_to_i64 (const char *s, int64_t min, int64_t max, int64_t *ret);

/* S made fit for a one-line message: unprintable and non-ASCII bytes as \xNN, cut to 120 bytes with
   "..." behind.  Returns BUF.  NULL gives "(null)".  */
#define STR_QUOTE_MAX 512
const char *str_quote (const char *s, char buf[STR_QUOTE_MAX]);

/* Puts '_' for the first blank of every phrase in S that an engine would take for another error
   (cli.md), in place.  For a finished line that must not hold any.  */
void str_break_phrases (char *s);

/* A growing byte string.  Zero-initialise; free with strbuf_free (cleanup_strbuf).  After ENOMEM
   `failed` stays true and later calls do nothing: check once, at the end.  */
struct strbuf
{
  char *data; /* NUL-terminated when not NULL */
  size_t len;
  size_t size;
  bool failed;
};

void strbuf_add (struct strbuf *b, const char *s);
void strbuf_add_n (struct strbuf *b, const char *s, size_t n);
void strbuf_printf (struct strbuf *b, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));
/* Adds S as a JSON string literal, quotes included.  Invalid UTF-8 becomes U+FFFD; '/' stays.  */
void strbuf_json_string (struct strbuf *b, const char *s);
void strbuf_free (struct strbuf *b);
#define cleanup_strbuf __attribute__ ((cleanup (strbuf_free)))
