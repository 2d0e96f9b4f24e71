/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes and numbers of a policy file: "2GiB", "0.5", 512.  Pure code.  */
#include <errno.h>
#include <string.h>

#include "policy/internal.h"

#define VALUE_MAX 32

/* ANY is a JSON string or number as text; its characters, without the quotes.  */
static int value_text (const char *any, char ret[VALUE_MAX])
{
  size_t len = any == NULL ? 0 : strlen (any);

  if (len >= 2 && any[0] == '"' && any[len - 1] == '"')
    {
      any++;
      len -= 2;
    }
  if (len == 0 || len >= VALUE_MAX || memchr (any, '\\', len) != NULL)
    return -EINVAL;
  memcpy (ret, any, len);
  ret[len] = '\0';
  return 0;
}

bool value_is_word (const char *any, const char *word)
{
  char text[VALUE_MAX];

  return value_text (any, text) == 0 && str_equal (text, word);
}

int value_count (const char *any, uint64_t *ret)
{
  char text[VALUE_MAX];

  if (value_text (any, text) < 0 || str_to_u64 (text, 1, INT64_MAX, ret) < 0)
    return -EINVAL;
  return 0;
}

int value_size (const char *any, uint64_t *ret)
{
  static const struct
  {
    const char *unit;
    uint64_t bytes;
  } units[] = { { "KiB", 1ULL << 10 }, { "MiB", 1ULL << 20 }, { "GiB", 1ULL << 30 } };
  char text[VALUE_MAX];
  uint64_t number, factor = 1;

  if (value_text (any, text) < 0)
    return -EINVAL;
  for (size_t i = 0; i < ARRAY_SIZE (units); i++)
    if (str_has_suffix (text, units[i].unit))
      {
        factor = units[i].bytes;
        text[strlen (text) - strlen (units[i].unit)] = '\0';
        break;
      }
  /* A limit below a page is a mistake in the unit.  */
  if (str_to_u64 (text, 1, INT64_MAX / factor, &number) < 0 || number * factor < 4096)
    return -EINVAL;
  *ret = number * factor;
  return 0;
}

int value_thousandths (const char *any, uint64_t *ret)
{
  char text[VALUE_MAX], fraction[4] = "000";
  uint64_t whole, part;
  char *dot;

  if (value_text (any, text) < 0)
    return -EINVAL;
  dot = strchr (text, '.');
  if (dot != NULL)
    {
      size_t digits = strlen (dot + 1);

      *dot = '\0';
      if (digits == 0 || digits > 3)
        return -EINVAL;
      memcpy (fraction, dot + 1, digits);
    }
  if (str_to_u64 (text, 0, 1000000, &whole) < 0 || str_to_u64 (fraction, 0, 999, &part) < 0
      || whole * 1000 + part < 10)
    return -EINVAL;
  *ret = whole * 1000 + part;
  return 0;
}
