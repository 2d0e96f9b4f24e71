/* SPDX-License-Identifier: Apache-2.0 */
/* Strict numbers, quoting, the growing buffer.  Pure code: no system call, no privilege, any
   process.  */
#include "base/str.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define QUOTE_INPUT_MAX 120

bool str_has_prefix (const char *s, const char *prefix)
{
  return strncmp (s, prefix, strlen (prefix)) == 0;
}

bool str_has_suffix (const char *s, const char *suffix)
{
  size_t len = strlen (s);
  size_t suffix_len = strlen (suffix);

  return len >= suffix_len && strcmp (s + len - suffix_len, suffix) == 0;
}

bool path_is_within (const char *path, const char *dir)
{
  size_t len = strlen (dir);

  /* "/" is the one canonical path that ends in a slash.  */
  while (len > 0 && dir[len - 1] == '/')
    len--;
  return strncmp (path, dir, len) == 0 && (path[len] == '\0' || path[len] == '/');
}

/* The digits of S, all of it, as a magnitude up to LIMIT.  */
static int parse_digits (const char *s, uint64_t limit, uint64_t *ret)
{
  uint64_t value = 0;
  bool over = false;

  if (*s == '\0')
    return -EINVAL;
  for (; *s != '\0'; s++)
    {
      if (*s < '0' || *s > '9')
        return -EINVAL;
      /* Goes on to the end: "99999999999999999999x" is no number, rather than one out of range.  */
      over = over || __builtin_mul_overflow (value, 10u, &value)
             || __builtin_add_overflow (value, (uint64_t)(*s - '0'), &value) || value > limit;
    }
  if (over)
    return -ERANGE;
  *ret = value;
  return 0;
}

int str_to_u64 (const char *s, uint64_t min, uint64_t max, uint64_t *ret)
{
  uint64_t value;

  if (s == NULL)
    return -EINVAL;
  int r = parse_digits (s, max, &value);
  if (r < 0)
    return r;
  if (value < min)
    return -ERANGE;
  *ret = value;
  return 0;
}

int str_to_i64 (const char *s, int64_t min, int64_t max, int64_t *ret)
{
  uint64_t magnitude;

  if (s == NULL)
    return -EINVAL;
  bool negative = *s == '-';
  uint64_t limit = negative ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX;
  int r = parse_digits (s + (negative ? 1 : 0), limit, &magnitude);
  if (r < 0)
    return r;

  /* Negated while unsigned: -INT64_MIN does not exist.  */
  int64_t value = (int64_t)(negative ? -magnitude : magnitude);
  if (value < min || value > max)
    return -ERANGE;
  *ret = value;
  return 0;
}

/* Texts by which an engine decides what went wrong.  Inside quoted input they would let whoever
   wrote the config choose the error that the engine reports.  */
static const char *const engine_phrases[] = {
  "permission denied",         "operation not permitted", "no such file or directory",
  "executable file not found", "is a directory",
};

/* The length of the first word of the phrase that begins at S, or 0.  */
static size_t phrase_word (const char *s)
{
  for (size_t i = 0; i < ARRAY_SIZE (engine_phrases); i++)
    if (strncasecmp (s, engine_phrases[i], strlen (engine_phrases[i])) == 0)
      return strcspn (engine_phrases[i], " ");
  return 0;
}

void str_break_phrases (char *s)
{
  for (; *s != '\0'; s++)
    if (phrase_word (s) > 0)
      s[phrase_word (s)] = '_';
}

const char *str_quote (const char *s, char buf[STR_QUOTE_MAX])
{
  static const char hex[] = "0123456789abcdef";
  char *out = buf;
  size_t mark = SIZE_MAX;
  size_t i;

  if (s == NULL)
    return strcpy (buf, "(null)");

  for (i = 0; s[i] != '\0' && i < QUOTE_INPUT_MAX; i++)
    {
      unsigned char c = (unsigned char)s[i];
      size_t word = phrase_word (s + i);

      if (word > 0)
        mark = i + word;
      if (i == mark)
        *out++ = '\\';
      if (c >= 0x20 && c < 0x7f)
        *out++ = (char)c;
      else
        {
          *out++ = '\\';
          *out++ = 'x';
          *out++ = hex[c >> 4];
          *out++ = hex[c & 0xf];
        }
    }
  strcpy (out, s[i] != '\0' ? "..." : "");
  return buf;
}

/* Makes room for EXTRA bytes and the NUL behind them.  */
static bool strbuf_reserve (struct strbuf *b, size_t extra)
{
  size_t needed, size;

  if (b->failed || __builtin_add_overflow (b->len, extra, &needed)
      || __builtin_add_overflow (needed, 1, &needed))
    {
      b->failed = true;
      return false;
    }
  if (needed <= b->size)
    return true;

  /* Doubling keeps a long series of short additions linear.  */
  if (__builtin_mul_overflow (b->size, 2, &size) || size < needed)
    size = needed;
  if (size < 64)
    size = 64;

  char *data = realloc (b->data, size);
  if (data == NULL)
    {
      b->failed = true;
      return false;
    }
  b->data = data;
  b->size = size;
  return true;
}

void strbuf_add_n (struct strbuf *b, const char *s, size_t n)
{
  if (!strbuf_reserve (b, n))
    return;
  if (n > 0)
    memcpy (b->data + b->len, s, n);
  b->len += n;
  b->data[b->len] = '\0';
}

void strbuf_add (struct strbuf *b, const char *s) { strbuf_add_n (b, s, strlen (s)); }

void strbuf_printf (struct strbuf *b, const char *format, ...)
{
  va_list args, again;

  va_start (args, format);
  va_copy (again, args);
  int len = vsnprintf (NULL, 0, format, args);
  va_end (args);

  if (len < 0)
    b->failed = true;
  else if (strbuf_reserve (b, (size_t)len))
    {
      vsnprintf (b->data + b->len, (size_t)len + 1, format, again);
      b->len += (size_t)len;
    }
  va_end (again);
}

/* The length of the well-formed UTF-8 sequence at S, or 0 (Unicode 15, table 3-7: no overlong form,
   no surrogate, nothing over U+10FFFF).  The NUL ends each comparison, so nothing behind it is
   read.  */
static size_t utf8_sequence (const unsigned char *s)
{
  static const struct
  {
    unsigned char first, last; /* first byte */
    unsigned char low, high;   /* second byte */
    unsigned char len;
  } forms[] = {
    { 0x01, 0x7f, 0x00, 0xff, 1 }, { 0xc2, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 },
    { 0xe1, 0xec, 0x80, 0xbf, 3 }, { 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
    { 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
  };

  for (size_t i = 0; i < ARRAY_SIZE (forms); i++)
    if (s[0] >= forms[i].first && s[0] <= forms[i].last)
      {
        if (forms[i].len > 1 && (s[1] < forms[i].low || s[1] > forms[i].high))
          return 0;
        for (size_t n = 2; n < forms[i].len; n++)
          if ((s[n] & 0xc0) != 0x80)
            return 0;
        return forms[i].len;
      }
  return 0;
}

/* One ASCII character inside a JSON string, RFC 8259 section 7.  */
static void json_add_ascii (struct strbuf *b, unsigned char c)
{
  static const char shorts[][3] = {
    ['\b'] = "\\b", ['\t'] = "\\t", ['\n'] = "\\n",  ['\f'] = "\\f",
    ['\r'] = "\\r", ['"'] = "\\\"", ['\\'] = "\\\\",
  };

  if (c < ARRAY_SIZE (shorts) && shorts[c][0] != '\0')
    strbuf_add (b, shorts[c]);
  else if (c < 0x20 || c == 0x7f)
    strbuf_printf (b, "\\u%04x", c);
  else
    strbuf_add_n (b, (const char *)&c, 1);
}

void strbuf_json_string (struct strbuf *b, const char *s)
{
  strbuf_add (b, "\"");
  while (*s != '\0')
    {
      size_t len = utf8_sequence ((const unsigned char *)s);

      if (len == 1)
        json_add_ascii (b, (unsigned char)*s);
      else if (len == 0)
        strbuf_add (b, "\xef\xbf\xbd");
      else
        strbuf_add_n (b, s, len);
      s += len > 0 ? len : 1;
    }
  strbuf_add (b, "\"");
}

void strbuf_free (struct strbuf *b)
{
  free (b->data);
  *b = (struct strbuf){ 0 };
}
