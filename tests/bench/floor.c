/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The floor: the least a Linux process can do to run one program in a container-like place, with no
 * parsing, no state, no policy, no synchronisation. It gives the physical limit that a runtime's
 * `run` is compared with, on the same machine and in the same minute.
 *
 *   cc -O2 -static floor.c -o floor && ./floor ROOTFS
 *
 * It makes the five usual namespaces, the usual mounts and device nodes, one cgroup in every
 * mounted hierarchy, pivots, and executes ROOTFS/bin/true. Run as root.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char stack[1 << 16];
static char root[512];

static const char *at (const char *rel)
{
  static char buffer[1024];
  snprintf (buffer, sizeof buffer, "%s%s", root, rel);
  return buffer;
}

static int child (void *arg)
{
  static const char *const nodes[] = { "null", "zero", "full", "tty", "random", "urandom", NULL };
  (void)arg;
  mount ("", "/", NULL, MS_REC | MS_PRIVATE, NULL);
  mount (root, root, NULL, MS_BIND | MS_REC, NULL);
  mount ("proc", at ("/proc"), "proc", 0, NULL);
  mount ("tmpfs", at ("/dev"), "tmpfs", MS_NOSUID, "mode=755,size=65536k");
  mkdir (at ("/dev/pts"), 0755);
  mkdir (at ("/dev/shm"), 0755);
  mkdir (at ("/dev/mqueue"), 0755);
  mount ("devpts", at ("/dev/pts"), "devpts", 0, "newinstance,ptmxmode=0666,mode=0620");
  mount ("shm", at ("/dev/shm"), "tmpfs", 0, "mode=1777,size=65536k");
  mount ("mqueue", at ("/dev/mqueue"), "mqueue", 0, NULL);
  mount ("sysfs", at ("/sys"), "sysfs", MS_RDONLY, NULL);
  for (int i = 0; nodes[i]; i++)
    {
      char source[64], rel[64];
      snprintf (source, sizeof source, "/dev/%s", nodes[i]);
      snprintf (rel, sizeof rel, "/dev/%s", nodes[i]);
      close (open (at (rel), O_CREAT | O_WRONLY | O_CLOEXEC, 0666));
      mount (source, at (rel), NULL, MS_BIND, NULL);
    }
  sethostname ("floor", 5);
  if (chdir (root) < 0 || syscall (SYS_pivot_root, ".", ".") < 0)
    _exit (126);
  umount2 (".", MNT_DETACH);
  if (chdir ("/") < 0)
    _exit (126);
  execl ("/bin/true", "true", NULL);
  _exit (127);
}

int main (int argc, char **argv)
{
  static const char *const hierarchies[] = { "",         "/cpu",     "/memory", "/pids",
                                             "/devices", "/freezer", "/blkio",  "/cpuset",
                                             "/cpuacct", "/unified", NULL };
  char path[256];
  int status = 1;
  if (argc != 2)
    {
      fprintf (stderr, "usage: floor ROOTFS\n");
      return 2;
    }
  snprintf (root, sizeof root, "%s", argv[1]);
  for (int i = 0; hierarchies[i]; i++)
    {
      snprintf (path, sizeof path, "/sys/fs/cgroup%s/cgroup.procs", hierarchies[i]);
      if (access (path, W_OK) == 0)
        {
          snprintf (path, sizeof path, "/sys/fs/cgroup%s/floor", hierarchies[i]);
          mkdir (path, 0755);
        }
    }
  pid_t pid = clone (
      child, stack + sizeof stack,
      CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNET | SIGCHLD, NULL);
  if (pid > 0)
    waitpid (pid, &status, 0);
  for (int i = 0; hierarchies[i]; i++)
    {
      snprintf (path, sizeof path, "/sys/fs/cgroup%s/floor", hierarchies[i]);
      rmdir (path);
    }
  return WIFEXITED (status) ? WEXITSTATUS (status) : 128;
}
