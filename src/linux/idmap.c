/* SPDX-License-Identifier: Apache-2.0 */
/* Runs in the parent.  The kernel takes a map only as a user namespace, so one is made for the
   moment, held by a child that does nothing.  */
#include "linux/idmap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"

static pid_t hold_namespace (void)
{
  pid_t pid = (pid_t)syscall (SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL);
  if (pid != 0)
    return pid;
  prctl (PR_SET_PDEATHSIG, SIGKILL);
  for (;;)
    pause ();
}

static void end_holder (pid_t pid)
{
  kill (pid, SIGKILL);
  while (waitpid (pid, NULL, 0) < 0 && errno == EINTR)
    ;
}

static int make_namespace (const struct userns_maps *maps, int procfd, int *ret_fd,
                           struct error *err)
{
  char path[48];
  pid_t pid = hold_namespace ();
  if (pid < 0)
    return error_errno (err, errno, "make a user namespace");
  int r = userns_write_maps (procfd, pid, maps, err);
  if (r == 0)
    {
      snprintf (path, sizeof path, "%d/ns/user", (int)pid);
      int fd = openat (procfd, path, O_RDONLY | O_CLOEXEC);
      if (fd < 0)
        r = error_errno (err, errno, "open a user namespace");
      else
        *ret_fd = fd;
    }
  end_holder (pid);
  return r;
}

int mount_idmap (int tree, bool recursive, const struct userns_maps *maps, int procfd,
                 const char *what, struct error *err)
{
  cleanup_close int namespace = -1;
  int r = make_namespace (maps, procfd, &namespace, err);
  if (r < 0)
    return error_context (err, "id-mapped mount on %.256s", what);
  struct mount_attr attributes = { .attr_set = MOUNT_ATTR_IDMAP,
                                   .userns_fd = (uint64_t) namespace };
  if (mount_setattr (tree, "", AT_EMPTY_PATH | (recursive ? AT_RECURSIVE : 0), &attributes,
                     sizeof (attributes))
      < 0)
    return error_errno (err, errno, "id-mapped mount on %.256s%s", what,
                        errno == EINVAL  ? ": its file system can't be mapped"
                        : errno == EPERM ? ": the caller has no rights over its file system, or it "
                                           "is mapped already"
                                         : "");
  return 0;
}
