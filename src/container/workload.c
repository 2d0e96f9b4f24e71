/* SPDX-License-Identifier: Apache-2.0 */
/* The workload's environment, program, terminal and identity.  Runs in init after the pivot, and in
   a process that exec puts beside it after it joined the namespaces; with all privileges over those
   until workload_become has given them up.  */
#include "container/workload.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "linux/caps.h"
#include "linux/label.h"
#include "linux/process.h"
#include "linux/procfs.h"
#include "linux/rlimit.h"
#include "linux/scheduling.h"
#include "linux/seccomp_cache.h"
#include "linux/seccomp_notify.h"
#include "linux/user.h"

int workload_leave_caller (int procfd, struct error *err)
{
  umask (0); /* modes of what set-up makes are meant as written */
  int r = signals_reset (procfd, err);
  if (r == 0)
    r = scheduling_reset (err);
  if (r < 0)
    return r;
  return setsid () < 0 ? error_errno (err, errno, "begin a session") : 0;
}

static int compare_descriptors (const void *a, const void *b)
{
  int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

int workload_close_descriptors (unsigned preserve, int *keep, size_t n, struct error *err)
{
  unsigned first = 3 + preserve;
  qsort (keep, n, sizeof *keep, compare_descriptors);
  for (size_t i = 0; i < n; i++)
    {
      if (keep[i] < 0 || (unsigned)keep[i] < first)
        continue;
      if ((unsigned)keep[i] > first && close_range (first, (unsigned)keep[i] - 1, 0) < 0)
        return error_errno (err, errno, "close the host's descriptors");
      first = (unsigned)keep[i] + 1;
    }
  return fd_close_from (first, err);
}

int workload_preserve_descriptors (unsigned count, struct error *err)
{
  for (unsigned fd = 3; fd < 3 + count; fd++)
    if (fcntl ((int)fd, F_SETFD, 0) < 0)
      return error_errno (err, errno, "preserve descriptor %u for the process", fd);
  return 0;
}

int workload_make_seccomp (const struct plan_seccomp *plan, struct seccomp_program *ret,
                           struct error *err)
{
  if (plan == NULL)
    return 0;
  const struct seccomp_request request = {
    .profile = plan->profile,
    .builtin = plan->builtin,
    .baseline = plan->baseline,
    .allowed = plan->allowed,
    .allowed_len = plan->allowed_len,
  };
  return seccomp_get (&request, ret, err);
}

/* ---- the environment ---- */

/* An image's passwd file is the attacker's: bounded, and never a FIFO or a device (CVE-2022-1708,
   CVE-2024-9676).  */
#define PASSWD_MAX (1024 * 1024)

static const char *get_env (char *const *env, size_t len, const char *name)
{
  size_t n = strlen (name);
  for (size_t i = 0; i < len; i++)
    if (strncmp (env[i], name, n) == 0 && env[i][n] == '=')
      return env[i] + n + 1;
  return NULL;
}

/* The home directory in a passwd(5) line "name:x:UID:gid:gecos:HOME:shell" of UID, or NULL.  */
static char *home_of_line (char *line, uid_t uid)
{
  char *fields[7];
  size_t n = 0;
  for (char *at = line; n < 7 && at != NULL; n++)
    fields[n] = strsep (&at, ":");
  uint64_t number;
  if (n < 6 || str_to_u64 (fields[2], 0, UINT32_MAX, &number) < 0 || number != uid)
    return NULL;
  return fields[5][0] == '/' ? fields[5] : NULL;
}

/* Files of these are "regular" and yet block, or do something when they are read: a link of the
   image may lead to /proc/kmsg.  */
static bool is_kernel_file (int fd)
{
  static const uint32_t magics[] = { PROC_SUPER_MAGIC,   SYSFS_MAGIC,
                                     CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC,
                                     DEBUGFS_MAGIC,      TRACEFS_MAGIC,
                                     SECURITYFS_MAGIC,   DEVPTS_SUPER_MAGIC,
                                     BPF_FS_MAGIC,       PSTOREFS_MAGIC,
                                     EFIVARFS_MAGIC,     0x65735543 /* FUSE control */ };
  struct statfs fs;
  if (fstatfs (fd, &fs) < 0)
    return true;
  for (size_t i = 0; i < ARRAY_SIZE (magics); i++)
    if ((uint32_t)fs.f_type == magics[i])
      return true;
  return false;
}

/* The image's /etc/passwd, allocated, or NULL: what is no regular file is never opened.  */
static char *read_passwd (const struct workload *w)
{
  struct stat st;
  char *text = NULL;
  size_t len;
  cleanup_close int found = path_open_in_root (w->rootfd, "/etc/passwd", O_PATH, NULL);
  cleanup_close int fd = -1;
  if (found < 0 || fstat (found, &st) < 0 || !S_ISREG (st.st_mode) || is_kernel_file (found)
      || procfs_reopen (w->procfd, found, O_RDONLY | O_NONBLOCK, &fd, NULL) < 0
      || fd_read_all (fd, PASSWD_MAX, "/etc/passwd", &text, &len, NULL) < 0)
    return NULL;
  return text;
}

/* "HOME=" and the directory of the workload's user; "/" where the image doesn't say.  */
static char *make_home (const struct workload *w)
{
  cleanup_free char *text = read_passwd (w);
  char *home = NULL, *entry, *at = text, *line;
  while (home == NULL && (line = strsep (&at, "\n")) != NULL)
    home = home_of_line (line, w->process->uid);
  return asprintf (&entry, "HOME=%s", home ? home : "/") < 0 ? NULL : entry;
}

int workload_make_environment (struct workload *w, struct error *err)
{
  const struct plan_process *p = w->process;
  char **env = calloc (p->env_len + 4, sizeof *env);
  size_t n = 0;
  if (env == NULL)
    return error_set (err, -ENOMEM, "out of memory for the environment");
  for (size_t i = 0; i < p->env_len; i++)
    env[n++] = p->env[i];
  if (get_env (p->env, p->env_len, "HOME") == NULL && (env[n] = make_home (w)) != NULL)
    n++;
  /* sd_listen_fds(3): the workload is pid 1 of its namespace, or must not believe it is meant.  */
  if (w->listen_fds > 0 && asprintf (&env[n], "LISTEN_FDS=%u", w->listen_fds) >= 0
      && asprintf (&env[n + 1], "LISTEN_PID=%d", getpid ()) >= 0)
    n += 2;
  w->env = env;
  return 0;
}

/* ---- the terminal ---- */

int workload_make_terminal (const struct workload *w, struct terminal *ret, struct error *err)
{
  const struct plan_process *p = w->process;
  /* No link at any place: the image's could lead to the host's devpts.  */
  cleanup_close int pts = path_openat2 (w->rootfd, "dev/pts", O_PATH | O_DIRECTORY, 0,
                                        RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);
  cleanup_terminal struct terminal made = TERMINAL_INIT;
  if (pts < 0)
    return error_errno (err, -pts, "open the container's /dev/pts for its terminal");
  int r = terminal_new (pts, &made, err);
  if (r == 0)
    r = terminal_set_size (made.master, p->height, p->width, err);
  if (r == 0)
    r = terminal_set_owner (made.slave, p->uid, err);
  if (r < 0)
    return r;
  *ret = made;
  made.master = made.slave = -1;
  return 0;
}

/* ---- the program ---- */

/* Judges with the real ids, as access(2) does: the workload's, which are set around this.  */
static int try_executable (const char *path)
{
  struct stat st;
  if (stat (path, &st) < 0)
    return -errno;
  if (!S_ISREG (st.st_mode))
    return -EACCES;
  return access (path, X_OK) < 0 ? -errno : 0;
}

/* execvp(3)'s search: the first that can be executed; one that can't is remembered.  */
static int search_path (const char *name, const char *path, char **ret)
{
  int result = -ENOENT;
  while (path != NULL)
    {
      const char *end = strchrnul (path, ':');
      cleanup_free char *candidate = NULL;
      int n = (int)(end - path);
      if (asprintf (&candidate, "%.*s%s%s", n, path, n > 0 ? "/" : "./", name) < 0)
        return -ENOMEM;
      int r = try_executable (candidate);
      if (r == 0)
        {
          *ret = steal_ptr (&candidate);
          return 0;
        }
      if (r == -EACCES)
        result = r;
      path = *end == ':' ? end + 1 : NULL;
    }
  return result;
}

/* The words are an interface: engines make exit code 126 or 127 of them (cli.md).  */
static int cant_execute (const char *name, int r, struct error *err)
{
  char quoted[STR_QUOTE_MAX];
  str_quote (name, quoted);
  if (r == -ENOENT && strchr (name, '/') == NULL)
    return error_set (err, r, "exec: \"%s\": executable file not found in $PATH", quoted);
  if (r == -ENOENT || r == -ENOTDIR)
    return error_set (err, -ENOENT, "exec: \"%s\": stat %s: no such file or directory", quoted,
                      quoted);
  if (r == -EACCES || r == -EPERM)
    return error_set (err, -EACCES, "exec: \"%s\": permission denied", quoted);
  return error_errno (err, -r, "exec: \"%s\"", quoted);
}

/* First with root's rights, and again with the workload's: either may be the one that may enter.
   Always after the pivot, and verified (CVE-2024-21626).  */
static int enter_cwd (const struct workload *w, bool last_try, struct error *err)
{
  int r = process_chdir (w->process->cwd, err);
  return r == -EACCES && !last_try ? 0 : r;
}

/* Create fails, not start, when the program is missing or not the user's to execute.  Only the real
   ids are the workload's during the search: that is what access(2) looks at, and the effective ones
   are still needed.  */
int workload_find_executable (struct workload *w, struct error *err)
{
  const struct plan_process *p = w->process;
  const char *name = p->args[0];
  int r;
  r = enter_cwd (w, false, err);
  if (r < 0)
    return r;
  r = user_set_groups (p->groups, p->groups_len, w->procfd, err);
  if (r < 0)
    return r;
  if (setresgid (p->gid, (gid_t)-1, (gid_t)-1) < 0 || setresuid (p->uid, (uid_t)-1, (uid_t)-1) < 0)
    return error_errno (err, errno, "look for the program with the rights of uid %u gid %u", p->uid,
                        p->gid);
  if (strchr (name, '/') != NULL)
    {
      r = try_executable (name);
      w->executable = r == 0 ? strdup (name) : NULL;
    }
  else
    r = search_path (name, get_env (w->env, p->env_len, "PATH"), &w->executable);
  if (setresuid (geteuid (), (uid_t)-1, (uid_t)-1) < 0
      || setresgid (getegid (), (gid_t)-1, (gid_t)-1) < 0)
    return error_errno (err, errno, "return from looking for the program");
  return r < 0 ? cant_execute (name, r, err) : 0;
}

/* ---- the identity ---- */

static int set_labels (const struct workload *w, struct error *err)
{
  const struct plan_process *p = w->process;
  int r = 0;
  if (p->apparmor_profile != NULL && p->apparmor_profile[0] != '\0')
    r = lsm_set_exec_label (w->procfd, "apparmor", p->apparmor_profile, err);
  if (r == 0 && p->selinux_label != NULL && p->selinux_label[0] != '\0')
    r = lsm_set_exec_label (w->procfd, "selinux", p->selinux_label, err);
  return r;
}

static int set_rlimits (const struct workload *w, struct error *err)
{
  const struct plan_process *p = w->process;
  for (size_t i = 0; i < p->rlimits_len; i++)
    {
      const struct plan_rlimit *l = &p->rlimits[i];
      int r = rlimit_set (l->name, l->resource, l->soft, l->hard, err);
      if (r < 0)
        return r;
    }
  return 0;
}

/* The null device that a caller gives as a standard stream is the host's own node: root of the
   container could change its mode and owner for everybody.  The container's /dev/null takes its
   place, opened without following a link and used only if it is that device (CVE-2026-88265); a
   container that has none keeps the stream.  */
static int own_null_device (struct error *err)
{
  for (int fd = 0; fd <= 2; fd++)
    {
      struct stat st, own;
      int mode = fcntl (fd, F_GETFL);
      if (mode < 0 || fstat (fd, &st) < 0 || !S_ISCHR (st.st_mode) || st.st_rdev != makedev (1, 3))
        continue;
      cleanup_close int null =
          path_openat2 (AT_FDCWD, "/dev/null", (uint64_t)(mode & O_ACCMODE) | O_NOCTTY | O_NONBLOCK,
                        0, RESOLVE_NO_SYMLINKS);
      if (null < 0 || fstat (null, &own) < 0 || !S_ISCHR (own.st_mode) || own.st_rdev != st.st_rdev)
        continue;
      if (dup2 (null, fd) < 0 || fcntl (fd, F_SETFL, mode & ~O_NONBLOCK) < 0)
        return error_errno (err, errno, "replace the host's null device");
    }
  return 0;
}

/* A pipe that the engine made belongs to root; without this the workload can't open /dev/stdout.
   Only pipes: anything else has an owner outside who did not ask for a new one (CVE-2026-88265). */
static void own_standard_pipes (const struct workload *w)
{
  struct stat st;
  for (int fd = 0; fd <= 2; fd++)
    if (fstat (fd, &st) == 0 && S_ISFIFO (st.st_mode)
        && fchown (fd, w->process->uid, w->process->gid) < 0)
      continue; /* then it can't be opened again by name; reading and writing go on */
}

static struct cap_sets wanted_capabilities (const struct workload *w)
{
  const struct plan_capabilities *c = w->process->capabilities;
  struct cap_sets sets = { c->bounding, c->effective, c->permitted, c->inheritable, c->ambient };
  caps_limit (w->procfd, &sets); /* the specification: what can't be given is left out */
  return sets;
}

/* Without no_new_privs the kernel takes a filter only from CAP_SYS_ADMIN, which then stays until
   execve: that makes the permitted and effective sets anew, from the bounding, inheritable and
   ambient ones, which never have it.  So the filter is always the last thing before execve and need
   allow nothing that is done here.  */
static void keep_right_to_filter (const struct workload *w, struct cap_sets *sets)
{
  const uint64_t right = UINT64_C (1) << CAP_SYS_ADMIN;
  if (w->process->no_new_privileges || w->seccomp->len == 0)
    return;
  sets->permitted |= right;
  sets->effective |= right;
}

static int change_identity (struct workload *w, struct error *err)
{
  const struct plan_process *p = w->process;
  struct cap_sets sets = wanted_capabilities (w);
  keep_right_to_filter (w, &sets);
  int r = p->no_new_privileges ? process_set_no_new_privs (err) : 0;
  if (r == 0)
    r = caps_before_user_change (&sets, err);
  if (r == 0)
    r = user_set (p->uid, p->gid, p->groups, p->groups_len, p->umask, w->procfd, err);
  /* A change of user makes the process as dumpable as fs.suid_dumpable says.  */
  if (r == 0)
    r = process_set_undumpable (err);
  return r < 0 ? r : caps_after (w->procfd, &sets, err);
}

int workload_confine (const struct workload *w, struct error *err)
{
  const uint64_t bounding = w->process->capabilities->bounding;
  struct cap_sets sets = { .bounding = bounding, .effective = bounding, .permitted = bounding };
  caps_limit (w->procfd, &sets);
  keep_right_to_filter (w, &sets);
  int r = w->process->no_new_privileges ? process_set_no_new_privs (err) : 0;
  if (r == 0)
    r = caps_before_user_change (&sets, err);
  if (r == 0)
    r = caps_after (w->procfd, &sets, err);
  if (r == 0 && w->seccomp->len > 0)
    r = seccomp_program_load (w->seccomp, err);
  return r;
}

int workload_become (struct workload *w, struct error *err)
{
  int r = set_labels (w, err);
  if (r == 0)
    r = enter_cwd (w, false, err);
  own_standard_pipes (w);
  if (r == 0)
    r = own_null_device (err);
  if (r == 0)
    r = set_rlimits (w, err);
  if (r == 0)
    r = change_identity (w, err);
  if (r == 0)
    r = enter_cwd (w, true, err);
  if (r == 0)
    r = fd_cloexec_from (3 + w->preserve_fds, err);
  if (r == 0 && w->seccomp->len > 0)
    r = w->seccomp_agent >= 0
            ? seccomp_program_load_notify (w->seccomp, w->seccomp_agent, w->agent_message, err)
            : seccomp_program_load (w->seccomp, err);
  if (r < 0)
    return r;
  execve (w->executable, w->process->args, w->env);
  return cant_execute (w->process->args[0], -errno, err);
}
