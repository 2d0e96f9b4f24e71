/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors: whole reads and writes, messages with descriptors, what must not leak.  */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

/* Reads until end of file.  *RET is allocated (caller frees), NUL-terminated behind *RET_LEN bytes.
   More than MAX bytes is -EFBIG.  NAME words the error (quoted by the caller, if it is input);
   RET_LEN may be NULL.  */
int fd_read_all (int fd, size_t max, const char *name, char **ret, size_t *ret_len,
                 struct error *err);
/* The same for a file of the kernel that one function of it prints (a setting, a state, no table of
   unknown lines): what is short comes in one read, and the end of file isn't asked for.  */
int fd_read_knob (int fd, size_t max, const char *name, char **ret, size_t *ret_len,
                  struct error *err);

/* Writes all of it, through EINTR and short writes.  */
int fd_write_all (int fd, const void *data, size_t len, struct error *err);

/* Makes sure that 0, 1 and 2 are open (on /dev/null), so that no descriptor of ours becomes a
   standard stream of the container.  Call first in main.  */
int fd_open_missing_stdio (struct error *err);

/* Sends FD with the bytes DATA (LEN >= 1) over a Unix socket, unix(7) SCM_RIGHTS.  */
int fd_send (int sock, int fd, const void *data, size_t len, struct error *err);

/* pidfd_open(2), close-on-exec as always.  Returns the descriptor or a negative errno; no message.
 */
int fd_pidfd_open (pid_t pid);

/* Marks all descriptors from FIRST up close-on-exec, close_range(2).  There is no fallback for
   kernels before 5.11: -ENOSYS or -EINVAL.  */
int fd_cloexec_from (unsigned first, struct error *err);
/* Closes all from FIRST up, close_range(2), Linux 5.9.  */
int fd_close_from (unsigned first, struct error *err);

/* How many descriptors without a gap are open from FIRST up.  At the start of main: what the caller
   passed on.  */
unsigned fd_count_open (unsigned first);

/* Closes N descriptors, one call for those with consecutive numbers; they become -1, and -1 is
   allowed.  */
void fd_close_many (int *fds, size_t n);

/* Between the two, descriptors declared with cleanup_close_later are closed by the dozen: they get
   consecutive numbers and take one call.  Elsewhere they are closed at once.  No clone in between.
 */
void fd_batch_begin (void);
void fd_batch_end (void);
void cleanup_close_laterp (int *fd);
#define cleanup_close_later __attribute__ ((cleanup (cleanup_close_laterp)))
