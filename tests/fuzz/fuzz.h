/* SPDX-License-Identifier: Apache-2.0 */
/* What the fuzz targets share.  */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

/* What must hold for every input; WHAT says it.  */
static inline void require (bool condition, const char *what)
{
  if (condition)
    return;
  fprintf (stderr, "not so: %s\n", what);
  abort ();
}
