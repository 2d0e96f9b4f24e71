/* SPDX-License-Identifier: Apache-2.0 */
/* A bump allocator over chunks that are only freed together.
   Runs in any process, needs no privileges.  */
#include "arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
  ALIGNMENT = 16,
  FIRST_CHUNK = 16 * 1024,
  LARGEST_STEP = 1024 * 1024
};

/* The bytes after USED are always zero: they come from calloc and are handed out once.  */
struct chunk
{
  struct chunk *next;
  size_t size;
  size_t used;
  size_t padding;
  char bytes[];
};

struct arena
{
  struct chunk *current;
  size_t next_size;
};

_Static_assert(offsetof (struct chunk, bytes) % ALIGNMENT == 0, "chunks must start aligned");

struct arena *arena_new (void)
{
  struct arena *arena = calloc (1, sizeof *arena);

  if (arena != NULL)
    arena->next_size = FIRST_CHUNK - sizeof (struct chunk);
  return arena;
}

void arena_free (struct arena *arena)
{
  if (arena == NULL)
    return;
  while (arena->current != NULL)
    {
      struct chunk *next = arena->current->next;

      free (arena->current);
      arena->current = next;
    }
  free (arena);
}

static size_t round_up (size_t size) { return (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1); }

static struct chunk *chunk_with_room (struct arena *arena, size_t size)
{
  struct chunk *chunk = arena->current;
  size_t chunk_size;

  if (chunk != NULL && size <= chunk->size - chunk->used)
    return chunk;
  chunk_size = size > arena->next_size ? size : arena->next_size;
  chunk = calloc (1, sizeof *chunk + chunk_size);
  if (chunk == NULL)
    return NULL;
  chunk->size = chunk_size;
  chunk->next = arena->current;
  arena->current = chunk;
  if (arena->next_size < LARGEST_STEP)
    arena->next_size *= 2;
  return chunk;
}

void *arena_alloc (struct arena *arena, size_t size)
{
  struct chunk *chunk;
  void *result;

  if (size > PTRDIFF_MAX - sizeof (struct chunk) - ALIGNMENT)
    return NULL;
  size = round_up (size > 0 ? size : 1);
  chunk = chunk_with_room (arena, size);
  if (chunk == NULL)
    return NULL;
  result = chunk->bytes + chunk->used;
  chunk->used += size;
  return result;
}

void *arena_alloc_array (struct arena *arena, size_t count, size_t size)
{
  size_t total;

  if (__builtin_mul_overflow (count, size, &total))
    return NULL;
  return arena_alloc (arena, total);
}

void *arena_grow (struct arena *arena, void *old, size_t old_size, size_t new_size)
{
  struct chunk *chunk = arena->current;
  void *result;

  if (old == NULL)
    return arena_alloc (arena, new_size);
  if (new_size <= old_size)
    return old;
  if (new_size > PTRDIFF_MAX - sizeof (struct chunk) - ALIGNMENT)
    return NULL;

  size_t old_room = round_up (old_size > 0 ? old_size : 1);
  size_t more = round_up (new_size) - old_room;

  /* The newest allocation grows where it is: a long array costs no copies of itself.  */
  if (chunk->used >= old_room && (char *)old == chunk->bytes + chunk->used - old_room
      && more <= chunk->size - chunk->used)
    {
      chunk->used += more;
      return old;
    }
  result = arena_alloc (arena, new_size);
  if (result != NULL)
    memcpy (result, old, old_size);
  return result;
}

char *arena_strndup (struct arena *arena, const char *s, size_t len)
{
  char *copy = len < SIZE_MAX ? arena_alloc (arena, len + 1) : NULL;

  if (copy != NULL && len > 0)
    memcpy (copy, s, len);
  return copy;
}

char *arena_strdup (struct arena *arena, const char *s)
{
  return arena_strndup (arena, s, strlen (s));
}

char *arena_vprintf (struct arena *arena, const char *format, va_list ap)
{
  va_list measure;
  char *result;
  int len;

  va_copy (measure, ap);
  len = vsnprintf (NULL, 0, format, measure);
  va_end (measure);
  if (len < 0)
    return NULL;
  result = arena_alloc (arena, (size_t)len + 1);
  if (result != NULL)
    vsnprintf (result, (size_t)len + 1, format, ap);
  return result;
}

char *arena_printf (struct arena *arena, const char *format, ...)
{
  va_list ap;
  char *result;

  va_start (ap, format);
  result = arena_vprintf (arena, format, ap);
  va_end (ap);
  return result;
}
