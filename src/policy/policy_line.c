/* SPDX-License-Identifier: Apache-2.0 */
/* The line of a value in a policy file, for messages: the parser has checked the text, so this only
   skips.  Pure code.  */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "policy/internal.h"

struct cursor
{
  const char *at, *end;
};

static bool skip_comment (struct cursor *c)
{
  const char *close;

  if (c->end - c->at < 2 || c->at[0] != '/')
    return false;
  if (c->at[1] == '/')
    close = memchr (c->at, '\n', (size_t)(c->end - c->at));
  else
    {
      close = memmem (c->at + 2, (size_t)(c->end - c->at) - 2, "*/", 2);
      close = close == NULL ? NULL : close + 2;
    }
  c->at = close == NULL ? c->end : close;
  return true;
}

static void skip_blank (struct cursor *c)
{
  while (c->at < c->end && (isspace ((unsigned char)*c->at) || skip_comment (c)))
    if (c->at < c->end && isspace ((unsigned char)*c->at))
      c->at++;
}

static void skip_string (struct cursor *c)
{
  c->at++;
  while (c->at < c->end && *c->at != '"')
    c->at += *c->at == '\\' && c->end - c->at > 1 ? 2 : 1;
  if (c->at < c->end)
    c->at++;
}

/* Over one value, of whatever kind.  Brackets are counted, strings and comments jumped over.  */
static void skip_value (struct cursor *c)
{
  int depth = 0;

  skip_blank (c);
  while (c->at < c->end)
    {
      if (depth == 0 && strchr (",]}", *c->at) != NULL)
        return;
      if (*c->at == '"')
        skip_string (c);
      else
        {
          depth += *c->at == '{' || *c->at == '[';
          depth -= *c->at == '}' || *c->at == ']';
          c->at++;
        }
      if (depth == 0 && strchr ("\"}]", c->at[-1]) != NULL)
        return;
      skip_blank (c);
    }
}

/* Whether the raw string from S to END is the pointer's COMPONENT of LEN.  Keys of a policy file
   have no escapes; one that has is simply not found.  */
static bool same_key (const char *s, const char *end, const char *component, size_t len)
{
  size_t i = 0;

  for (; s < end && i < len; s++, i++)
    {
      char c = component[i];

      if (c == '~' && i + 1 < len)
        c = component[++i] == '1' ? '/' : '~';
      if (c != *s)
        return false;
    }
  return s == end && i == len;
}

/* Moves into the object or array at C, to the value that COMPONENT names.  */
static bool enter (struct cursor *c, const char *component, size_t len)
{
  bool object = c->at < c->end && *c->at == '{';
  unsigned long wanted = strtoul (component, NULL, 10);

  if (!object && (c->at >= c->end || *c->at != '['))
    return false;
  c->at++;
  for (unsigned long index = 0;; index++)
    {
      const char *key;
      bool found = !object && index == wanted;

      skip_blank (c);
      if (c->at >= c->end || *c->at == '}' || *c->at == ']')
        return false;
      if (object)
        {
          key = c->at + 1;
          skip_string (c);
          found = same_key (key, c->at - 1, component, len);
          skip_blank (c);
          if (c->at < c->end)
            c->at++; /* the colon */
          skip_blank (c);
        }
      if (found)
        return true;
      skip_value (c);
      skip_blank (c);
      if (c->at < c->end && *c->at == ',')
        c->at++;
    }
}

unsigned json_line (const char *bytes, size_t len, const char *pointer)
{
  struct cursor c = { bytes, bytes + len };
  const char *best;
  unsigned line = 1;

  skip_blank (&c);
  best = c.at;
  while (*pointer == '/')
    {
      size_t part = strcspn (pointer + 1, "/");

      if (!enter (&c, pointer + 1, part))
        break;
      best = c.at;
      pointer += part + 1;
    }
  for (const char *s = bytes; s < best; s++)
    line += *s == '\n';
  return line;
}
