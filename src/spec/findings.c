/* SPDX-License-Identifier: Apache-2.0 */
/* Owns the growing list of findings.  A finding that can't be stored would be a hole in the
   verdict, so running out of memory is remembered and the verdict is then "could not be decided".
   Pure code, runs in the parent, needs no privilege.  */
#include "spec/findings.h"

#include <string.h>

#include "base/str.h"

static struct finding *finding_slot (struct findings *list)
{
  struct finding *items;
  size_t size;

  if (list->failed)
    return NULL;
  if (list->len == list->size)
    {
      size = list->size == 0 ? 16 : list->size * 2;
      items =
          arena_grow (list->arena, list->items, list->size * sizeof *items, size * sizeof *items);
      if (items == NULL)
        return NULL;
      list->items = items;
      list->size = size;
    }
  return &list->items[list->len];
}

struct finding *finding_add (struct findings *list, const char *rule, const char *action,
                             const char *pointer, const char *format, ...)
{
  struct finding made = { 0 };
  struct finding *slot = finding_slot (list);
  va_list ap;

  va_start (ap, format);
  made.message = arena_vprintf (list->arena, format, ap);
  va_end (ap);
  made.rule = arena_strdup (list->arena, rule);
  made.action = arena_strdup (list->arena, action);
  made.pointer = arena_strdup (list->arena, pointer == NULL ? "" : pointer);
  if (slot == NULL || made.message == NULL || made.rule == NULL || made.action == NULL
      || made.pointer == NULL)
    {
      list->failed = true;
      return NULL;
    }
  *slot = made;
  list->len++;
  return slot;
}

void finding_fix (struct findings *list, struct finding *f, const char *format, ...)
{
  va_list ap;

  if (f == NULL)
    return;
  va_start (ap, format);
  f->fix = arena_vprintf (list->arena, format, ap);
  va_end (ap);
  if (f->fix == NULL)
    list->failed = true;
}

char *pointer_printf (struct arena *arena, const char *format, ...)
{
  va_list ap;
  char *made;

  va_start (ap, format);
  made = arena_vprintf (arena, format, ap);
  va_end (ap);
  return made;
}

char *pointer_escape (struct arena *arena, const char *member)
{
  size_t len = strlen (member);
  char *made = arena_alloc_array (arena, len + 1, 2);
  char *to = made;

  if (made == NULL)
    return NULL;
  for (size_t i = 0; i < len; i++)
    if (member[i] == '~' || member[i] == '/')
      {
        *to++ = '~';
        *to++ = member[i] == '~' ? '0' : '1';
      }
    else
      *to++ = member[i];
  *to = '\0';
  return made;
}

bool findings_reject (const struct findings *list)
{
  for (size_t i = 0; i < list->len; i++)
    if (str_equal (list->items[i].action, "reject"))
      return true;
  return false;
}
