/* SPDX-License-Identifier: Apache-2.0 */
/* Edits JSON as text, for test cases that say where they differ from a base document.  Test code:
   well-formed input is taken for granted.  */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

static inline const char *json_blank (const char *s) { return s + strspn (s, " \t\r\n"); }

static inline const char *json_string_end (const char *s)
{
  for (s++; *s != '"'; s++)
    if (*s == '\\')
      s++;
  return s + 1;
}

/* Behind the value that begins at S.  */
static inline const char *json_value_end (const char *s)
{
  int depth = 0;

  s = json_blank (s);
  do
    {
      if (*s == '"')
        {
          s = json_string_end (s);
          continue;
        }
      depth += *s == '{' || *s == '[';
      depth -= *s == '}' || *s == ']';
      s++;
    }
  while (depth > 0
         || (strchr ("{}[],:\" \t\r\n", s[-1]) == NULL && *s != '\0'
             && strchr (",]} \t\r\n", *s) == NULL));
  return s;
}

/* Whether the quoted key at S is the pointer's component C of LEN.  */
static inline bool json_key_is (const char *s, const char *c, size_t len)
{
  size_t i = 0;

  for (s++; *s != '"' && i < len; s++, i++)
    {
      char wanted = c[i];

      if (wanted == '~')
        wanted = c[++i] == '1' ? '/' : '~';
      if (*s != wanted)
        return false;
    }
  return *s == '"' && i == len;
}

/* The value that component C names in the container at S, or NULL.  */
static inline const char *json_member (const char *s, const char *c, size_t len)
{
  bool object = *s == '{';
  unsigned long wanted = strtoul (c, NULL, 10);

  s = json_blank (s + 1);
  for (unsigned long i = 0; *s != '}' && *s != ']'; i++)
    {
      bool found = object ? json_key_is (s, c, len) : i == wanted;

      if (object)
        s = json_blank (json_blank (json_string_end (s)) + 1);
      if (found)
        return s;
      s = json_blank (json_value_end (s));
      if (*s == ',')
        s = json_blank (s + 1);
    }
  return NULL;
}

/* The value at POINTER, or NULL.  */
static inline const char *json_at (const char *text, const char *pointer)
{
  const char *s = json_blank (text);

  while (s != NULL && *pointer == '/')
    {
      size_t len = strcspn (pointer + 1, "/");

      if (*s != '{' && *s != '[')
        return NULL;
      s = json_member (s, pointer + 1, len);
      pointer += len + 1;
    }
  return s;
}

static inline char *json_splice (const char *text, const char *from, const char *to,
                                 const char *middle)
{
  struct strbuf b = { 0 };

  strbuf_add_n (&b, text, (size_t)(from - text));
  strbuf_add (&b, middle);
  strbuf_add (&b, to);
  return b.data;
}

/* TEXT with VALUE at POINTER: replaced, added to an object, or appended to an array by "-".
   Allocated; NULL when there is no such place.  */
static inline char *json_set (const char *text, const char *pointer, const char *value)
{
  const char *slash = strrchr (pointer, '/');
  const char *old = json_at (text, pointer);
  char *parent_pointer, *added = NULL, *made;
  const char *parent;
  bool empty;

  if (slash == NULL || (old != NULL && !str_equal (slash, "/-")))
    return old == NULL ? NULL : json_splice (text, old, json_value_end (old), value);
  parent_pointer = strndup (pointer, (size_t)(slash - pointer));
  parent = json_at (text, parent_pointer);
  free (parent_pointer);
  if (parent == NULL || (*parent == '[') != str_equal (slash, "/-"))
    return NULL;
  empty = strchr ("]}", *json_blank (parent + 1)) != NULL;
  if (*parent == '[')
    {
      const char *end = json_value_end (parent) - 1;

      if (asprintf (&added, "%s%s", empty ? "" : ",", value) < 0)
        return NULL;
      made = json_splice (text, end, end, added);
    }
  else
    {
      struct strbuf key = { 0 };

      for (const char *c = slash + 1; *c != '\0'; c++)
        if (*c == '~')
          strbuf_add (&key, *++c == '1' ? "/" : "~");
        else
          strbuf_add_n (&key, c, 1);
      if (asprintf (&added, "\"%s\":%s%s", key.data, value, empty ? "" : ",") < 0)
        return NULL;
      strbuf_free (&key);
      made = json_splice (text, parent + 1, parent + 1, added);
    }
  free (added);
  return made;
}
