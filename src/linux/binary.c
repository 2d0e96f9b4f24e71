/* SPDX-License-Identifier: Apache-2.0 */
/* Owns: the copy that the program runs from.  Runs first of all in the parent.  The mount needs
   CAP_SYS_ADMIN, the memory file nothing.

   A process of the container that gets hold of /proc/PID/exe of ours holds the host's file, and
   once we have ended can write to it.  So we run from something that can't be written:
   - a detached read-only mount of the file: no copy.  Nobody can make it writable again: as its
     last descriptor is closed by execve(2), it belongs to no mount namespace, and mount_setattr(2)
   and open_tree(2) refuse it.
   - else a memory file with all seals.  */

#include "linux/binary.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "linux/mounts.h"

#ifndef MFD_EXEC
#  define MFD_EXEC 0x0010U
#endif

#define SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)
#define SELF  "/proc/self/exe"

static bool is_sealed (void)
{
  cleanup_close int fd = open (SELF, O_RDONLY | O_CLOEXEC);
  int seals = fd < 0 ? -1 : fcntl (fd, F_GET_SEALS);
  return seals >= 0 && (seals & SEALS) == SEALS;
}

static bool is_readonly (void)
{
  struct statvfs fs;
  cleanup_close int fd = open (SELF, O_PATH | O_CLOEXEC);
  return fd >= 0 && fstatvfs (fd, &fs) == 0 && (fs.f_flag & ST_RDONLY);
}

/* A mount of a single file that is attached nowhere has the path "/", which no executable in any
   namespace can have.  Only a file in memory has seals, and its path says what it is.  */
bool binary_is_protected (void)
{
  static const char in_memory[] = "/memfd:";
  char path[sizeof in_memory];
  ssize_t n = readlink (SELF, path, sizeof path);
  if (n == 1 && path[0] == '/')
    return is_readonly ();
  return n == sizeof path && memcmp (path, in_memory, sizeof in_memory - 1) == 0 && is_sealed ();
}

/* execveat(2) of a descriptor sets this name.  It proves nothing, but if we have been here before
   and the mount was not recognised, trying it once more would not end.  */
static bool executed_by_descriptor (void)
{
  const char *name = (const char *)getauxval (AT_EXECFN); /* NOLINT: that is its type */
  return name != NULL && str_has_prefix (name, "/dev/fd/");
}

static int execute (int fd, char *const *argv, const char *what, struct error *err)
{
  syscall (SYS_execveat, fd, "", argv, environ, AT_EMPTY_PATH);
  return error_errno (err, errno, "execute %s", what);
}

static int execute_mount (int self, char *const *argv, struct error *err)
{
  cleanup_close int tree = -1;
  int r = mount_clone (self, "", false, &tree, err);
  if (r == 0)
    r = mount_set (tree, false, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, 0,
                   MS_PRIVATE, "this program", err);
  return r < 0 ? r : execute (tree, argv, "a read-only mount of this program", err);
}

static int copy_all (int from, int to, struct error *err)
{
  struct stat st;
  if (fstat (from, &st) < 0)
    return error_errno (err, errno, "look at this program");
  while (st.st_size > 0)
    {
      ssize_t n = sendfile (to, from, NULL, (size_t)st.st_size);
      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        return error_errno (err, n < 0 ? errno : EIO, "copy this program to memory");
      st.st_size -= n;
    }
  return 0;
}

static int execute_memory (int self, char *const *argv, struct error *err)
{
  const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  cleanup_close int memory = memfd_create ("agentrun", flags | MFD_EXEC);
  if (memory < 0 && errno == EINVAL) /* before Linux 6.3 */
    memory = memfd_create ("agentrun", flags);
  if (memory < 0)
    return error_errno (err, errno, "make an executable memory file (see sysctl vm.memfd_noexec)");
  int r = copy_all (self, memory, err);
  if (r < 0)
    return r;
  if (fcntl (memory, F_ADD_SEALS, SEALS) < 0)
    return error_errno (err, errno, "seal the copy of this program");
  return execute (memory, argv, "a sealed copy of this program", err);
}

int binary_protect (char *const *argv, struct error *err)
{
  if (binary_is_protected ())
    {
      /* execveat has named the process after the number of a descriptor.  */
      prctl (PR_SET_NAME, "agentrun", 0L, 0L, 0L);
      return 0;
    }

  cleanup_close int self = open (SELF, O_RDONLY | O_CLOEXEC);
  if (self < 0)
    return error_errno (err, errno, "open /proc/self/exe");
  struct error first = { .code = 0, .message = "a read-only mount of this program is not kept" };
  if (!executed_by_descriptor ())
    execute_mount (self, argv, &first);
  int r = execute_memory (self, argv, err);
  error_context (err, "protect the program from the container: %s", first.message);
  return r;
}
