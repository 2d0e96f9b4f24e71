/* SPDX-License-Identifier: Apache-2.0 */
/* The out-of-line half of the cleanup types.  Runs in every process, needs no privilege.  All of it
   keeps errno: a clean-up runs between the failing call and whoever words the failure.  */
#include "base/cleanup.h"

#include <errno.h>

void cleanup_closep (int *fd)
{
  int saved = errno;

  /* Never again after EINTR: Linux has freed the number, which another thread may have by now.  */
  if (*fd >= 0)
    close (*fd);
  *fd = -1;
  errno = saved;
}

void cleanup_filep (FILE **file)
{
  int saved = errno;

  if (*file != NULL)
    fclose (*file);
  *file = NULL;
  errno = saved;
}

void cleanup_dirp (DIR **dir)
{
  int saved = errno;

  if (*dir != NULL)
    closedir (*dir);
  *dir = NULL;
  errno = saved;
}
