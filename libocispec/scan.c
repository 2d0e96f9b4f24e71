/* SPDX-License-Identifier: Apache-2.0 */
/* The lexical rules that yajl doesn't keep: it takes half surrogate pairs (as '?'), \u0000,
   overlong UTF-8, vertical tabs as white space, comments that never end, and a string that never
   ends after the document.  A walk over the bytes finds the first such place; the parser reads up
   to there, so that findings keep the order of the document and this one gets its JSON pointer.
   Runs in any process, needs no privileges.  */
#include "internal.h"

#include <errno.h>

struct scanner
{
  const char *bytes;
  size_t len;
  size_t at;
  unsigned flags;
  struct arena *arena;
  char *blanked; /* the copy without comments, once there is one */
  const char *problem;
  int error;
};

static void object_to (struct scanner *s, const char *problem) { s->problem = problem; }

static size_t left (const struct scanner *s) { return s->len - s->at; }

static bool starts_with (const struct scanner *s, const char *prefix)
{
  size_t len = strlen (prefix);

  return left (s) >= len && memcmp (s->bytes + s->at, prefix, len) == 0;
}

static int hex_digit (char c)
{
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return -1;
}

/* The code unit of the \uXXXX at S->at + OFFSET, or -1 when there is none.  */
static int unicode_escape (const struct scanner *s, size_t offset)
{
  const char *p = s->bytes + s->at + offset;
  int code = 0;

  if (left (s) < offset + 6 || p[0] != '\\' || p[1] != 'u')
    return -1;
  for (int i = 2; i < 6; i++)
    {
      int digit = hex_digit (p[i]);

      if (digit < 0)
        return -1;
      code = code * 16 + digit;
    }
  return code;
}

static void scan_escape (struct scanner *s)
{
  int code;

  if (left (s) >= 2 && s->bytes[s->at + 1] != 'u')
    {
      if (s->bytes[s->at + 1] == '\0' || strchr ("\"\\/bfnrt", s->bytes[s->at + 1]) == NULL)
        object_to (s, "unknown escape in a string");
      else
        s->at += 2;
      return;
    }
  code = unicode_escape (s, 0);
  if (code < 0)
    object_to (s, "an escape in a string is not complete");
  else if (code == 0)
    object_to (s, "NUL character in a string");
  else if (code >= 0xd800 && code <= 0xdbff)
    {
      int low = unicode_escape (s, 6);

      if (low < 0xdc00 || low > 0xdfff)
        object_to (s, "half of a surrogate pair in a string");
      else
        s->at += 12;
    }
  else if (code >= 0xdc00 && code <= 0xdfff)
    object_to (s, "half of a surrogate pair in a string");
  else
    s->at += 6;
}

static void scan_string (struct scanner *s)
{
  size_t start = s->at++;

  while (s->problem == NULL && left (s) > 0)
    {
      char c = s->bytes[s->at];
      size_t step;

      if (c == '"')
        {
          s->at++;
          return;
        }
      step = oci_utf8_length (s->bytes + s->at, left (s));
      if (c == '\\')
        scan_escape (s);
      else if (c == '\0')
        object_to (s, "NUL byte");
      else if ((unsigned char)c < 0x20)
        object_to (s, "control character in a string");
      else if (step == 0)
        object_to (s, "invalid UTF-8");
      else
        s->at += step;
    }
  if (s->problem != NULL)
    return;
  s->at = start;
  object_to (s, "a string has no end");
}

/* Line numbers stay right because newlines stay.  */
static void blank (struct scanner *s, size_t start, size_t end)
{
  if (s->blanked == NULL)
    s->blanked = arena_strndup (s->arena, s->bytes, s->len);
  if (s->blanked == NULL)
    {
      s->error = -ENOMEM;
      return;
    }
  for (size_t i = start; i < end; i++)
    if (s->blanked[i] != '\n')
      s->blanked[i] = ' ';
}

/* Moves over a comment's text; what may not be in a document may not be in its comments either.  */
static void scan_comment (struct scanner *s)
{
  bool block = starts_with (s, "/*");
  size_t start = s->at;

  s->at += 2;
  while (left (s) > 0 && !(block ? starts_with (s, "*/") : s->bytes[s->at] == '\n'))
    {
      char c = s->bytes[s->at];
      size_t step = oci_utf8_length (s->bytes + s->at, left (s));

      if (c == '\0')
        object_to (s, "NUL byte");
      else if (step == 0)
        object_to (s, "invalid UTF-8");
      else if (oci_is_control (c) && c != '\t' && c != '\n' && c != '\r')
        object_to (s, "control character in a comment");
      if (s->problem != NULL)
        break;
      s->at += step;
    }
  if (block && left (s) == 0)
    {
      s->at = start;
      object_to (s, "a comment has no end");
      return;
    }
  if (block && s->problem == NULL)
    s->at += 2;
  blank (s, start, s->at);
}

static void scan_between (struct scanner *s)
{
  char c = s->bytes[s->at];

  if (c == '"')
    scan_string (s);
  else if (starts_with (s, "//") || starts_with (s, "/*"))
    {
      if ((s->flags & OCI_ALLOW_COMMENTS) != 0)
        scan_comment (s);
      else
        object_to (s, "comments are not allowed here");
    }
  else if (c == '/')
    object_to (s, "a slash stands outside of a string");
  else if (c == '\0')
    object_to (s, "NUL byte");
  else if (oci_is_control (c) && c != '\t' && c != '\n' && c != '\r')
    object_to (s, "control character between values");
  else if ((unsigned char)c >= 0x80)
    object_to (s, "a character that belongs in a string stands outside of one");
  else
    s->at++;
}

int oci_scan (const char *bytes, size_t len, unsigned flags, struct arena *arena,
              struct oci_scan *ret_scan)
{
  struct scanner s = { .bytes = bytes, .len = len, .flags = flags, .arena = arena };

  if (starts_with (&s, "\xef\xbb\xbf"))
    object_to (&s, "the document begins with a byte order mark");
  while (s.problem == NULL && s.error == 0 && left (&s) > 0)
    scan_between (&s);
  if (s.error != 0)
    return s.error;
  ret_scan->text = s.blanked != NULL ? s.blanked : bytes;
  ret_scan->limit = s.at;
  ret_scan->problem = s.problem;
  return 0;
}
