/* SPDX-License-Identifier: Apache-2.0 */
/* The seccomp programs in the kernel: children load them and try.  What must be refused is tried by
   system call, what must work by the programs that people run.  No privilege needed; what the
   machine lacks (a compiler for 32 bits, node …) is skipped.  */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/str.h"
#include "linux/seccomp.h"

#define N(s)   (char *)(uintptr_t)(s)
#define FAILED 125 /* a child could not even begin */

static const struct seccomp_request baseline_only = { .baseline = true };
static const struct seccomp_request builtin = { .baseline = true, .builtin = true };

/* In a child.  cmocka's handlers must not make a test result of a signal in it.  */
static void enter (const struct seccomp_request *request)
{
  static const struct rlimit no_core = { 0, 0 };
  for (int sig = 1; sig < NSIG; sig++)
    signal (sig, SIG_DFL);
  struct seccomp_program program = { 0 };
  struct error err = { 0 };
  setrlimit (RLIMIT_CORE, &no_core);
  if (seccomp_build (request, &program, &err) < 0 || prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0
      || seccomp_program_load (&program, &err) < 0)
    {
      fprintf (stderr, "# %s\n", err.message);
      _exit (FAILED);
    }
}

/* The wait status of a child that runs BODY behind the filter.  */
static int in_filter (const struct seccomp_request *request, int (*body) (const void *),
                      const void *arg)
{
  int status;
  pid_t pid = fork ();
  assert_true (pid >= 0);
  if (pid == 0)
    {
      enter (request);
      _exit (body (arg));
    }
  assert_int_equal (waitpid (pid, &status, 0), pid);
  return status;
}

static void assert_exit (int status, int code, const char *what)
{
  if (!WIFEXITED (status) || WEXITSTATUS (status) != code)
    fail_msg ("%s: status %#x, not exit code %d", what, status, code);
}

/* ---- Refused */

struct call
{
  const char *name;
  long nr, arg0, arg1, arg2;
  int error;
};

static int try_call (const void *arg)
{
  const struct call *c = arg;
  return syscall (c->nr, c->arg0, c->arg1, c->arg2, 0, 0) < 0 ? errno : 0;
}

static const struct call calls[] = {
  { "bpf", SYS_bpf, -1, 0, 0, EPERM },
  { "mount", SYS_mount, 0, 0, 0, EPERM },
  { "umount2", SYS_umount2, 0, 0, 0, EPERM },
  { "open_tree", SYS_open_tree, -1, 0, 0, EPERM },
  { "open_tree_attr", 467, -1, 0, 0, EPERM },
  { "setns", SYS_setns, -1, 0, 0, EPERM },
  { "io_uring_setup", SYS_io_uring_setup, 0, 0, 0, EPERM },
  { "keyctl", SYS_keyctl, -1, 0, 0, EPERM },
  { "perf_event_open", SYS_perf_event_open, 0, 0, 0, EPERM },
  { "userfaultfd", SYS_userfaultfd, -1, 0, 0, EPERM },
  { "process_vm_readv", SYS_process_vm_readv, -1, 0, 0, EPERM },
  { "open_by_handle_at", SYS_open_by_handle_at, -1, 0, 0, EPERM },
  { "clone3", SYS_clone3, 0, 0, 0, ENOSYS },
  { "unshare", SYS_unshare, CLONE_NEWUSER, 0, 0, EPERM },
  { "unshare of time", SYS_unshare, 0x80, 0, 0, EPERM },
  { "unshare, upper half set", SYS_unshare, CLONE_NEWNS | 1L << 32, 0, 0, EPERM },
  { "unshare without namespaces", SYS_unshare, CLONE_FS, 0, 0, 0 },
  { "clone", SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, EPERM },
  { "clone, upper half set", SYS_clone, CLONE_NEWNET | SIGCHLD | 1L << 32, 0, 0, EPERM },
  { "TIOCSTI", SYS_ioctl, -1, TIOCSTI, 0, EPERM },
  { "TIOCSTI, upper half set", SYS_ioctl, -1, TIOCSTI | 1L << 32, 0, EPERM },
  { "TIOCLINUX", SYS_ioctl, -1, TIOCLINUX, 0, EPERM },
  { "another ioctl", SYS_ioctl, -1, TIOCGWINSZ, 0, EBADF },
  { "AF_UNIX", SYS_socket, AF_UNIX, SOCK_STREAM, 0, 0 },
  { "AF_INET", SYS_socket, AF_INET, SOCK_STREAM, 0, 0 },
  { "AF_NETLINK, route", SYS_socket, AF_NETLINK, SOCK_RAW, 0, 0 },
  { "AF_NETLINK, netfilter", SYS_socket, AF_NETLINK, SOCK_RAW, 12, EPROTONOSUPPORT },
  { "AF_PACKET", SYS_socket, AF_PACKET, SOCK_RAW, 0, EAFNOSUPPORT },
  { "AF_PACKET, upper half set", SYS_socket, AF_PACKET | 1L << 32, SOCK_RAW, 0, EAFNOSUPPORT },
  { "AF_ALG", SYS_socket, AF_ALG, SOCK_SEQPACKET, 0, EAFNOSUPPORT },
  { "AF_TIPC pair", SYS_socketpair, 30, SOCK_STREAM, 0, EAFNOSUPPORT },
  { "ptrace", SYS_ptrace, -1, 0, 0, ESRCH },
  { "no call at all", 999, 0, 0, 0, ENOSYS },
#ifdef __x86_64__
  { "getpid of x32", 0x40000000 | 39, 0, 0, 0, ENOSYS },
  { "minus one", -1, 0, 0, 0, ENOSYS },
#endif
};

static void test_refused (void **state)
{
  (void)state;
  for (size_t i = 0; i < ARRAY_SIZE (calls); i++)
    {
      assert_exit (in_filter (&baseline_only, try_call, &calls[i]), calls[i].error, calls[i].name);
      assert_exit (in_filter (&builtin, try_call, &calls[i]), calls[i].error, calls[i].name);
    }
}

#ifdef __x86_64__
/* A 32-bit call from a 64-bit process; a kernel without IA32 emulation sends SIGSEGV.  */
static int try_call32 (const void *arg)
{
  const struct call *c = arg;
  int answer;
  __asm__ volatile("int $0x80"
                   : "=a"(answer)
                   : "a"(c->nr), "b"(c->arg0), "c"(c->arg1), "d"(c->arg2)
                   : "memory", "r8", "r9", "r10", "r11");
  return answer < 0 && answer > -4096 ? -answer : 0;
}

static const struct call calls32[] = {
  { "getpid", 20, 0, 0, 0, 0 },
  { "mount", 21, 0, 0, 0, EPERM },
  { "umount", 22, 0, 0, 0, EPERM },
  { "umount2", 52, 0, 0, 0, EPERM },
  { "reboot", 88, 0, 0, 0, EPERM },
  { "socketcall", 102, 1, 0, 0, ENOSYS },
  { "bpf", 357, -1, 0, 0, EPERM },
  { "clone3", 435, 0, 0, 0, ENOSYS },
  { "clone", 120, CLONE_NEWUSER | SIGCHLD, 0, 0, EPERM },
  { "unshare", 310, CLONE_NEWNET, 0, 0, EPERM },
  { "TIOCSTI", 54, -1, TIOCSTI, 0, EPERM },
  { "AF_UNIX", 359, AF_UNIX, SOCK_STREAM, 0, 0 },
  { "AF_PACKET", 359, AF_PACKET, SOCK_RAW, 0, EAFNOSUPPORT },
  { "no call at all", 999, 0, 0, 0, ENOSYS },
};

static void test_refused_32_bit (void **state)
{
  const struct seccomp_request none = { 0 };
  (void)state;
  if (WIFSIGNALED (in_filter (&none, try_call32, &calls32[0])))
    skip ();
  for (size_t i = 0; i < ARRAY_SIZE (calls32); i++)
    {
      assert_exit (in_filter (&baseline_only, try_call32, &calls32[i]), calls32[i].error,
                   calls32[i].name);
      assert_exit (in_filter (&builtin, try_call32, &calls32[i]), calls32[i].error,
                   calls32[i].name);
    }
}
#endif

static void test_kill (void **state)
{
  static const struct
  {
    const char *action;
    int signal;
  } cases[] = {
    { "SCMP_ACT_KILL_PROCESS", SIGSYS },
    { "SCMP_ACT_KILL", SIGSYS },
    { "SCMP_ACT_TRAP", SIGSYS },
  };
  static const struct call getppid_call = { "getppid", SYS_getppid, 0, 0, 0, 0 };
  char *names[] = { N ("getppid") };
  struct oci_seccomp_syscall rule = { .has_names = true, .names = names, .names_len = 1 };
  struct oci_seccomp profile = { .default_action = N ("SCMP_ACT_ALLOW"),
                                 .syscalls = &rule,
                                 .syscalls_len = 1 };
  struct seccomp_request request = { .profile = &profile, .baseline = true };
  (void)state;
  for (size_t i = 0; i < ARRAY_SIZE (cases); i++)
    {
      rule.action = N (cases[i].action);
      int status = in_filter (&request, try_call, &getppid_call);
      assert_true (WIFSIGNALED (status));
      assert_int_equal (WTERMSIG (status), cases[i].signal);
    }
  rule.action = N ("SCMP_ACT_ERRNO");
  rule.has_errno_ret = true;
  rule.errno_ret = 77;
  assert_exit (in_filter (&request, try_call, &getppid_call), 77, "getppid");
}

/* ---- Loading */

static int load_without_no_new_privs (const void *arg)
{
  struct seccomp_program program = { 0 };
  struct error err = { 0 };
  (void)arg;
  if (geteuid () == 0 && setresuid (65534, 65534, 65534) < 0)
    return FAILED;
  if (seccomp_build (&baseline_only, &program, &err) < 0)
    return FAILED;
  int r = seccomp_program_load (&program, &err);
  seccomp_program_free (&program);
  return r == -EACCES && strstr (err.message, "EACCES") != NULL ? 0 : 1;
}

static void test_load_needs_no_new_privs (void **state)
{
  int status;
  (void)state;
  if (prctl (PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
    skip ();
  pid_t pid = fork ();
  if (pid == 0)
    _exit (load_without_no_new_privs (NULL));
  assert_int_equal (waitpid (pid, &status, 0), pid);
  assert_exit (status, 0, "load");
}

static int check_status (const void *arg)
{
  char *text = NULL;
  size_t len;
  int fd = open ("/proc/self/status", O_RDONLY | O_CLOEXEC);
  (void)arg;
  if (fd < 0 || fd_read_all (fd, 65536, "status", &text, &len, NULL) < 0)
    return FAILED;
  bool one =
      strstr (text, "Seccomp:\t2\n") != NULL && strstr (text, "Seccomp_filters:\t1\n") != NULL;
  free (text);
  close (fd);
  return one ? 0 : 1;
}

/* Baseline and profile are one filter.  */
static void test_one_filter (void **state)
{
  (void)state;
  assert_exit (in_filter (&builtin, check_status, NULL), 0, "Seccomp_filters");
}

static int try_to_load_more (const void *arg)
{
  (void)arg;
  return prctl (PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) < 0 && errno == 77 ? 0 : 1;
}

/* A profile that forbids what a second load would need still comes behind the baseline.  */
static void test_profile_without_seccomp (void **state)
{
  char *names[] = { N ("seccomp"), N ("prctl") };
  struct oci_seccomp_syscall rule = { .has_names = true,
                                      .names = names,
                                      .names_len = 2,
                                      .action = N ("SCMP_ACT_ERRNO"),
                                      .has_errno_ret = true,
                                      .errno_ret = 77 };
  struct oci_seccomp profile = { .default_action = N ("SCMP_ACT_ALLOW"),
                                 .syscalls = &rule,
                                 .syscalls_len = 1 };
  struct seccomp_request request = { .profile = &profile, .baseline = true };
  static const struct call keyctl = { "keyctl", SYS_keyctl, -1, 0, 0, EPERM };
  (void)state;
  assert_exit (in_filter (&request, try_to_load_more, NULL), 0, "prctl");
  assert_exit (in_filter (&request, try_call, &keyctl), EPERM, keyctl.name);
}

/* ---- What must work */

static void *answer (void *arg) { return arg; }

static int make_thread (const void *arg)
{
  static char token;
  pthread_t thread;
  void *ret = NULL;
  (void)arg;
  if (pthread_create (&thread, NULL, answer, &token) != 0 || pthread_join (thread, &ret) != 0)
    return 1;
  return ret == &token ? 0 : 2;
}

static void test_thread (void **state)
{
  (void)state;
  assert_exit (in_filter (&baseline_only, make_thread, NULL), 0, "pthread_create");
  assert_exit (in_filter (&builtin, make_thread, NULL), 0, "pthread_create");
}

static int shell (const void *script)
{
  execl ("/bin/sh", "sh", "-euc", script, "sh", NULL);
  return FAILED;
}

static const struct seccomp_request unfiltered = { 0 };

/* SCRIPT behind the built-in profile and the baseline; skipped where PROBE fails without a filter.
 */
static void assert_works (const char *probe, const char *script)
{
  int status = in_filter (&unfiltered, shell, probe);
  if (!WIFEXITED (status) || WEXITSTATUS (status) != 0)
    {
      print_message ("# skipped: %s\n", probe);
      skip ();
    }
  status = in_filter (&builtin, shell, script);
  if (!WIFEXITED (status) || WEXITSTATUS (status) != 0)
    {
      assert_exit (in_filter (&unfiltered, shell, script), 0, "also without a filter");
      assert_exit (in_filter (&baseline_only, shell, script), 0, "with the baseline alone");
      fail_msg ("with the built-in profile: status %#x", status);
    }
}

#define IN_TEMPORARY_DIRECTORY "d=$(mktemp -d); trap 'rm -rf \"$d\"' EXIT; cd \"$d\"; "

static const char thread_program[] = IN_TEMPORARY_DIRECTORY
    "cat > t.c <<'EOF'\n"
    "#include <pthread.h>\n"
    "#include <stdio.h>\n"
    "static void *f (void *p) { return p; }\n"
    "int main (void) { pthread_t t; void *r = 0;\n"
    "  if (pthread_create (&t, 0, f, &r) || pthread_join (t, &r) || r != &r) return 1;\n"
    "  FILE *p = popen (\"echo hello\", \"r\");\n"
    "  return p && fgetc (p) == 'h' && pclose (p) == 0 ? 0 : 2; }\n"
    "EOF\n";

static void compile_and_run (const char *compiler)
{
  char probe[256], script[2048];
  snprintf (probe, sizeof (probe),
            IN_TEMPORARY_DIRECTORY "echo 'int main (void) { return 0; }' > t.c; "
                                   "%s -o t t.c >/dev/null 2>&1; ./t",
            compiler);
  snprintf (script, sizeof (script), "%s%s -o t t.c -lpthread; ./t", thread_program, compiler);
  assert_works (probe, script);
}

static void test_glibc (void **state)
{
  (void)state;
  compile_and_run ("cc");
}

static void test_glibc_32_bit (void **state)
{
  (void)state;
  compile_and_run ("cc -m32 -static");
}

static void test_musl (void **state)
{
  (void)state;
  compile_and_run ("musl-gcc -static");
}

static void test_busybox (void **state)
{
  (void)state;
  assert_works ("busybox true",
                IN_TEMPORARY_DIRECTORY "busybox seq 3 | busybox tac > x; "
                                       "busybox tar cf - x | busybox tar tf - | busybox grep -q x");
}

static const char node_program[] =
    "const net = require ('net'), cp = require ('child_process');"
    "const { Worker } = require ('worker_threads');"
    "const s = net.createServer (c => c.end ('x')).listen (0, '127.0.0.1', () =>"
    "  net.connect (s.address ().port).on ('data', d => {"
    "    console.log (d + cp.execSync ('echo y'));"
    "    new Worker ('', { eval: true }).on ('exit', () => s.close ()) }));";

static void test_node (void **state)
{
  char script[1024];
  (void)state;
  snprintf (script, sizeof (script), "test \"$(node -e \"%s\")\" = xy", node_program);
  assert_works ("node -e 0 >/dev/null 2>&1", script);
}

static const char python_program[] =
    "import multiprocessing as m, threading, subprocess\n"
    "with m.get_context ('fork').Pool (2) as p: a = p.map (abs, [-1, -2])\n"
    "with m.get_context ('spawn').Pool (1) as p: a += p.map (abs, [-3])\n"
    "t = threading.Thread (target=a.append, args=(4,)); t.start (); t.join ()\n"
    "print (*a, subprocess.check_output (['echo', '5'], text=True))\n";

static void test_python (void **state)
{
  char script[1024];
  (void)state;
  snprintf (script, sizeof (script), "test \"$(python3 -c \"%s\")\" = '1 2 3 4 5'", python_program);
  assert_works ("python3 -c 0 >/dev/null 2>&1", script);
}

static void test_git (void **state)
{
  (void)state;
  assert_works ("git --version >/dev/null 2>&1", IN_TEMPORARY_DIRECTORY
                "HOME=$d; export HOME; git init -q r; cd r; echo x > f; git add f; "
                "git -c user.name=n -c user.email=e commit -qm m; git clone -q . ../c; "
                "git -C ../c gc -q; test \"$(git -C ../c log --format=%s)\" = m");
}

static void test_go (void **state)
{
  (void)state;
  assert_works ("go version >/dev/null 2>&1", IN_TEMPORARY_DIRECTORY
                "GOCACHE=$d/k; HOME=$d; export GOCACHE HOME; "
                "printf 'package main\\nfunc main() { c := make(chan int); go func() { c <- 1 }(); "
                "<-c }\\n' > m.go; go build -o m m.go; ./m");
}

/* ---- The grant of user namespaces: sandboxes inside the sandbox.  Not as root, who needs none. */

static char userns_name[] = "userns", *userns[] = { userns_name };
static const struct seccomp_request with_userns = {
  .baseline = true, .builtin = true, .allowed = userns, .allowed_len = 1
};

static int become_nobody (void)
{
  return geteuid () == 0 && (setgid (65534) < 0 || setuid (65534) < 0) ? -1 : 0;
}

/* As chromium makes its processes: clone with all three at once, then chroot.  */
static int nest (const void *arg)
{
  int status;
  (void)arg;
  if (become_nobody () < 0)
    return FAILED;
  long pid = syscall (SYS_clone, CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | SIGCHLD, 0, 0, 0, 0);
  if (pid < 0)
    return errno;
  if (pid == 0)
    _exit (chroot ("/proc/self/fdinfo") < 0 ? errno : 0);
  if (waitpid ((pid_t)pid, &status, 0) != pid || !WIFEXITED (status))
    return FAILED;
  return WEXITSTATUS (status);
}

static int bubblewrap (const void *arg)
{
  (void)arg;
  if (become_nobody () < 0)
    return FAILED;
  execlp ("bwrap", "bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--proc",
          "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "true", NULL);
  return FAILED;
}

static void assert_nests (int (*body) (const void *), const char *what)
{
  int status = in_filter (&unfiltered, body, NULL);
  if (!WIFEXITED (status) || WEXITSTATUS (status) != 0)
    {
      print_message ("# skipped: %s without a filter\n", what);
      skip ();
    }
  assert_exit (in_filter (&with_userns, body, NULL), 0, what);
  status = in_filter (&builtin, body, NULL);
  assert_true (WIFEXITED (status) && WEXITSTATUS (status) != 0);
}

static void test_userns_clone (void **state)
{
  (void)state;
  assert_nests (nest, "clone with namespaces");
}

static void test_userns_bubblewrap (void **state)
{
  (void)state;
  assert_nests (bubblewrap, "bwrap");
}

int main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_refused),
#ifdef __x86_64__
    cmocka_unit_test (test_refused_32_bit),
#endif
    cmocka_unit_test (test_kill),
    cmocka_unit_test (test_load_needs_no_new_privs),
    cmocka_unit_test (test_one_filter),
    cmocka_unit_test (test_profile_without_seccomp),
    cmocka_unit_test (test_thread),
    cmocka_unit_test (test_glibc),
    cmocka_unit_test (test_glibc_32_bit),
    cmocka_unit_test (test_musl),
    cmocka_unit_test (test_busybox),
    cmocka_unit_test (test_node),
    cmocka_unit_test (test_python),
    cmocka_unit_test (test_git),
    cmocka_unit_test (test_go),
    cmocka_unit_test (test_userns_clone),
    cmocka_unit_test (test_userns_bubblewrap),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
