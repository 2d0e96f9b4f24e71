/* SPDX-License-Identifier: Apache-2.0 */
/* Building text: JSON string literals, JSON pointers, quotations for messages.
   Runs in any process, needs no privileges.  */
#include "internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum
{
  FIRST_SIZE = 256,
  QUOTED_MAX = 64,    /* bytes of a member name in a message */
  COMPONENT_MAX = 256 /* bytes of a member name in a pointer */
};

void oci_text_free (struct oci_text *text)
{
  free (text->bytes);
  memset (text, 0, sizeof *text);
}

static bool make_room (struct oci_text *text, size_t more)
{
  size_t size = text->size > 0 ? text->size : FIRST_SIZE;
  char *bytes;

  if (text->error != 0)
    return false;
  if (more <= text->size - text->len)
    return true;
  while (size - text->len < more)
    if (__builtin_mul_overflow (size, (size_t)2, &size))
      {
        text->error = -ENOMEM;
        return false;
      }
  bytes = realloc (text->bytes, size);
  if (bytes == NULL)
    {
      text->error = -ENOMEM;
      return false;
    }
  text->bytes = bytes;
  text->size = size;
  return true;
}

void oci_text_add (struct oci_text *text, const char *bytes, size_t len)
{
  if (len == 0 || !make_room (text, len))
    return;
  memcpy (text->bytes + text->len, bytes, len);
  text->len += len;
}

void oci_text_puts (struct oci_text *text, const char *s) { oci_text_add (text, s, strlen (s)); }

void oci_text_repeat (struct oci_text *text, char c, size_t count)
{
  if (count == 0 || !make_room (text, count))
    return;
  memset (text->bytes + text->len, c, count);
  text->len += count;
}

char *oci_text_copy (const struct oci_text *text, struct arena *arena)
{
  if (text->error != 0)
    return NULL;
  return arena_strndup (arena, text->bytes, text->len);
}

/* The smallest code point that needs a sequence of this length: a smaller one is an overlong form,
   a second spelling of the same character.  */
static const uint32_t smallest_of_length[] = { [2] = 0x80, [3] = 0x800, [4] = 0x10000 };

size_t oci_utf8_length (const char *s, size_t len)
{
  unsigned char first = len > 0 ? (unsigned char)s[0] : 0x80;
  uint32_t code;
  size_t need;

  if (first < 0x80)
    return 1;
  if (first < 0xc2 || first > 0xf4)
    return 0;
  need = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (need > len)
    return 0;
  code = first & (0x7fu >> need);
  for (size_t i = 1; i < need; i++)
    {
      unsigned char next = (unsigned char)s[i];

      if ((next & 0xc0) != 0x80)
        return 0;
      code = code << 6 | (next & 0x3f);
    }
  if (code < smallest_of_length[need] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
    return 0;
  return need;
}

static void quote_byte (struct oci_text *text, unsigned char c)
{
  static const char short_forms[][3] = {
    ['\b'] = "\\b", ['\t'] = "\\t", ['\n'] = "\\n",  ['\f'] = "\\f",
    ['\r'] = "\\r", ['"'] = "\\\"", ['\\'] = "\\\\",
  };
  char escape[8];

  if (c < sizeof short_forms / sizeof *short_forms && short_forms[c][0] != '\0')
    {
      oci_text_add (text, short_forms[c], 2);
      return;
    }
  snprintf (escape, sizeof escape, "\\u%04x", c);
  oci_text_puts (text, escape);
}

void oci_text_quote (struct oci_text *text, const char *s, size_t len)
{
  size_t start = 0;
  size_t i = 0;

  oci_text_repeat (text, '"', 1);
  while (i < len)
    {
      size_t step = oci_utf8_length (s + i, len - i);

      if (step > 0 && (unsigned char)s[i] >= 0x20 && s[i] != '"' && s[i] != '\\')
        {
          i += step;
          continue;
        }
      oci_text_add (text, s + start, i - start);
      if (step == 0)
        oci_text_puts (text, "\xef\xbf\xbd");
      else
        quote_byte (text, (unsigned char)s[i]);
      start = ++i;
    }
  oci_text_add (text, s + start, len - start);
  oci_text_repeat (text, '"', 1);
}

void oci_text_pointer (struct oci_text *text, const char *s, size_t len)
{
  size_t end = 0;

  while (end < len && end < COMPONENT_MAX)
    {
      size_t step = oci_utf8_length (s + end, len - end);

      end += step > 0 ? step : 1;
    }
  oci_text_repeat (text, '/', 1);
  for (size_t i = 0; i < end; i++)
    if (s[i] == '~')
      oci_text_puts (text, "~0");
    else if (s[i] == '/')
      oci_text_puts (text, "~1");
    else
      oci_text_add (text, s + i, 1);
  if (end < len)
    oci_text_puts (text, "...");
}

char *oci_printable (struct arena *arena, const char *s, size_t len)
{
  cleanup_oci_text struct oci_text text = { 0 };
  size_t shown = len < QUOTED_MAX ? len : QUOTED_MAX;

  oci_text_repeat (&text, '"', 1);
  for (size_t i = 0; i < shown; i++)
    {
      unsigned char c = (unsigned char)s[i];
      char escape[8];

      if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\')
        {
          oci_text_add (&text, s + i, 1);
          continue;
        }
      snprintf (escape, sizeof escape, "\\x%02x", c);
      oci_text_puts (&text, escape);
    }
  oci_text_puts (&text, shown < len ? "...\"" : "\"");
  return oci_text_copy (&text, arena);
}

char *oci_quote (struct arena *arena, const char *s)
{
  cleanup_oci_text struct oci_text text = { 0 };

  oci_text_quote (&text, s, strlen (s));
  return oci_text_copy (&text, arena);
}
