/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of small numbers as the kernel writes them for CPUs and memory nodes: "0-3,7" (cpuset(7),
   "List format").  Pure code.  */
#pragma once

#include <stddef.h>

/* Sets the bit of each number of LIST in BITS, an array of LEN unsigned longs that is zeroed first.
   -EINVAL for what is no list (an empty string included) or has a range that runs backwards,
   -ERANGE for a number that BITS has no room for.  BITS is undefined on failure.  */
int number_list_parse (const char *list, unsigned long *bits, size_t len);
