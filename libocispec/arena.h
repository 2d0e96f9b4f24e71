/* SPDX-License-Identifier: Apache-2.0 */
/* Memory with one lifetime: everything that a parse makes lives in an arena and goes with it.
   Runs in any process, needs no privileges.  Not thread safe: one arena belongs to one thread.  */
#ifndef LIBOCISPEC_ARENA_H
#define LIBOCISPEC_ARENA_H

#include <stdarg.h>
#include <stddef.h>

struct arena;

/* A new, empty arena, owned by the caller until arena_free.  NULL when memory is short.  */
struct arena *arena_new (void);

/* Frees ARENA and whatever was allocated from it.  NULL is allowed.  */
void arena_free (struct arena *arena);

/* SIZE zeroed bytes aligned to 16, owned by ARENA; a SIZE of 0 gives a valid pointer too.
   NULL when memory is short or SIZE is absurd.  */
void *arena_alloc (struct arena *arena, size_t size);

/* Room for COUNT zeroed elements of SIZE bytes; NULL also when the product overflows.  */
void *arena_alloc_array (struct arena *arena, size_t count, size_t size);

/* NEW_SIZE bytes that begin with the first OLD_SIZE bytes of OLD, the rest zeroed.  OLD comes from
   this arena with exactly OLD_SIZE bytes, or is NULL with OLD_SIZE 0; it is not to be used after a
   success, and stays as it is on failure (NULL).  A NEW_SIZE below OLD_SIZE returns OLD.  */
void *arena_grow (struct arena *arena, void *old, size_t old_size, size_t new_size);

/* Copies owned by ARENA, always terminated; NULL when memory is short.  arena_strndup copies
   exactly LEN bytes and doesn't stop at a NUL.  */
char *arena_strdup (struct arena *arena, const char *s);
char *arena_strndup (struct arena *arena, const char *s, size_t len);
char *arena_printf (struct arena *arena, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));
char *arena_vprintf (struct arena *arena, const char *format, va_list ap)
    __attribute__ ((format (printf, 2, 0)));

static inline void arena_cleanup (struct arena **arena) { arena_free (*arena); }

/* cleanup_arena struct arena *arena = arena_new (); frees it at the end of the scope.  */
#define cleanup_arena __attribute__ ((cleanup (arena_cleanup)))

#endif
