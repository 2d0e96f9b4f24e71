/* SPDX-License-Identifier: Apache-2.0 */
/* Fills a new tmpfs with what the image has at that place (mount option tmpcopyup).  */
#pragma once

#include "base/error.h"

/* Copies everything below SOURCE_DIRFD into TARGET_DIRFD, and mode, owner and times of the top
   directory: files, directories, links (as links), nodes; modes, owners, times, extended attributes
   as far as both file systems have them.  Never leaves the source's mount, follows no link.  Hard
   links become separate files.  Deeper than 64 levels is -ELOOP.  What was made stays on
   failure: it lies in a tmpfs that the caller drops.  Both are open for reading, not O_PATH.  */
int mount_copy_up (int source_dirfd, int target_dirfd, struct error *err);
