/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns for canonical paths, matched a component at a time, so that no pattern reaches over a
   slash by accident.  Pure code.  */
#include <string.h>

#include "policy/internal.h"

/* How far a pattern and a path went together.  */
enum match
{
  MATCH_NO,
  MATCH_WHOLE,       /* both ended */
  MATCH_PATH_LONGER, /* the pattern ended first: the path lies below */
  MATCH_PATH_SHORTER /* the path ended first: it lies above */
};

static const char *skip_slashes (const char *s) { return s + strspn (s, "/"); }

/* Whether the component S of LEN bytes matches P of PLEN, in which `*` stands for any bytes.  A
   component is never empty, so a lone `*` always has something to stand for.  The usual walk with
   one point of return: linear space, no recursion.  */
static bool component_matches (const char *p, size_t plen, const char *s, size_t len)
{
  size_t i = 0, j = 0, star = SIZE_MAX, back = 0;

  while (j < len)
    if (i < plen && p[i] == '*')
      {
        star = i++;
        back = j;
      }
    else if (i < plen && p[i] == s[j])
      {
        i++;
        j++;
      }
    else if (star != SIZE_MAX)
      {
        i = star + 1;
        j = ++back;
      }
    else
      return false;
  while (i < plen && p[i] == '*')
    i++;
  return i == plen;
}

static enum match match_path (const char *pattern, const char *path)
{
  pattern = skip_slashes (pattern);
  path = skip_slashes (path);
  while (*pattern != '\0' && *path != '\0')
    {
      size_t plen = strcspn (pattern, "/");
      size_t len = strcspn (path, "/");

      /* Any depth, but at least one component: PATH has one left here.  */
      if (plen == 2 && strncmp (pattern, "**", 2) == 0 && *skip_slashes (pattern + 2) == '\0')
        return MATCH_WHOLE;
      if (!component_matches (pattern, plen, path, len))
        return MATCH_NO;
      pattern = skip_slashes (pattern + plen);
      path = skip_slashes (path + len);
    }
  if (*path != '\0')
    return MATCH_PATH_LONGER;
  return *pattern == '\0' ? MATCH_WHOLE : MATCH_PATH_SHORTER;
}

bool path_glob_covers (const char *pattern, const char *path)
{
  enum match match = match_path (pattern, path);

  return match == MATCH_WHOLE || match == MATCH_PATH_LONGER;
}

bool path_glob_matches (const char *pattern, const char *path)
{
  return match_path (pattern, path) == MATCH_WHOLE;
}

bool path_glob_above (const char *pattern, const char *path)
{
  return match_path (pattern, path) == MATCH_PATH_SHORTER;
}
