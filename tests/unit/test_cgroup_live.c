/* SPDX-License-Identifier: Apache-2.0 */
/* src/cgroup against the kernel: makes groups named agentrun-test-PID, puts children of its own
   into them, and removes both.  Needs root and a writable hierarchy; says so when it skips.  */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "base/str.h"
#include "cgroup/internal.h"

#define CHILDREN 3

static struct error err;

/* Each test has a group of its own, with a parent that it makes too.  */
struct fixture
{
  char parent[64];
  char path[96];
  struct cgroup *cg;
};

static void ok (int r)
{
  if (r < 0)
    fail_msg ("%s", err.message);
}

static bool can_run (void)
{
  cleanup_hierarchies struct hierarchies h = { 0 };

  if (geteuid () != 0)
    {
      print_message ("not root\n");
      return false;
    }
  if (hierarchies_find (&h, &err) < 0 || faccessat (h.list[0].fd, ".", W_OK, 0) < 0)
    {
      print_message ("no writable cgroup hierarchy\n");
      return false;
    }
  return true;
}

static int setup (void **state)
{
  static unsigned number;
  struct fixture *f = calloc (1, sizeof (*f));

  snprintf (f->parent, sizeof (f->parent), "/agentrun-test-%d-%u", (int)getpid (), number++);
  snprintf (f->path, sizeof (f->path), "%s/c1", f->parent);
  *state = f;
  if (can_run ())
    ok (cgroup_create (f->path, NULL, &f->cg, &err));
  return 0;
}

static int teardown (void **state)
{
  struct fixture *f = *state;

  if (f->cg != NULL)
    {
      ok (cgroup_remove (f->cg, &err));
      cgroup_close (f->cg);
    }
  free (f);
  return 0;
}

#define FIXTURE(f)                                                                                 \
  struct fixture *f = *state;                                                                      \
  if (f->cg == NULL)                                                                               \
  skip ()

/* A child that sleeps in the group.  The parent's death ends it.  */
static pid_t sleeper (const struct cgroup *cg)
{
  pid_t pid = fork ();

  assert_true (pid >= 0);
  if (pid == 0)
    {
      prctl (PR_SET_PDEATHSIG, SIGKILL);
      /* Whoever starts the tests may ignore it, as nohup does.  */
      signal (SIGHUP, SIG_DFL);
      for (;;)
        pause ();
    }
  ok (cgroup_attach (cg, pid, &err));
  return pid;
}

static int reap (pid_t pid)
{
  int status = 0;

  assert_int_equal (waitpid (pid, &status, 0), pid);
  return status;
}

static char *read_knob (const struct cgroup_dir *dir, const char *file)
{
  char *text = NULL;

  assert_non_null (dir);
  ok (path_read_file (dir->fd, file, 65536, &text, NULL, &err));
  text[strcspn (text, "\n")] = '\0';
  return text;
}

static void assert_knob (const struct cgroup *cg, const char *controller, const char *file,
                         const char *value)
{
  cleanup_free char *text = read_knob (group_find_v1 (cg, controller), file);

  assert_string_equal (text, value);
}

static bool group_exists (const char *mountpoint, const char *path)
{
  char full[256];

  snprintf (full, sizeof (full), "%s%s", mountpoint, path);
  return access (full, F_OK) == 0;
}

/* Whether PATH exists in any hierarchy of the host.  */
static bool exists_anywhere (const char *path)
{
  cleanup_hierarchies struct hierarchies h = { 0 };

  ok (hierarchies_find (&h, &err));
  for (size_t i = 0; i < h.len; i++)
    if (group_exists (h.list[i].mountpoint, path))
      return true;
  return false;
}

static void test_create_everywhere_and_remove (void **state)
{
  FIXTURE (f);
  cleanup_hierarchies struct hierarchies h = { 0 };
  const struct cgroup_dir *dirs;

  ok (hierarchies_find (&h, &err));
  assert_int_equal (cgroup_dirs (f->cg, &dirs), h.len);
  assert_int_equal (cgroup_mode (f->cg), h.mode);
  for (size_t i = 0; i < h.len; i++)
    {
      assert_true (group_exists (h.list[i].mountpoint, f->path));
      assert_true (dirs[i].made);
      assert_int_equal (fcntl (dirs[i].fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    }
  ok (cgroup_remove (f->cg, &err));
  assert_false (exists_anywhere (f->path));
  assert_false (exists_anywhere (f->parent));
  /* Again is success: vanished is removed.  */
  ok (cgroup_remove (f->cg, &err));
}

static void test_enters_by_itself (void **state)
{
  FIXTURE (f);
  const struct cgroup_dir *dirs;
  int status;

  ok (cgroup_open_doors (f->cg, &err));
  pid_t pid = fork ();
  if (pid == 0)
    _exit (cgroup_enter_v1 (f->cg, &err) < 0 || raise (SIGSTOP) != 0);
  cgroup_close_doors (f->cg);
  assert_int_equal (waitpid (pid, &status, WUNTRACED), pid);
  assert_true (WIFSTOPPED (status));
  for (size_t i = cgroup_dirs (f->cg, &dirs); i-- > 0;)
    {
      cleanup_free char *text = read_knob (&dirs[i], "cgroup.procs");
      assert_int_equal (atoi (text), dirs[i].controllers[0] != '\0' ? pid : 0);
    }
  kill (pid, SIGKILL);
  reap (pid);
}

static void test_refuses_group_with_processes (void **state)
{
  FIXTURE (f);
  struct cgroup *second = NULL;
  pid_t pid = sleeper (f->cg);

  assert_int_equal (cgroup_create (f->path, NULL, &second, &err), -EEXIST);
  assert_null (second);
  assert_non_null (strstr (err.message, "has processes"));
  /* Nested deeper is no way around.  */
  ok (cgroup_kill_all (f->cg, SIGKILL, &err));
  reap (pid);
  ok (cgroup_create (f->path, NULL, &second, &err));
  assert_false (second->dirs[0].made);
  cgroup_close (second);
}

static void test_refuses_bad_paths (void **state)
{
  static const char *const paths[] = { "",      "/",   "x",   "/a/../b", "/..",  "/.",
                                       "/a//b", "/a/", "//a", "/a/./b",  "/a\nb" };
  struct cgroup *cg = NULL;

  (void)state;
  for (size_t i = 0; i < ARRAY_SIZE (paths); i++)
    assert_int_equal (cgroup_create (paths[i], NULL, &cg, &err), -EINVAL);
  assert_int_equal (cgroup_create (NULL, NULL, &cg, &err), -EINVAL);
}

static void test_refuses_frozen_parent (void **state)
{
  FIXTURE (f);
  char below[128];
  struct cgroup *cg = NULL;

  snprintf (below, sizeof (below), "%s/below", f->path);
  ok (cgroup_freeze (f->cg, true, &err));
  int r = cgroup_create (below, NULL, &cg, &err);
  ok (cgroup_freeze (f->cg, false, NULL));
  assert_int_equal (r, -EBUSY);
  assert_non_null (strstr (err.message, "frozen"));
  assert_false (exists_anywhere (below));
}

static void test_open_again (void **state)
{
  FIXTURE (f);
  const char *controllers[16], *paths[16];
  const struct cgroup_dir *dirs;
  struct cgroup *again;
  size_t n = cgroup_dirs (f->cg, &dirs);

  for (size_t i = 0; i < n; i++)
    {
      controllers[i] = dirs[i].controllers;
      paths[i] = dirs[i].path;
    }
  ok (cgroup_open (controllers, paths, n, &again, &err));
  assert_int_equal (again->len, n);
  assert_int_equal (cgroup_mode (again), cgroup_mode (f->cg));
  pid_t pid = sleeper (again);
  pid_t *pids = NULL;
  size_t len = 0;
  ok (cgroup_pids (f->cg, &pids, &len, &err));
  assert_int_equal (len, 1);
  assert_int_equal (pids[0], pid);
  free (pids);
  ok (cgroup_remove (again, &err));
  assert_int_equal (WTERMSIG (reap (pid)), SIGKILL);
  cgroup_close (again);

  /* Vanished ones are left out, others are refused.  */
  ok (cgroup_open (controllers, paths, n, &again, &err));
  assert_int_equal (again->len, 0);
  cgroup_close (again);
  paths[0] = "/tmp";
  assert_int_equal (cgroup_open (controllers, paths, 1, &again, &err), -EINVAL);
}

static void test_limits_v1 (void **state)
{
  FIXTURE (f);
  struct oci_memory memory = { .has_limit = true, .limit = 64 << 20 };
  struct oci_cpu cpu = { .has_shares = true, .shares = 512 };
  struct oci_pids pids = { .has_limit = true, .limit = 7 };
  struct oci_resources r = { .memory = &memory, .cpu = &cpu, .pids = &pids };

  if (group_find_v1 (f->cg, "memory") == NULL || group_find_v1 (f->cg, "cpu") == NULL
      || group_find_v1 (f->cg, "pids") == NULL)
    skip ();
  memory.has_swap = true;
  memory.swap = 64 << 20;
  cpu.has_quota = cpu.has_period = true;
  cpu.quota = 50000;
  cpu.period = 200000;
  ok (cgroup_apply (f->cg, &r, &err));
  assert_knob (f->cg, "memory", "memory.limit_in_bytes", "67108864");
  assert_knob (f->cg, "memory", "memory.memsw.limit_in_bytes", "67108864");
  assert_knob (f->cg, "cpu", "cpu.shares", "512");
  assert_knob (f->cg, "cpu", "cpu.cfs_quota_us", "50000");
  assert_knob (f->cg, "cpu", "cpu.cfs_period_us", "200000");
  assert_knob (f->cg, "pids", "pids.max", "7");

  /* Up and down again, each against the order that the other needs.  */
  memory.limit = memory.swap = 128 << 20;
  ok (cgroup_apply (f->cg, &r, &err));
  assert_knob (f->cg, "memory", "memory.memsw.limit_in_bytes", "134217728");
  memory.limit = memory.swap = 32 << 20;
  ok (cgroup_apply (f->cg, &r, &err));
  assert_knob (f->cg, "memory", "memory.limit_in_bytes", "33554432");
  assert_knob (f->cg, "memory", "memory.memsw.limit_in_bytes", "33554432");

  /* What docker update sends for "nothing".  */
  memory.limit = memory.swap = 0;
  cpu.shares = cpu.period = 0;
  cpu.quota = 0;
  pids.limit = -1;
  ok (cgroup_apply (f->cg, &r, &err));
  assert_knob (f->cg, "memory", "memory.limit_in_bytes", "33554432");
  assert_knob (f->cg, "cpu", "cpu.shares", "512");
  assert_knob (f->cg, "pids", "pids.max", "max");

  /* A limit alone can't pass the one on memory and swap: the message says what to do.  */
  memory.has_swap = false;
  memory.limit = 64 << 20;
  assert_int_equal (cgroup_apply (f->cg, &r, &err), -EINVAL);
  assert_non_null (strstr (err.message, "linux.resources.memory.limit"));
  assert_non_null (strstr (err.message, "give memory.swap"));
  memory.limit = -1;
  ok (cgroup_apply (f->cg, &r, &err));
}

static void test_pids_limit_holds (void **state)
{
  FIXTURE (f);
  struct oci_pids pids = { .has_limit = true, .limit = 1 };
  struct oci_resources r = { .pids = &pids };
  int status;

  ok (cgroup_apply (f->cg, &r, &err));
  pid_t pid = fork ();
  if (pid == 0)
    {
      if (cgroup_attach (f->cg, getpid (), &err) < 0)
        _exit (2);
      pid_t child = fork ();
      if (child == 0)
        _exit (0);
      _exit (child < 0 && errno == EAGAIN ? 0 : 1);
    }
  status = reap (pid);
  assert_true (WIFEXITED (status));
  assert_int_equal (WEXITSTATUS (status), 0);
}

static void test_missing_controller_makes_nothing (void **state)
{
  FIXTURE (f);
  struct oci_map unified = { .has = true, .len = 1 };
  char *keys[] = { (char *)"nosuch.max" }, *values[] = { (char *)"1" };
  struct oci_resources r = { .unified = unified };
  struct cgroup *cg = NULL;
  char other[128];

  r.unified.keys = keys;
  r.unified.values = values;
  snprintf (other, sizeof (other), "%s-other/c", f->parent);
  assert_true (cgroup_create (other, &r, &cg, &err) < 0);
  assert_non_null (strstr (err.message, "linux.resources.unified"));
  snprintf (other, sizeof (other), "%s-other", f->parent);
  assert_false (exists_anywhere (other));
}

static void test_cpuset_is_inherited (void **state)
{
  FIXTURE (f);
  const struct cgroup_dir *dir = group_find_v1 (f->cg, "cpuset");

  if (dir == NULL)
    skip ();
  cleanup_free char *cpus = read_knob (dir, "cpuset.cpus");
  assert_true (strlen (cpus) > 0);

  struct oci_cpu cpu = { .cpus = (char *)"0", .mems = (char *)"0" };
  struct oci_resources r = { .cpu = &cpu };
  ok (cgroup_apply (f->cg, &r, &err));
  assert_knob (f->cg, "cpuset", "cpuset.cpus", "0");
  cpu.cpus = (char *)"4000";
  assert_true (cgroup_apply (f->cg, &r, &err) < 0);
  assert_non_null (strstr (err.message, "linux.resources.cpu.cpus"));
}

/* 'T' for a stopped or frozen process is not told by the v2 freezer; whether it runs is told by
   what it does.  */
static pid_t counter (const struct cgroup *cg, int *ret_pipe)
{
  int fds[2];

  assert_int_equal (pipe2 (fds, O_CLOEXEC | O_NONBLOCK), 0);
  pid_t pid = fork ();
  if (pid == 0)
    {
      prctl (PR_SET_PDEATHSIG, SIGKILL);
      for (;;)
        {
          if (write (fds[1], "x", 1) < 0 && errno != EAGAIN)
            _exit (1);
          usleep (1000);
        }
    }
  close (fds[1]);
  *ret_pipe = fds[0];
  ok (cgroup_attach (cg, pid, &err));
  return pid;
}

static bool is_running (int fd)
{
  char bytes[4096];

  while (read (fd, bytes, sizeof (bytes)) > 0)
    continue;
  usleep (50000);
  return read (fd, bytes, sizeof (bytes)) > 0;
}

static void check_freeze (const struct cgroup *cg)
{
  cleanup_close int fd = -1;
  bool frozen = true;
  pid_t pid = counter (cg, &fd);

  ok (cgroup_is_frozen (cg, &frozen, &err));
  assert_false (frozen);
  assert_true (is_running (fd));
  ok (cgroup_freeze (cg, true, &err));
  ok (cgroup_is_frozen (cg, &frozen, &err));
  assert_true (frozen);
  assert_false (is_running (fd));
  ok (cgroup_freeze (cg, false, &err));
  usleep (20000);
  assert_true (is_running (fd));
  ok (cgroup_is_frozen (cg, &frozen, &err));
  assert_false (frozen);

  /* Killed while paused: dies, and the group isn't left frozen.  */
  ok (cgroup_freeze (cg, true, &err));
  ok (cgroup_kill_all (cg, SIGKILL, &err));
  assert_int_equal (WTERMSIG (reap (pid)), SIGKILL);
  ok (cgroup_is_frozen (cg, &frozen, &err));
  assert_false (frozen);
}

static void test_freeze (void **state)
{
  FIXTURE (f);
  check_freeze (f->cg);
}

/* The same set without cgroup2, as on a host that has v1 only.  */
static struct cgroup *without_v2 (const struct cgroup *cg)
{
  struct cgroup *ret = group_new (cg->len);

  for (size_t i = 0; i < cg->len; i++)
    if (cg->dirs[i].controllers[0] != '\0')
      ok (group_add (ret, cg->dirs[i].controllers, cg->dirs[i].path, dup (cg->dirs[i].fd), 0,
                     &err));
  return ret;
}

static void test_freeze_v1 (void **state)
{
  FIXTURE (f);
  struct cgroup *v1 = without_v2 (f->cg);

  if (group_find_v1 (v1, "freezer") != NULL)
    check_freeze (v1);
  cgroup_close (v1);
}

static void check_kill (const struct cgroup *all, const struct cgroup *cg, int signal)
{
  pid_t pids[CHILDREN];

  for (size_t i = 0; i < CHILDREN; i++)
    pids[i] = sleeper (all);
  ok (cgroup_kill_all (cg, signal, &err));
  for (size_t i = 0; i < CHILDREN; i++)
    assert_int_equal (WTERMSIG (reap (pids[i])), signal);
}

static void test_kill (void **state)
{
  FIXTURE (f);
  struct cgroup *v1 = without_v2 (f->cg);

  check_kill (f->cg, f->cg, SIGKILL);
  check_kill (f->cg, f->cg, SIGTERM);
  if (v1->len > 0)
    {
      check_kill (f->cg, v1, SIGKILL);
      check_kill (f->cg, v1, SIGHUP);
    }
  cgroup_close (v1);
  /* Nobody there: still success.  */
  ok (cgroup_kill_all (f->cg, SIGKILL, &err));
  ok (cgroup_kill_all (f->cg, SIGTERM, &err));
}

/* A process that forks as fast as it can is gone too, within bounds by pids.max.  */
static void test_kill_fork_bomb (void **state)
{
  FIXTURE (f);
  struct oci_pids limit = { .has_limit = true, .limit = 40 };
  struct oci_resources r = { .pids = &limit };
  struct cgroup *v1 = without_v2 (f->cg);
  pid_t *pids = NULL;
  size_t len = 1;

  ok (cgroup_apply (f->cg, &r, &err));
  pid_t pid = fork ();
  if (pid == 0)
    {
      prctl (PR_SET_PDEATHSIG, SIGKILL);
      signal (SIGCHLD, SIG_IGN);
      if (cgroup_attach (f->cg, getpid (), &err) < 0)
        _exit (2);
      for (;;)
        if (fork () < 0)
          usleep (100);
    }
  usleep (50000);
  ok (cgroup_kill_all (v1->len > 0 ? v1 : f->cg, SIGKILL, &err));
  reap (pid);
  for (unsigned i = 0; i < 100 && len > 0; i++)
    {
      usleep (10000);
      free (pids);
      ok (cgroup_pids (f->cg, &pids, &len, &err));
    }
  free (pids);
  cgroup_close (v1);
  assert_int_equal (len, 0);
}

static void test_refuses_to_kill_itself (void **state)
{
  FIXTURE (f);
  pid_t pid = fork ();

  if (pid == 0)
    {
      if (cgroup_attach (f->cg, getpid (), &err) < 0)
        _exit (2);
      _exit (cgroup_kill_all (f->cg, SIGKILL, &err) == -EBUSY ? 0 : 1);
    }
  int status = reap (pid);
  assert_true (WIFEXITED (status));
  assert_int_equal (WEXITSTATUS (status), 0);
}

/* Groups of the workload's own, with a process in the deepest, which goes with them.  */
static void test_remove_nested (void **state)
{
  FIXTURE (f);
  const struct cgroup_dir *dirs;
  size_t n = cgroup_dirs (f->cg, &dirs);
  pid_t pid = sleeper (f->cg);
  char text[24];

  snprintf (text, sizeof (text), "%d", (int)pid);
  for (size_t i = 0; i < n; i++)
    {
      cleanup_close int fd = openat (dirs[i].fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      for (unsigned depth = 0; depth < 40; depth++)
        {
          assert_int_equal (mkdirat (fd, "side", 0755), 0);
          assert_int_equal (mkdirat (fd, "down", 0755), 0);
          int down = openat (fd, "down", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
          assert_true (down >= 0);
          close (fd);
          fd = down;
        }
      if (list_has (dirs[i].controllers, ",", "pids") || dirs[i].controllers[0] == '\0')
        ok (path_write_file (fd, "cgroup.procs", text, &err));
    }
  pid_t *pids = NULL;
  size_t len = 0;
  ok (cgroup_pids (f->cg, &pids, &len, &err));
  assert_int_equal (len, 1);
  free (pids);
  ok (cgroup_remove (f->cg, &err));
  assert_int_equal (WTERMSIG (reap (pid)), SIGKILL);
  assert_false (exists_anywhere (f->path));
}

/* Another container below the same parent keeps it.  */
static void test_remove_keeps_shared_parent (void **state)
{
  FIXTURE (f);
  struct cgroup *second = NULL;
  char path[128];

  snprintf (path, sizeof (path), "%s/c2", f->parent);
  ok (cgroup_create (path, NULL, &second, &err));
  ok (cgroup_remove (f->cg, &err));
  assert_true (exists_anywhere (path));
  ok (cgroup_remove (second, &err));
  cgroup_close (second);
  /* Left by the first, which wasn't the last.  */
  struct cgroup *third = NULL;
  ok (cgroup_create (f->path, NULL, &third, &err));
  for (size_t i = 0; i < third->len; i++)
    third->dirs[i].made = 2;
  ok (cgroup_remove (third, &err));
  cgroup_close (third);
  assert_false (exists_anywhere (f->parent));
}

/* ---- devices */

static const struct oci_device_cgroup device_rules[] = {
  { .has_allow = true, .allow = false, .access = (char *)"rwm" },
  { .has_allow = true,
    .allow = true,
    .type = (char *)"c",
    .has_major = true,
    .major = 1,
    .has_minor = true,
    .minor = 3,
    .access = (char *)"rw" },
  { .has_allow = true,
    .allow = true,
    .type = (char *)"c",
    .has_major = true,
    .major = 1,
    .has_minor = true,
    .minor = 5,
    .access = (char *)"r" },
};

/* In a process of its own in CG: the errno of opening a device node of our own making, 0 if it
   opened.  */
static int open_in_group (const struct cgroup *cg, const char *node, int flags)
{
  pid_t pid = fork ();

  if (pid == 0)
    {
      if (cgroup_attach (cg, getpid (), &err) < 0)
        _exit (255);
      _exit (open (node, flags | O_CLOEXEC) < 0 ? errno : 0);
    }
  int status = reap (pid);
  assert_true (WIFEXITED (status));
  return WEXITSTATUS (status);
}

static int mknod_in_group (const struct cgroup *cg, const char *path)
{
  pid_t pid = fork ();

  if (pid == 0)
    {
      if (cgroup_attach (cg, getpid (), &err) < 0)
        _exit (255);
      if (mknod (path, S_IFCHR | 0600, makedev (1, 3)) < 0)
        _exit (errno);
      unlink (path);
      _exit (0);
    }
  int status = reap (pid);
  assert_true (WIFEXITED (status));
  return WEXITSTATUS (status);
}

static void check_devices (const struct cgroup *all, const struct cgroup *filtering)
{
  char path[64];

  snprintf (path, sizeof (path), "/tmp/agentrun-test-node-%d", (int)getpid ());
  assert_int_equal (open_in_group (all, "/dev/full", O_RDWR), 0);
  ok (cgroup_apply_devices (filtering, device_rules, ARRAY_SIZE (device_rules), &err));
  assert_int_equal (open_in_group (all, "/dev/null", O_RDWR), 0);
  assert_int_equal (open_in_group (all, "/dev/zero", O_RDONLY), 0);
  assert_int_equal (open_in_group (all, "/dev/zero", O_RDWR), EPERM);
  assert_int_equal (open_in_group (all, "/dev/full", O_RDONLY), EPERM);
  assert_int_equal (mknod_in_group (all, path), EPERM);

  /* A later call replaces, in both directions.  */
  ok (cgroup_apply_devices (filtering, device_rules, 1, &err));
  assert_int_equal (open_in_group (all, "/dev/null", O_RDWR), EPERM);
  ok (cgroup_apply_devices (filtering, device_rules, ARRAY_SIZE (device_rules), &err));
  assert_int_equal (open_in_group (all, "/dev/null", O_RDWR), 0);
}

static void test_devices (void **state)
{
  FIXTURE (f);
  check_devices (f->cg, f->cg);
}

static size_t attached_programs (int fd)
{
  uint32_t ids[64];
  union bpf_attr attr = { .query = { .target_fd = (uint32_t)fd,
                                     .attach_type = BPF_CGROUP_DEVICE,
                                     .prog_ids = (uint64_t)(uintptr_t)ids,
                                     .prog_cnt = 64 } };

  assert_true (syscall (SYS_bpf, BPF_PROG_QUERY, &attr, sizeof (attr)) >= 0);
  return attr.query.prog_cnt;
}

/* By program, as on a v2 host: a hybrid host's cgroup2 takes it as well.  */
static void test_devices_by_program (void **state)
{
  FIXTURE (f);
  const struct cgroup_dir *v2 = group_find_v2 (f->cg);

  if (v2 == NULL)
    skip ();
  struct cgroup *only = group_new (1);
  ok (group_add (only, "", v2->path, dup (v2->fd), 0, &err));
  check_devices (f->cg, only);
  assert_int_equal (attached_programs (v2->fd), 1);
  cgroup_close (only);
}

/* ---- mounts */

static void test_mounts (void **state)
{
  FIXTURE (f);
  struct cgroup_mount *mounts = NULL;
  const struct cgroup_dir *dirs;
  size_t len = 0, n = cgroup_dirs (f->cg, &dirs);

  ok (cgroup_mounts (f->cg, false, &mounts, &len, &err));
  assert_int_equal (len, n);
  for (size_t i = 0; i < len; i++)
    {
      struct stat tree, group;
      assert_string_equal (mounts[i].fs_type, dirs[i].controllers[0] ? "cgroup" : "cgroup2");
      assert_int_equal (fstat (mounts[i].tree, &tree), 0);
      assert_int_equal (fstat (dirs[i].fd, &group), 0);
      assert_int_equal (tree.st_ino, group.st_ino);
      assert_int_equal (tree.st_dev, group.st_dev);
    }
  cgroup_mounts_free (mounts, len);

  ok (cgroup_mounts (f->cg, true, &mounts, &len, &err));
  for (size_t i = 0; i < len; i++)
    {
      assert_int_equal (mounts[i].tree, -1);
      assert_string_equal (mounts[i].parameters, dirs[i].controllers);
    }
  cgroup_mounts_free (mounts, len);
}

#define TEST(name) cmocka_unit_test_setup_teardown (name, setup, teardown)

int main (void)
{
  const struct CMUnitTest tests[] = {
    TEST (test_create_everywhere_and_remove),
    TEST (test_enters_by_itself),
    TEST (test_refuses_group_with_processes),
    cmocka_unit_test (test_refuses_bad_paths),
    TEST (test_refuses_frozen_parent),
    TEST (test_open_again),
    TEST (test_limits_v1),
    TEST (test_pids_limit_holds),
    TEST (test_missing_controller_makes_nothing),
    TEST (test_cpuset_is_inherited),
    TEST (test_freeze),
    TEST (test_freeze_v1),
    TEST (test_kill),
    TEST (test_kill_fork_bomb),
    TEST (test_refuses_to_kill_itself),
    TEST (test_remove_nested),
    TEST (test_remove_keeps_shared_parent),
    TEST (test_devices),
    TEST (test_devices_by_program),
    TEST (test_mounts),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
