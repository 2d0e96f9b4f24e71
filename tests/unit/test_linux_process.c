/* SPDX-License-Identifier: Apache-2.0 */
/* src/linux: capabilities, user, limits, kernel parameters, names, loopback, keyring, processes and
   signals.  Most of it as root, each in a child with namespaces of its own.  */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <grp.h>
#include <linux/keyctl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>

#include "linux_child.h"
#include "base/fd.h"
#include "base/lsm.h"
#include "linux/caps.h"
#include "linux/hostname.h"
#include "linux/keyring.h"
#include "linux/label.h"
#include "linux/loopback.h"
#include "linux/oom_score.h"
#include "linux/process.h"
#include "linux/procfs.h"
#include "linux/rlimit.h"
#include "linux/sysctls.h"
#include "linux/user.h"

static struct error err;

static int proc_fd (void)
{
  int proc = -1;
  CHECK_OK (procfs_open (&proc, &err));
  return proc;
}

/* The kernel's own account of a line of /proc/self/status.  */
static const char *status_line (const char *key)
{
  static char value[128];
  char *text = NULL;
  size_t len;
  CHECK_OK (procfs_read (proc_fd (), "self/status", 65536, &text, &len, &err));
  char *at = strstr (text, key);
  CHECK (at != NULL && at[strlen (key)] == ':');
  at += strlen (key) + 1;
  at += strspn (at, "\t ");
  snprintf (value, sizeof (value), "%.*s", (int)strcspn (at, "\n"), at);
  free (text);
  return value;
}

static uint64_t status_mask (const char *key) { return strtoull (status_line (key), NULL, 16); }

/* ---- capabilities and user */

#define CHOWN   (UINT64_C (1) << 0)
#define KILL    (UINT64_C (1) << 5)
#define NET_RAW (UINT64_C (1) << 13)
#define SETPCAP (UINT64_C (1) << 8)

static int open_procfs (void)
{
  int procfd = -1;
  CHECK_OK (procfs_open (&procfd, &err));
  return procfd;
}

static void check_sets (const struct cap_sets *sets)
{
  CHECK (status_mask ("CapBnd") == sets->bounding);
  CHECK (status_mask ("CapEff") == sets->effective);
  CHECK (status_mask ("CapPrm") == sets->permitted);
  CHECK (status_mask ("CapInh") == sets->inheritable);
  CHECK (status_mask ("CapAmb") == sets->ambient);
}

static void caps_of_user (void)
{
  const int procfd = open_procfs ();
  const struct cap_sets sets = { CHOWN | KILL | NET_RAW, CHOWN, CHOWN | KILL, KILL, KILL };
  const gid_t groups[] = { 20, 5, 20 };
  CHECK_OK (caps_before_user_change (&sets, &err));
  CHECK_OK (user_set (1000, 1001, groups, 3, 027, -1, &err));
  CHECK_OK (caps_after (procfd, &sets, &err));
  check_sets (&sets);
  CHECK (strcmp (status_line ("Uid"), "1000\t1000\t1000\t1000") == 0);
  CHECK (strcmp (status_line ("Gid"), "1001\t1001\t1001\t1001") == 0);
  CHECK (strcmp (status_line ("Groups"), "5 20 20 ") == 0);
  CHECK (umask (0) == 027);
  CHECK (prctl (PR_GET_KEEPCAPS, 0L, 0L, 0L, 0L) == 0);
}

static void caps_none (void)
{
  const int procfd = open_procfs ();
  const struct cap_sets sets = { 0 };
  const gid_t before[] = { 7 };
  CHECK (setgroups (1, before) == 0);
  CHECK_OK (caps_before_user_change (&sets, &err));
  CHECK_OK (user_set (0, 0, NULL, 0, 022, -1, &err));
  CHECK_OK (caps_after (procfd, &sets, &err));
  check_sets (&sets);
  CHECK (strcmp (status_line ("Groups"), "") == 0);
}

static void caps_wrong (void)
{
  const int procfd = open_procfs ();
  const struct cap_sets ambient = { CHOWN, CHOWN, CHOWN, 0, CHOWN };
  const struct cap_sets effective = { CHOWN, CHOWN, 0, 0, 0 };
  const struct cap_sets unknown = { UINT64_C (1) << 62, 0, 0, 0, 0 };
  CHECK_FAILS (caps_before_user_change (&ambient, &err), -EINVAL, "ambient");
  CHECK_FAILS (caps_after (procfd, &ambient, &err), -EINVAL, "ambient");
  CHECK_FAILS (caps_before_user_change (&effective, &err), -EINVAL, "effective");
  CHECK_FAILS (caps_before_user_change (&unknown, &err), -EINVAL, "unknown");
  CHECK (caps_last () >= 40 && caps_last () < 62);
}

static void caps_limited (void)
{
  const int procfd = open_procfs ();
  struct cap_sets sets = { UINT64_MAX, CHOWN, CHOWN | NET_RAW, NET_RAW, NET_RAW };
  CHECK (prctl (PR_CAPBSET_DROP, 13L, 0L, 0L, 0L) == 0); /* NET_RAW */
  uint64_t removed = caps_limit (procfd, &sets);
  CHECK ((removed & NET_RAW) && !(removed & (CHOWN | KILL)) && (removed >> 62) == 3);
  CHECK (sets.permitted == CHOWN && sets.ambient == 0 && !(sets.bounding & NET_RAW));
  CHECK_OK (caps_before_user_change (&sets, &err));
  CHECK_OK (caps_after (procfd, &sets, &err));
}

static void user_wrong (void)
{
  const gid_t groups[] = { 1, (gid_t)-1 };
  CHECK_FAILS (user_set ((uid_t)-1, 0, NULL, 0, 0, -1, &err), -EINVAL, "4294967295");
  CHECK_FAILS (user_set (0, (gid_t)-1, NULL, 0, 0, -1, &err), -EINVAL, "4294967295");
  CHECK_FAILS (user_set (0, 0, groups, 2, 0, -1, &err), -EINVAL, "4294967295");
  CHECK (setresuid (1000, 1000, 1000) == 0);
  CHECK_FAILS (user_set (0, 0, NULL, 0, 0, -1, &err), -EPERM, "EPERM");
}

static void test_identity (void **state)
{
  (void)state;
  assert_int_equal (child_run (0, caps_of_user), 0);
  assert_int_equal (child_run (0, caps_none), 0);
  assert_int_equal (child_run (0, caps_wrong), 0);
  assert_int_equal (child_run (0, caps_limited), 0);
  assert_int_equal (child_run (0, user_wrong), 0);
}

/* ---- limits and kernel parameters */

static void limits_body (void)
{
  struct rlimit limit;
  CHECK_OK (rlimit_set ("RLIMIT_NOFILE", RLIMIT_NOFILE, 100, 200, &err));
  CHECK (getrlimit (RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur == 100 && limit.rlim_max == 200);
  CHECK_OK (rlimit_set ("RLIMIT_CORE", RLIMIT_CORE, UINT64_MAX, UINT64_MAX, &err));
  CHECK (getrlimit (RLIMIT_CORE, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY);
  CHECK_FAILS (rlimit_set ("RLIMIT_NOFILE", RLIMIT_NOFILE, 3, 2, &err), -EINVAL, "RLIMIT_NOFILE");
  CHECK_FAILS (rlimit_set ("RLIMIT_X", 99, 1, 2, &err), -EINVAL, "RLIMIT_X");

  int proc = proc_fd ();
  char *text = NULL;
  size_t len;
  CHECK_OK (oom_score_adj_set (proc, 500, &err));
  CHECK_OK (procfs_read (proc, "self/oom_score_adj", 16, &text, &len, &err));
  CHECK (strcmp (text, "500\n") == 0);
  CHECK_FAILS (oom_score_adj_set (proc, 1001, &err), -ERANGE, "1001");
  CHECK_FAILS (oom_score_adj_set (proc, -1001, &err), -ERANGE, "-1001");
}

static void sysctl_body (void)
{
  int proc = proc_fd ();
  char *text = NULL;
  size_t len;
  CHECK_OK (sysctl_set (proc, "net.ipv4.ip_forward", "1", &err));
  CHECK_OK (sysctl_set (proc, "net/ipv4/conf/lo/forwarding", "0", &err));
  CHECK_OK (procfs_read (proc, "sys/net/ipv4/conf/lo/forwarding", 16, &text, &len, &err));
  CHECK (strcmp (text, "0\n") == 0);
  CHECK_OK (sysctl_set (proc, "kernel.shmmni", "17", &err));
  CHECK_OK (procfs_read (proc, "sys/kernel/shmmni", 16, &text, &len, &err));
  CHECK (strcmp (text, "17\n") == 0);
  CHECK_FAILS (sysctl_set (proc, "kernel.shmmni", "1\n2", &err), -EINVAL, "line end");
  CHECK_FAILS (sysctl_set (proc, "kernel.none", "1", &err), -ENOENT, "linux.sysctl kernel.none");
  CHECK_FAILS (sysctl_set (proc, "kernel/../../self/comm", "1", &err), -EINVAL, "not the name");
}

static void test_limits (void **state)
{
  (void)state;
  assert_int_equal (child_run (CLONE_NEWNS, limits_body), 0);
  assert_int_equal (child_run (CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC, sysctl_body), 0);
}

static void test_sysctl_path (void **state)
{
  (void)state;
  static const struct
  {
    const char *name, *path;
  } table[] = {
    { "net.ipv4.ip_forward", "net/ipv4/ip_forward" },
    { "net/ipv4/ip_forward", "net/ipv4/ip_forward" },
    { "net.ipv4.conf.eth0/100.rp_filter", "net/ipv4/conf/eth0.100/rp_filter" },
    { "net/ipv4/conf/eth0.100/rp_filter", "net/ipv4/conf/eth0.100/rp_filter" },
    { "kernel", NULL },
    { "", NULL },
    { ".kernel", NULL },
    { "kernel.", NULL },
    { "kernel..x", NULL },
    { "kernel//x", NULL },
    { "/kernel/x", NULL },
    { "kernel/../x", NULL },
    { "kernel/./x", NULL },
    { "kernel.//.x", NULL },
    { "kernel.x\ny", NULL },
  };
  for (size_t i = 0; i < sizeof (table) / sizeof (*table); i++)
    {
      char *path = sysctl_path (table[i].name);
      if (table[i].path == NULL)
        assert_null (path);
      else
        assert_string_equal (path, table[i].path);
      free (path);
    }
}

/* ---- names, loopback, keyring */

static void names_body (void)
{
  struct utsname names;
  char long_name[66];
  memset (long_name, 'a', 65);
  long_name[65] = '\0';
  CHECK_OK (hostname_set ("box", &err));
  CHECK_OK (domainname_set ("example", &err));
  CHECK (uname (&names) == 0 && strcmp (names.nodename, "box") == 0
         && strcmp (names.domainname, "example") == 0);
  CHECK_FAILS (hostname_set (long_name, &err), -EINVAL, "EINVAL");
}

static bool loopback_works (void)
{
  struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons (9) };
  address.sin_addr.s_addr = htonl (INADDR_LOOPBACK);
  int sock = socket (AF_INET, SOCK_DGRAM, 0);
  return connect (sock, (struct sockaddr *)&address, sizeof (address)) == 0;
}

static void loopback_body (void)
{
  CHECK (!loopback_works ());
  CHECK_OK (loopback_up (&err));
  CHECK (loopback_works ());
  CHECK_OK (loopback_up (&err));
  const int procfd = open_procfs ();
  const struct cap_sets none = { 0 };
  CHECK_OK (caps_before_user_change (&none, &err));
  CHECK_OK (caps_after (procfd, &none, &err));
  CHECK_FAILS (loopback_up (&err), -EPERM, "loopback");
}

static void keyring_body (void)
{
  long before = syscall (SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0);
  bool none = before < 0 && errno == ENOSYS;
  CHECK_OK (keyring_new_session ("agentrun-test", &err));
  long after = syscall (SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0);
  CHECK (none || (after > 0 && after != before));
}

static void test_namespaces (void **state)
{
  (void)state;
  assert_int_equal (child_run (CLONE_NEWUTS, names_body), 0);
  assert_int_equal (child_run (CLONE_NEWNET, loopback_body), 0);
  assert_int_equal (child_run (0, keyring_body), 0);
}

/* ---- processes */

static pid_t start_sleeper (void)
{
  pid_t pid = fork ();
  if (pid == 0)
    {
      prctl (PR_SET_NAME, ") R 1 (\n) x", 0L, 0L, 0L); /* what a stat line must survive */
      for (;;)
        pause ();
    }
  struct timespec moment = { .tv_nsec = 20 * 1000 * 1000 };
  nanosleep (&moment, NULL);
  return pid;
}

static void test_process (void **state)
{
  (void)state;
  int proc = proc_fd (), pidfd = -1, code = -1;
  uint64_t start = 0, own = 0;
  bool alive = false;
  pid_t pid = start_sleeper ();
  CHECK_OK (process_start_time (proc, pid, &start, &err));
  CHECK_OK (process_start_time (proc, getpid (), &own, &err));
  assert_true (start >= own && start < own + 10000 && own > 0);
  CHECK_OK (process_open (proc, pid, start, &pidfd, &err));
  CHECK_FAILS (process_signal (proc, pid, start + 1, SIGKILL, &err), -ESRCH, "gone");
  CHECK_FAILS (process_signal (proc, pid, start, 999, &err), -EINVAL, "999");
  CHECK_FAILS (process_wait_exit (pidfd, 10, &err), -ETIMEDOUT, "10 ms");
  CHECK_OK (process_alive (proc, pid, start, &alive, &err));
  assert_true (alive);
  CHECK_OK (process_alive (proc, pid, start + 1, &alive, &err));
  assert_false (alive);

  CHECK_OK (process_signal (proc, pid, start, SIGTERM, &err));
  CHECK_OK (process_wait_exit (pidfd, 2000, &err));
  CHECK_OK (process_alive (proc, pid, start, &alive, &err)); /* a zombie */
  assert_false (alive);
  CHECK_OK (process_wait_child (pidfd, &code, &err));
  assert_int_equal (code, 128 + SIGTERM);
  CHECK_FAILS (process_signal (proc, pid, start, SIGTERM, &err), -ESRCH, "gone");
  CHECK_FAILS (process_start_time (proc, pid, &start, &err), -ESRCH, "gone");
  CHECK_OK (process_alive (proc, pid, start, &alive, &err));
  assert_false (alive);
  close (pidfd);
  close (proc);
}

static void exit_code_body (void)
{
  pid_t pid = fork ();
  if (pid == 0)
    _exit (42);
  int pidfd = fd_pidfd_open (pid), code = -1;
  CHECK_OK (process_wait_child (pidfd, &code, &err));
  CHECK (code == 42);
}

static void attributes_body (void)
{
  CHECK_OK (process_set_undumpable (&err));
  CHECK (prctl (PR_GET_DUMPABLE, 0L, 0L, 0L, 0L) == 0);
  CHECK_OK (process_set_no_new_privs (&err));
  CHECK (prctl (PR_GET_NO_NEW_PRIVS, 0L, 0L, 0L, 0L) == 1);
  int value = 0;
  CHECK_OK (process_set_subreaper (&err));
  CHECK (prctl (PR_GET_CHILD_SUBREAPER, &value, 0L, 0L, 0L) == 0 && value == 1);
  CHECK_OK (process_set_parent_death_signal (SIGUSR1, getppid (), &err));
  CHECK (prctl (PR_GET_PDEATHSIG, &value, 0L, 0L, 0L) == 0 && value == SIGUSR1);
  CHECK_FAILS (process_set_parent_death_signal (SIGUSR1, getppid () + 1, &err), -ESRCH, "parent");
}

static void on_signal (int signal) { (void)signal; }

static void check_signals (int procfd)
{
  sigset_t mask;
  const unsigned long ignored[8] = { 1 }; /* SIG_IGN */
  sigfillset (&mask);
  sigprocmask (SIG_SETMASK, &mask, NULL);
  signal (SIGPIPE, SIG_IGN);
  signal (SIGCHLD, SIG_IGN);
  signal (SIGTERM, on_signal);
  CHECK (syscall (SYS_rt_sigaction, 33, ignored, NULL, (size_t)8) == 0);
  CHECK (syscall (SYS_rt_sigaction, 64, ignored, NULL, (size_t)8) == 0);
  CHECK (status_mask ("SigIgn") != 0 && status_mask ("SigBlk") != 0 && status_mask ("SigCgt") != 0);
  CHECK_OK (signals_reset (procfd, &err));
  CHECK (status_mask ("SigIgn") == 0 && status_mask ("SigCgt") == 0 && status_mask ("SigBlk") == 0);
}

static void signals_body (void)
{
  check_signals (-1);
  check_signals (open_procfs ());
  /* What is no procfs has no answer: then all are reset.  */
  check_signals (open ("/", O_PATH | O_DIRECTORY));
}

/* CVE-2024-21626: a directory outside of the root, reached by a descriptor.  */
static void chdir_body (void)
{
  int outside = open ("/usr", O_PATH | O_DIRECTORY);
  char path[64];
  CHECK_OK (process_chdir ("/", &err));
  CHECK (mount ("/proc", "/mnt", NULL, MS_BIND | MS_REC, NULL) == 0);
  CHECK (chroot ("/mnt") == 0);
  snprintf (path, sizeof (path), "/self/fd/%d", outside);
  CHECK_FAILS (process_chdir (path, &err), -EXDEV, "outside");
  CHECK_FAILS (process_chdir ("/none", &err), -ENOENT, "/none");
  CHECK_OK (process_chdir ("/self", &err));
}

/* With no LSM running a label is an error, never a start without it.  */
static void label_body (void)
{
  int proc = proc_fd ();
  if (!lsm_apparmor_enabled ())
    CHECK (lsm_set_exec_label (proc, "apparmor", "agent", &err) < 0
           && strstr (err.message, "apparmor label \"agent\"") != NULL);
  if (!lsm_selinux_enabled ())
    CHECK (lsm_set_exec_label (proc, "selinux", "system_u:system_r:x_t:s0", &err) < 0);
  CHECK_FAILS (lsm_set_exec_label (proc, "smack", "x", &err), -EINVAL, "smack");
  CHECK_FAILS (lsm_set_exec_label (proc, "apparmor", "a\nb", &err), -EINVAL, "not a label");
}

static void test_attributes (void **state)
{
  (void)state;
  assert_int_equal (child_run (0, exit_code_body), 0);
  assert_int_equal (child_run (0, attributes_body), 0);
  assert_int_equal (child_run (0, signals_body), 0);
  assert_int_equal (child_run (0, label_body), 0);
}

static void test_chdir (void **state)
{
  (void)state;
  assert_int_equal (child_run (CLONE_NEWNS, chdir_body), 0);
}

int main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_sysctl_path),
    cmocka_unit_test (test_process),
    cmocka_unit_test (test_attributes),
  };
  const struct CMUnitTest as_root[] = {
    cmocka_unit_test (test_sysctl_path), cmocka_unit_test (test_process),
    cmocka_unit_test (test_attributes),  cmocka_unit_test (test_identity),
    cmocka_unit_test (test_limits),      cmocka_unit_test (test_namespaces),
    cmocka_unit_test (test_chdir),
  };
  if (geteuid () == 0)
    return cmocka_run_group_tests (as_root, NULL, NULL);
  puts ("# left out, they need root: identity, limits, namespaces, chdir");
  return cmocka_run_group_tests (tests, NULL, NULL);
}
