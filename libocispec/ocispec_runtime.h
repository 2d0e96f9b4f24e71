/* SPDX-License-Identifier: Apache-2.0 */
/* JSON to C structs and back, driven by the tables that gen.py makes from a schema.
   Runs in any process, needs no privileges, reads and writes memory only.

   The reader is strict on purpose: what one JSON reader takes and another one doesn't is a way
   around a policy.  Refused are, by rule:
     json.syntax     anything but one well-formed object (RFC 8259): byte order mark, comments
                     (unless allowed), NaN, trailing data, empty input, invalid UTF-8, half
                     surrogate pairs, NUL in any spelling, control characters in member names and
                     in members of the kinds `path` and `name`
     json.duplicate  a repeated member, compared after unescaping, at any depth
     json.case       a member that equals a known one but for case
     json.type       a value of another type, a number that is no integer (1.0 and 1e3 are none) or
                     out of the member's range, null as element of an array or a map
     json.size       more than 16 MiB, or nested deeper than 64
   A member whose value is null is absent.  Members that the schema doesn't know are listed, not
   refused: whether they matter is the caller's decision (json.unknown).  */
#ifndef LIBOCISPEC_RUNTIME_H
#define LIBOCISPEC_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"

enum
{
  OCI_MAX_BYTES = 16 * 1024 * 1024, /* a larger document is json.size */
  OCI_MAX_DEPTH = 64,               /* objects and arrays inside each other */
  OCI_MAX_ISSUES = 100              /* further findings of a list are not recorded */
};

/* A JSON object with free member names, in the order of the document.  The struct T_map that gen.py
   makes for objects of type T has this layout, with structs as values.  */
struct oci_map
{
  bool has;
  size_t len;
  char **keys;
  char **values; /* strings, or compact JSON text for {any} */
};

/* One finding.  POINTER is a JSON pointer (RFC 6901; a component longer than 256 bytes is cut and
   ends in "..."), LINE counts from 1.  MESSAGE is printable ASCII and holds no value of the
   document, at most a member name.  */
struct oci_issue
{
  const char *rule;
  char *pointer;
  unsigned line;
  char *message;
};

/* Zeroed by the caller before a parse; the lists are in the parse's arena, in document order.  */
struct oci_report
{
  struct oci_issue *errors;
  size_t errors_len;
  struct oci_issue *unknown;
  size_t unknown_len;
};

/* Flags of oci_parse.  */
enum
{
  OCI_ALLOW_COMMENTS = 1 /* line comments and block comments count as white space */
};

/* Flags of oci_emit.  */
enum
{
  OCI_PRETTY = 1 /* indented by two spaces, instead of on one line */
};

enum oci_kind
{
  OCI_BOOL,
  OCI_U16,
  OCI_U32,
  OCI_U64,
  OCI_I32,
  OCI_I64,
  OCI_STRING,
  OCI_PATH, /* a string without control characters (0x00-0x1f, 0x7f) */
  OCI_NAME, /* same, for ids and names */
  OCI_ANY,  /* any JSON value, as compact text */
  OCI_OBJECT
};

enum oci_shape
{
  OCI_ONE,   /* the value itself; objects and strings are pointers, NULL when absent */
  OCI_ARRAY, /* pointer to the elements, by value; the length in a member of its own */
  OCI_MAP    /* struct oci_map, or struct T_map with objects by value */
};

struct oci_type;

/* One member of a type.  HAS_OFFSET counts for bool, numbers and arrays, LEN_OFFSET for arrays,
   LO and HI for numbers, TYPE for objects.  */
struct oci_member
{
  const char *name;
  size_t name_len;
  enum oci_kind kind;
  enum oci_shape shape;
  size_t offset;
  size_t has_offset;
  size_t len_offset;
  int64_t lo;
  uint64_t hi;
  const struct oci_type *type;
};

struct oci_type
{
  const char *name;
  size_t size;
  const struct oci_member *members;
  size_t members_len;
};

/* Parses LEN BYTES (not necessarily terminated, not kept) as one object of TYPE.  On success 0 and
   *RET_OBJECT, which lives in ARENA.  -EINVAL: REPORT has at least one error; json.type and
   json.case are collected, the other rules end the parse.  -ENOMEM: memory was short, REPORT may
   have anything.  REPORT->unknown is filled in any case.  */
int oci_parse (const struct oci_type *type, struct arena *arena, const char *bytes, size_t len,
               unsigned flags, struct oci_report *report, void **ret_object);

/* Writes OBJECT of TYPE as JSON text in ARENA, terminated; RET_LEN (may be NULL) gets its length.
   Absent members are left out, the order is the schema's, `any` goes out as it is.  Bytes that are
   not UTF-8 become U+FFFD, since JSON can't say them.  0, -ENOMEM, or -EINVAL when an array or a
   map of strings holds a NULL.  */
int oci_emit (const struct oci_type *type, const void *object, unsigned flags, struct arena *arena,
              char **ret_json, size_t *ret_len);

/* A deep copy of OBJECT that shares nothing with it, in ARENA.  NULL when memory is short.  */
void *oci_clone (const struct oci_type *type, struct arena *arena, const void *object);

/* A copy of BASE in which each member that OVER has is OVER's: objects are merged member by
   member, maps entry by entry, arrays are replaced.  In ARENA, shares nothing with either.  NULL
   when memory is short.  */
void *oci_merge (const struct oci_type *type, struct arena *arena, const void *base,
                 const void *over);

/* S as a JSON string literal with its quotes, for `any` members, in ARENA; bytes that are not UTF-8
   as in oci_emit.  NULL when memory is short.  */
char *oci_quote (struct arena *arena, const char *s);

#endif
