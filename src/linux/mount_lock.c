/* SPDX-License-Identifier: Apache-2.0 */
/* Owns the locking of a container's mounts.  Runs in init, when all mounts are made.  */

#include "linux/mount_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"

#define STACK_SIZE (64 * 1024)

struct copy
{
  int procfd;
  int namespace; /* result: descriptor or negative errno */
};

/* In the child, which shares memory and descriptors with the caller and has it wait: nobody can
   trace it, nor look into /proc of it, so it names its namespace itself.  */
static int open_own_namespace (void *data)
{
  struct copy *copy = data;
  copy->namespace = openat (copy->procfd, "self/ns/mnt", O_RDONLY | O_CLOEXEC);
  if (copy->namespace < 0)
    copy->namespace = -errno;
  _exit (0);
}

static int copy_namespace (int procfd, struct error *err)
{
  cleanup_free char *stack = malloc (STACK_SIZE);
  struct copy copy = { procfd, -ECHILD };
  const int flags = CLONE_VM | CLONE_VFORK | CLONE_FILES | CLONE_NEWUSER | CLONE_NEWNS | SIGCHLD;
  if (stack == NULL)
    return error_set (err, -ENOMEM, "out of memory for the copy of the mount namespace");
  pid_t pid = clone (open_own_namespace, stack + STACK_SIZE, flags, &copy);
  if (pid < 0)
    return error_errno (err, errno, "copy the mount namespace, to lock what is mounted");
  while (waitpid (pid, NULL, 0) < 0 && errno == EINTR)
    ;
  if (copy.namespace < 0)
    return error_errno (err, -copy.namespace, "open the copy of the mount namespace");
  return copy.namespace;
}

int mounts_lock (int procfd, struct error *err)
{
  cleanup_close int namespace = copy_namespace (procfd, err);
  if (namespace < 0)
    return namespace;
  if (setns (namespace, CLONE_NEWNS) < 0)
    return error_errno (err, errno, "enter the copy of the mount namespace");
  return 0;
}
