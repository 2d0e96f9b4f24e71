/* SPDX-License-Identifier: Apache-2.0 */
/* The executable of this process is not the file on disk (CVE-2019-5736, invariant I5).  */
#pragma once

#include <stdbool.h>

#include "base/error.h"

/* First thing in main of a command that enters or makes a container, before threads and open files.
   Returns 0 if this process already runs from a copy that can't be written; else makes one and
   executes it with ARGV and the same environment, and does not return.  Negative errno if neither
   way works: then nothing may be started.  */
int binary_protect (char *const *argv, struct error *err);

/* Whether this process runs from such a copy.  Judged from the open executable, not from the
   environment, which others can set.  */
bool binary_is_protected (void);
