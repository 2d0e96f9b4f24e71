/* SPDX-License-Identifier: Apache-2.0 */
/* Ownership made visible at the declaration: what is declared with one of these is released when
   its scope ends, on every path.  steal_fd and steal_ptr move ownership out.  */
#pragma once

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void cleanup_freep (void *p) { free (*(void **)p); }

/* Closes and keeps errno: a clean-up must not change the error that is on its way out.  */
void cleanup_closep (int *fd);
void cleanup_filep (FILE **file);
void cleanup_dirp (DIR **dir);

#define cleanup_free  __attribute__ ((cleanup (cleanup_freep)))
#define cleanup_close __attribute__ ((cleanup (cleanup_closep)))
#define cleanup_file  __attribute__ ((cleanup (cleanup_filep)))
#define cleanup_dir   __attribute__ ((cleanup (cleanup_dirp)))

static inline int steal_fd (int *fd)
{
  int taken = *fd;
  *fd = -1;
  return taken;
}

#define steal_ptr(p)                                                                               \
  ({                                                                                               \
    __typeof__ (*(p)) *_p = (p);                                                                   \
    __typeof__ (*(p)) _taken = *_p;                                                                \
    *_p = NULL;                                                                                    \
    _taken;                                                                                        \
  })
