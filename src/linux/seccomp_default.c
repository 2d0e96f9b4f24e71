/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in profile, for a configuration without one: what is listed is allowed, everything else
   answers EPERM.  Also without the baseline in front it must hold, so that clone and unshare look
   at their flags here as well.  A name that one ABI lacks costs nothing there.

   In: what an ordinary program without capabilities uses, and what the kernel checks by itself for
   everybody.  Out: what needs a capability that a sandbox never has, what acts on the host as a
   whole, what is obsolete.  Runs in the parent; pure code.  */
#include <errno.h>
#include <sched.h>
#include <sys/personality.h>

#include "base/str.h"
#include "linux/seccomp_internal.h"

#define NEW_NAMESPACES                                                                             \
  (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID      \
   | CLONE_NEWNET)
#define NEW_TIME 0x00000080 /* CLONE_NEWTIME; unshare only */

static const char *const plain[] = {
  /* Files by descriptor: bytes.  */
  "read", "write", "readv", "writev", "pread64", "pwrite64", "preadv", "pwritev", "preadv2",
  "pwritev2", "lseek", "_llseek", "readahead", "sendfile", "sendfile64", "splice", "tee",
  "vmsplice", "copy_file_range", "fallocate", "fadvise64", "fadvise64_64", "arm_fadvise64_64",
  "truncate", "truncate64", "ftruncate", "ftruncate64", "fsync", "fdatasync", "sync", "syncfs",
  "sync_file_range", "sync_file_range2", "arm_sync_file_range", "cachestat",

  /* Descriptors themselves.  ioctl is needed by everything; its dangerous commands are the
     baseline's business.  */
  "open", "openat", "openat2", "creat", "close", "close_range", "dup", "dup2", "dup3", "fcntl",
  "fcntl64", "flock", "ioctl", "pipe", "pipe2", "eventfd", "eventfd2", "memfd_create",
  "memfd_secret",

  /* Waiting on descriptors.  */
  "poll", "ppoll", "ppoll_time64", "select", "_newselect", "pselect6", "pselect6_time64",
  "epoll_create", "epoll_create1", "epoll_ctl", "epoll_ctl_old", "epoll_wait", "epoll_wait_old",
  "epoll_pwait", "epoll_pwait2", "signalfd", "signalfd4", "inotify_init", "inotify_init1",
  "inotify_add_watch", "inotify_rm_watch", "fanotify_mark",

  /* Names in the file system.  */
  "access", "faccessat", "faccessat2", "stat", "stat64", "lstat", "lstat64", "fstat", "fstat64",
  "fstatat64", "newfstatat", "statx", "statfs", "statfs64", "fstatfs", "fstatfs64", "statmount",
  "listmount", "getcwd", "chdir", "fchdir", "getdents", "getdents64", "mkdir", "mkdirat", "rmdir",
  "link", "linkat", "symlink", "symlinkat", "readlink", "readlinkat", "unlink", "unlinkat",
  "rename", "renameat", "renameat2", "mknod", "mknodat", "umask", "name_to_handle_at",

  /* Their modes, owners, times and attributes.  */
  "chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "chown32", "fchown", "fchown32", "lchown",
  "lchown32", "fchownat", "utime", "utimes", "futimesat", "utimensat", "utimensat_time64",
  "getxattr", "lgetxattr", "fgetxattr", "setxattr", "lsetxattr", "fsetxattr", "listxattr",
  "llistxattr", "flistxattr", "removexattr", "lremovexattr", "fremovexattr", "getxattrat",
  "setxattrat", "listxattrat", "removexattrat", "file_getattr", "file_setattr",

  /* Memory.  */
  "brk", "mmap", "mmap2", "munmap", "mremap", "mprotect", "madvise", "mincore", "msync", "mlock",
  "mlock2", "mlockall", "munlock", "munlockall", "remap_file_pages", "membarrier", "mseal",
  "pkey_alloc", "pkey_free", "pkey_mprotect", "map_shadow_stack",

  /* Processes and threads: begin, end, wait.  */
  "fork", "vfork", "execve", "execveat", "exit", "exit_group", "wait4", "waitid", "waitpid",
  "pidfd_open", "pidfd_send_signal", "process_mrelease", "set_tid_address", "set_robust_list",
  "get_robust_list", "rseq", "restart_syscall", "ptrace",

  /* Locks between threads.  */
  "futex", "futex_time64", "futex_waitv", "futex_wake", "futex_wait", "futex_requeue",

  /* Who and where a process is.  Changing ids without a capability only moves between the ids that
     it has.  */
  "getpid", "getppid", "gettid", "getpgid", "getpgrp", "setpgid", "getsid", "setsid", "getuid",
  "getuid32", "geteuid", "geteuid32", "getgid", "getgid32", "getegid", "getegid32", "getresuid",
  "getresuid32", "getresgid", "getresgid32", "getgroups", "getgroups32", "setuid", "setuid32",
  "setgid", "setgid32", "setreuid", "setreuid32", "setregid", "setregid32", "setresuid",
  "setresuid32", "setresgid", "setresgid32", "setfsuid", "setfsuid32", "setfsgid", "setfsgid32",
  "setgroups", "setgroups32", "capget", "capset", "prctl", "uname",

  /* Giving up more rights.  */
  "seccomp", "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self",
  "lsm_get_self_attr", "lsm_list_modules",

  /* Signals.  */
  "kill", "tkill", "tgkill", "pause", "alarm", "rt_sigaction", "rt_sigprocmask", "rt_sigpending",
  "rt_sigsuspend", "rt_sigtimedwait", "rt_sigtimedwait_time64", "rt_sigqueueinfo",
  "rt_tgsigqueueinfo", "rt_sigreturn", "sigreturn", "sigprocmask", "sigaltstack",

  /* Scheduling and limits; raising one needs a capability.  */
  "sched_yield", "sched_getaffinity", "sched_setaffinity", "sched_getattr", "sched_setattr",
  "sched_getparam", "sched_setparam", "sched_getscheduler", "sched_setscheduler",
  "sched_get_priority_max", "sched_get_priority_min", "sched_rr_get_interval",
  "sched_rr_get_interval_time64", "getpriority", "setpriority", "ioprio_get", "ioprio_set",
  "getcpu", "getrlimit", "ugetrlimit", "setrlimit", "prlimit64", "getrusage", "sysinfo", "times",

  /* Time: reading it, waiting for it.  Setting the host's clock needs CAP_SYS_TIME; adjtimex and
     clock_adjtime also read.  */
  "time", "gettimeofday", "clock_gettime", "clock_gettime64", "clock_getres", "clock_getres_time64",
  "clock_nanosleep", "clock_nanosleep_time64", "nanosleep", "adjtimex", "clock_adjtime",
  "clock_adjtime64", "getitimer", "setitimer", "timer_create", "timer_delete", "timer_getoverrun",
  "timer_gettime", "timer_gettime64", "timer_settime", "timer_settime64", "timerfd_create",
  "timerfd_gettime", "timerfd_gettime64", "timerfd_settime", "timerfd_settime64", "getrandom",

  /* Sockets; the families are the baseline's business.  */
  "socket", "socketpair", "bind", "listen", "accept", "accept4", "connect", "shutdown",
  "getsockname", "getpeername", "getsockopt", "setsockopt", "send", "sendto", "sendmsg", "sendmmsg",
  "recv", "recvfrom", "recvmsg", "recvmmsg", "recvmmsg_time64",

  /* System V and POSIX IPC, in the container's own namespace.  */
  "ipc", "semget", "semctl", "semop", "semtimedop", "semtimedop_time64", "shmget", "shmctl",
  "shmat", "shmdt", "msgget", "msgctl", "msgsnd", "msgrcv", "mq_open", "mq_unlink", "mq_notify",
  "mq_getsetattr", "mq_timedsend", "mq_timedsend_time64", "mq_timedreceive",
  "mq_timedreceive_time64",

  /* Asynchronous I/O of the older kind.  */
  "io_setup", "io_destroy", "io_submit", "io_cancel", "io_getevents", "io_pgetevents",
  "io_pgetevents_time64",

  /* Set-up of a thread by libc, and what only one architecture has.  */
  "arch_prctl", "modify_ldt", "set_thread_area", "get_thread_area", "breakpoint", "cacheflush",
  "set_tls"
};

/* Beside reading it (all bits set): Linux, 32-bit Linux, and both with the version number of 2.6.
   The rest are bits such as ADDR_NO_RANDOMIZE that make an exploit easier.  */
#define PERSONALITIES 5
static const uint64_t personalities[PERSONALITIES] = { PER_LINUX, PER_LINUX32, UNAME26,
                                                       UNAME26 | PER_LINUX32, 0xffffffff };

/* What a grant opens here; seccomp_baseline.c says why.  chroot: chromium gives up its file system
   by it, inside a user namespace of its own.  */
static const struct
{
  const char *group;
  const char *const names[8];
} opened[] = {
  { "userns", { "clone", "unshare", "mount", "umount", "umount2", "pivot_root", "chroot" } },
  { "io_uring", { "io_uring_setup", "io_uring_enter", "io_uring_register" } },
  { "perf_event_open", { "perf_event_open" } },
  { "keyctl", { "add_key", "request_key", "keyctl" } },
  { "ptrace_other", { "process_vm_readv", "process_vm_writev" } },
  { "userfaultfd", { "userfaultfd" } },
};

/* Names and words are written through by nobody; the generated structs just have no const.  */
#define UNCONST(type, p) ((type)(uintptr_t)(p))

static struct oci_seccomp_syscall *add (struct seccomp_default *d, const char *action,
                                        const char *const *names, size_t names_len)
{
  struct oci_seccomp_syscall *rule = &d->rules[d->profile.syscalls_len++];
  *rule = (struct oci_seccomp_syscall){ .has_names = true,
                                        .names = UNCONST (char **, names),
                                        .names_len = names_len,
                                        .action = UNCONST (char *, action) };
  return rule;
}

static void add_if (struct seccomp_default *d, const char *const *name, struct oci_seccomp_arg arg)
{
  struct oci_seccomp_syscall *rule = add (d, "SCMP_ACT_ALLOW", name, 1);
  struct oci_seccomp_arg *kept = &d->args[d->args_len++];
  arg.has_index = arg.has_value = true;
  *kept = arg;
  rule->has_args = true;
  rule->args = kept;
  rule->args_len = 1;
}

/* Allowed when none of FLAGS is set in the first argument.  */
static void add_without_flags (struct seccomp_default *d, const char *const *name, uint64_t flags)
{
  add_if (d, name,
          (struct oci_seccomp_arg){ .value = flags,
                                    .has_value_two = true,
                                    .op = UNCONST (char *, "SCMP_CMP_MASKED_EQ") });
}

static void add_with_arguments (struct seccomp_default *d)
{
  static const char *const clone[] = { "clone" }, *const unshare[] = { "unshare" };
  static const char *const clone3[] = { "clone3" }, *const personality[] = { "personality" };
  add_without_flags (d, clone, NEW_NAMESPACES);
  add_without_flags (d, unshare, NEW_NAMESPACES | NEW_TIME);
  for (size_t i = 0; i < PERSONALITIES; i++)
    add_if (d, personality,
            (struct oci_seccomp_arg){ .value = personalities[i],
                                      .op = UNCONST (char *, "SCMP_CMP_EQ") });
  /* Its flags are behind a pointer; libc falls back to clone.  */
  struct oci_seccomp_syscall *rule = add (d, "SCMP_ACT_ERRNO", clone3, 1);
  rule->has_errno_ret = true;
  rule->errno_ret = ENOSYS;
}

static bool is_allowed (const char *group, char *const *allowed, size_t allowed_len)
{
  for (size_t i = 0; i < allowed_len; i++)
    if (str_equal (group, allowed[i]))
      return true;
  return false;
}

static void add_opened (struct seccomp_default *d, const char *const *names)
{
  size_t n = 0;
  while (names[n] != NULL)
    n++;
  add (d, "SCMP_ACT_ALLOW", names, n);
}

void seccomp_default_profile (char *const *allowed, size_t allowed_len, struct seccomp_default *ret)
{
  static const char *const architectures[] = { "SCMP_ARCH_X86_64", "SCMP_ARCH_X86",
                                               "SCMP_ARCH_AARCH64", "SCMP_ARCH_ARM" };
  *ret = (struct seccomp_default){ 0 };
  ret->profile.default_action = UNCONST (char *, "SCMP_ACT_ERRNO");
  ret->profile.has_architectures = true;
  ret->profile.architectures = UNCONST (char **, architectures);
  ret->profile.architectures_len = ARRAY_SIZE (architectures);
  ret->profile.has_syscalls = true;
  ret->profile.syscalls = ret->rules;
  add (ret, "SCMP_ACT_ALLOW", plain, ARRAY_SIZE (plain));
  add_with_arguments (ret);
  for (size_t i = 0; i < ARRAY_SIZE (opened); i++)
    if (is_allowed (opened[i].group, allowed, allowed_len))
      add_opened (ret, opened[i].names);
}
