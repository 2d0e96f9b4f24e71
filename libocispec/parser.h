/* SPDX-License-Identifier: Apache-2.0 */
/* One parse in progress, as its files share it: parse.c (yajl's events), names.c (member names),
   values.c (values), issues.c (findings).  Runs in any process, needs no privileges.

   Each open object or array has a frame.  A frame's mode says what its values are for; a value of
   the wrong type is reported and its subtree walked in MODE_SKIP, because names may not repeat
   there either and the nesting counts too.  */
#ifndef LIBOCISPEC_PARSER_H
#define LIBOCISPEC_PARSER_H

#include <yajl/yajl_parse.h>

#include "internal.h"

enum mode
{
  MODE_OBJECT, /* an object of a known type */
  MODE_ARRAY,  /* an array of a member */
  MODE_MAP,    /* an object with free names */
  MODE_SKIP,   /* below an unknown member or a wrong value: only checked */
  MODE_ANY     /* below an `any`: checked and kept as text */
};

enum token_type
{
  TOKEN_NULL,
  TOKEN_BOOL,
  TOKEN_NUMBER,
  TOKEN_STRING,
  TOKEN_OBJECT, /* its begin */
  TOKEN_ARRAY   /* its begin */
};

struct token
{
  enum token_type type;
  bool boolean;
  const char *text; /* a number as written, a string unescaped; not terminated */
  size_t len;
};

struct frame
{
  enum mode mode;
  bool is_array;
  bool has_key; /* between a member's name and the end of its value */
  const char *key;
  size_t key_len;
  size_t count; /* values finished */

  char *object;                    /* the struct that is filled: for MODE_ARRAY and MODE_MAP the
                                      one that has the member */
  const struct oci_type *type;     /* MODE_OBJECT */
  const struct oci_member *member; /* MODE_OBJECT: of the current name, NULL when unknown */

  char *items; /* MODE_ARRAY, MODE_MAP: the elements so far, and room for SIZE of them */
  char **item_keys;
  size_t items_len;
  size_t items_size;

  struct oci_keyset names;
};

struct parser
{
  const struct oci_type *type;
  struct arena *arena;
  struct oci_report *report;
  struct oci_scan scan;
  yajl_handle yajl;
  struct oci_hash_key hash_key;

  int error; /* not 0: the parse is over */
  unsigned line;
  size_t line_at; /* LINE is the line of this offset */
  size_t end;     /* offset after the document, 0 before its end */
  void *root;

  struct oci_text any;
  char *any_at;     /* where the pointer to the text belongs */
  size_t any_depth; /* the depth of the frame that is the `any` */

  size_t depth;
  struct frame frames[OCI_MAX_DEPTH];
};

static inline struct frame *top (struct parser *p) { return &p->frames[p->depth - 1]; }

static inline bool is_container (const struct token *token)
{
  return token->type == TOKEN_OBJECT || token->type == TOKEN_ARRAY;
}

/* ---- issues.c ---- */

/* Ends the parse with ERROR, a negative errno; the first one counts.  */
void oci_parser_fail (struct parser *p, int error);

/* Record a finding at the current value; MESSAGE is in the arena, or NULL when there was no memory
   for it, which ends the parse.  */
void oci_parser_error (struct parser *p, const char *rule, char *message);
void oci_parser_unknown (struct parser *p, char *message);

/* A document may have millions of errors; no message is made that nobody will see.  */
static inline bool oci_parser_errors_full (const struct parser *p)
{
  return p->report->errors_len >= OCI_MAX_ISSUES;
}

/* Records json.syntax at OFFSET and ends the parse.  */
void oci_parser_syntax_error (struct parser *p, size_t offset, const char *message);

/* A message about the member name of F, between two pieces of text; NULL when memory is short.  */
char *oci_parser_name_message (struct parser *p, const char *before, const struct frame *f,
                               const char *after);

/* ---- values.c, names.c: one event each; 0 ends the parse, as yajl wants it ---- */

int oci_parser_value (struct parser *p, const struct token *token);
int oci_parser_end (struct parser *p);
int oci_parser_name (void *context, const unsigned char *name, size_t len);

#endif
