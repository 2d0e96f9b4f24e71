/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the runtime share and nobody else sees: text building, the lexical scan, the
   set of member names.  Runs in any process, needs no privileges.  */
#ifndef LIBOCISPEC_INTERNAL_H
#define LIBOCISPEC_INTERNAL_H

#include <string.h>

#include "ocispec_runtime.h"

/* ---- access to members ----
   Pointers are moved by memcpy: the tables know offsets, not the pointed-to types, and a store
   through a pointer of another type would break the aliasing rules.  */

static inline void *oci_load_pointer (const void *at)
{
  void *pointer;

  memcpy (&pointer, at, sizeof pointer);
  return pointer;
}

static inline void oci_store_pointer (void *at, const void *pointer)
{
  memcpy (at, &pointer, sizeof pointer);
}

/* ---- members.c ---- */

/* Bytes that one value of the member takes in an array or a map.  */
size_t oci_element_size (const struct oci_member *member);

/* Whether values of KIND are strings.  */
bool oci_is_text (enum oci_kind kind);

/* Whether OBJECT has the member.  */
bool oci_is_present (const char *object, const struct oci_member *member);

/* The elements of an array or a map, in one shape for both; ITEMS by value.  */
struct oci_list
{
  char *items;
  char **keys; /* NULL for an array */
  size_t len;
};

struct oci_list oci_list_of (const char *object, const struct oci_member *member);
void oci_list_set (char *object, const struct oci_member *member, const struct oci_list *list);

/* ---- text.c: a growing text.  A failure sticks in ERROR; later additions do nothing. ---- */

struct oci_text
{
  char *bytes; /* malloc'ed, not terminated */
  size_t len;
  size_t size;
  int error; /* 0 or a negative errno */
};

void oci_text_free (struct oci_text *text);
void oci_text_add (struct oci_text *text, const char *bytes, size_t len);
void oci_text_puts (struct oci_text *text, const char *s);
void oci_text_repeat (struct oci_text *text, char c, size_t count);

/* LEN bytes of S as a JSON string literal.  */
void oci_text_quote (struct oci_text *text, const char *s, size_t len);

/* "/" and a component of a JSON pointer.  */
void oci_text_pointer (struct oci_text *text, const char *s, size_t len);

/* The text as a terminated string in ARENA; NULL on an earlier failure or short memory.  */
char *oci_text_copy (const struct oci_text *text, struct arena *arena);

/* S in double quotes as printable ASCII of bounded length, for messages.  */
char *oci_printable (struct arena *arena, const char *s, size_t len);

#define cleanup_oci_text __attribute__ ((cleanup (oci_text_free)))

/* The length, 1 to 4, of the UTF-8 sequence at S, or 0 when it is invalid: too long, a surrogate,
   above U+10FFFF, or longer than the LEN bytes that are left (RFC 3629).  */
size_t oci_utf8_length (const char *s, size_t len);

static inline bool oci_is_control (char c) { return (unsigned char)c < 0x20 || c == 0x7f; }

/* ---- scan.c: what yajl doesn't refuse. ---- */

struct oci_scan
{
  const char *text;    /* the document, comments replaced by blanks */
  size_t limit;        /* up to here there is nothing to object to */
  const char *problem; /* what is wrong there; NULL when LIMIT is the whole length */
};

int oci_scan (const char *bytes, size_t len, unsigned flags, struct arena *arena,
              struct oci_scan *ret_scan);

/* ---- keyset.c: the member names seen in one open object. ---- */

struct oci_keyset
{
  struct oci_key *slots;
  size_t size; /* a power of two, or 0 */
  size_t used;
  uint32_t generation;
};

/* The secret of the hash function, one a parse, so that names can't be made to collide.  */
struct oci_hash_key
{
  uint64_t k0;
  uint64_t k1;
};

void oci_hash_key_init (struct oci_hash_key *key);
void oci_keyset_clear (struct oci_keyset *set);
void oci_keyset_free (struct oci_keyset *set);

/* 1 when NAME is new, 0 when it is there already, -ENOMEM.  NAME is kept, not copied.  */
int oci_keyset_add (struct oci_keyset *set, const struct oci_hash_key *key, const char *name,
                    size_t len);

#endif
