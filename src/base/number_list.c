/* SPDX-License-Identifier: Apache-2.0 */
#include "base/number_list.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

#define WORD_BITS (sizeof (unsigned long) * CHAR_BIT)

/* Moves *AT behind the digits.  */
static int parse_number (const char **at, size_t max, size_t *ret)
{
  size_t n = 0;

  if (!isdigit ((unsigned char)**at))
    return -EINVAL;
  for (; isdigit ((unsigned char)**at); (*at)++)
    {
      n = n * 10 + (size_t)(**at - '0');
      if (n >= max)
        return -ERANGE;
    }
  *ret = n;
  return 0;
}

/* One number or one range.  */
static int parse_part (const char **at, unsigned long *bits, size_t len)
{
  size_t first, last;
  int r = parse_number (at, len * WORD_BITS, &first);

  if (r < 0)
    return r;
  last = first;
  if (**at == '-')
    {
      (*at)++;
      r = parse_number (at, len * WORD_BITS, &last);
      if (r < 0)
        return r;
    }
  if (last < first)
    return -EINVAL;
  for (size_t n = first; n <= last; n++)
    bits[n / WORD_BITS] |= 1UL << n % WORD_BITS;
  return 0;
}

int number_list_parse (const char *list, unsigned long *bits, size_t len)
{
  memset (bits, 0, len * sizeof *bits);
  for (;;)
    {
      int r = parse_part (&list, bits, len);

      if (r < 0)
        return r;
      if (*list == '\0')
        return 0;
      if (*list++ != ',')
        return -EINVAL;
    }
}
