/* SPDX-License-Identifier: Apache-2.0 */
/* Owns the tables of the kernel's names: capabilities(7), setrlimit(2), namespaces(7), signal(7).
   The numbers come from the kernel's and libc's headers; a name that a header lacks is written out,
   so that what agentrun knows doesn't depend on the machine that compiled it.
   Pure code, runs in any process, needs no privilege.  */
#include "spec/names.h"

#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>

#include "base/str.h"

#ifndef CLONE_NEWTIME
#  define CLONE_NEWTIME 0x00000080
#endif

/* Indexed by the number, so that the order is the kernel's.  */
static const char *const capability_names[] = {
  [CAP_CHOWN] = "CAP_CHOWN",
  [CAP_DAC_OVERRIDE] = "CAP_DAC_OVERRIDE",
  [CAP_DAC_READ_SEARCH] = "CAP_DAC_READ_SEARCH",
  [CAP_FOWNER] = "CAP_FOWNER",
  [CAP_FSETID] = "CAP_FSETID",
  [CAP_KILL] = "CAP_KILL",
  [CAP_SETGID] = "CAP_SETGID",
  [CAP_SETUID] = "CAP_SETUID",
  [CAP_SETPCAP] = "CAP_SETPCAP",
  [CAP_LINUX_IMMUTABLE] = "CAP_LINUX_IMMUTABLE",
  [CAP_NET_BIND_SERVICE] = "CAP_NET_BIND_SERVICE",
  [CAP_NET_BROADCAST] = "CAP_NET_BROADCAST",
  [CAP_NET_ADMIN] = "CAP_NET_ADMIN",
  [CAP_NET_RAW] = "CAP_NET_RAW",
  [CAP_IPC_LOCK] = "CAP_IPC_LOCK",
  [CAP_IPC_OWNER] = "CAP_IPC_OWNER",
  [CAP_SYS_MODULE] = "CAP_SYS_MODULE",
  [CAP_SYS_RAWIO] = "CAP_SYS_RAWIO",
  [CAP_SYS_CHROOT] = "CAP_SYS_CHROOT",
  [CAP_SYS_PTRACE] = "CAP_SYS_PTRACE",
  [CAP_SYS_PACCT] = "CAP_SYS_PACCT",
  [CAP_SYS_ADMIN] = "CAP_SYS_ADMIN",
  [CAP_SYS_BOOT] = "CAP_SYS_BOOT",
  [CAP_SYS_NICE] = "CAP_SYS_NICE",
  [CAP_SYS_RESOURCE] = "CAP_SYS_RESOURCE",
  [CAP_SYS_TIME] = "CAP_SYS_TIME",
  [CAP_SYS_TTY_CONFIG] = "CAP_SYS_TTY_CONFIG",
  [CAP_MKNOD] = "CAP_MKNOD",
  [CAP_LEASE] = "CAP_LEASE",
  [CAP_AUDIT_WRITE] = "CAP_AUDIT_WRITE",
  [CAP_AUDIT_CONTROL] = "CAP_AUDIT_CONTROL",
  [CAP_SETFCAP] = "CAP_SETFCAP",
  [CAP_MAC_OVERRIDE] = "CAP_MAC_OVERRIDE",
  [CAP_MAC_ADMIN] = "CAP_MAC_ADMIN",
  [CAP_SYSLOG] = "CAP_SYSLOG",
  [CAP_WAKE_ALARM] = "CAP_WAKE_ALARM",
  [CAP_BLOCK_SUSPEND] = "CAP_BLOCK_SUSPEND",
  [CAP_AUDIT_READ] = "CAP_AUDIT_READ",
  [38] = "CAP_PERFMON",
  [39] = "CAP_BPF",
  [40] = "CAP_CHECKPOINT_RESTORE",
};

int capability_number (const char *name)
{
  for (size_t i = 0; name != NULL && i < ARRAY_SIZE (capability_names); i++)
    if (strcmp (capability_names[i], name) == 0)
      return (int)i;
  return -1;
}

const char *capability_name (int number)
{
  if (number < 0 || number > capability_last ())
    return NULL;
  return capability_names[number];
}

int capability_last (void) { return (int)ARRAY_SIZE (capability_names) - 1; }

struct named_number
{
  const char *name;
  int number;
};

static const struct named_number rlimits[] = {
  { "RLIMIT_AS", RLIMIT_AS },
  { "RLIMIT_CORE", RLIMIT_CORE },
  { "RLIMIT_CPU", RLIMIT_CPU },
  { "RLIMIT_DATA", RLIMIT_DATA },
  { "RLIMIT_FSIZE", RLIMIT_FSIZE },
  { "RLIMIT_LOCKS", RLIMIT_LOCKS },
  { "RLIMIT_MEMLOCK", RLIMIT_MEMLOCK },
  { "RLIMIT_MSGQUEUE", RLIMIT_MSGQUEUE },
  { "RLIMIT_NICE", RLIMIT_NICE },
  { "RLIMIT_NOFILE", RLIMIT_NOFILE },
  { "RLIMIT_NPROC", RLIMIT_NPROC },
  { "RLIMIT_RSS", RLIMIT_RSS },
  { "RLIMIT_RTPRIO", RLIMIT_RTPRIO },
  { "RLIMIT_RTTIME", RLIMIT_RTTIME },
  { "RLIMIT_SIGPENDING", RLIMIT_SIGPENDING },
  { "RLIMIT_STACK", RLIMIT_STACK },
};

int rlimit_number (const char *name)
{
  for (size_t i = 0; name != NULL && i < ARRAY_SIZE (rlimits); i++)
    if (strcmp (rlimits[i].name, name) == 0)
      return rlimits[i].number;
  return -1;
}

struct namespace_name
{
  const char *type;      /* config-linux.md, "Namespaces" */
  const char *proc_name; /* namespaces(7), /proc/PID/ns */
  uint32_t flag;
};

static const struct namespace_name namespaces[] = {
  { "pid", "pid", CLONE_NEWPID },          { "network", "net", CLONE_NEWNET },
  { "mount", "mnt", CLONE_NEWNS },         { "ipc", "ipc", CLONE_NEWIPC },
  { "uts", "uts", CLONE_NEWUTS },          { "user", "user", CLONE_NEWUSER },
  { "cgroup", "cgroup", CLONE_NEWCGROUP }, { "time", "time", CLONE_NEWTIME },
};

static const struct namespace_name *namespace_find (const char *type)
{
  for (size_t i = 0; type != NULL && i < ARRAY_SIZE (namespaces); i++)
    if (strcmp (namespaces[i].type, type) == 0)
      return &namespaces[i];
  return NULL;
}

uint32_t namespace_flag (const char *type)
{
  const struct namespace_name *found = namespace_find (type);

  return found == NULL ? 0 : found->flag;
}

const char *namespace_type (uint32_t flag)
{
  for (size_t i = 0; i < ARRAY_SIZE (namespaces); i++)
    if (namespaces[i].flag == flag)
      return namespaces[i].type;
  return NULL;
}

const char *namespace_proc_name (const char *type)
{
  const struct namespace_name *found = namespace_find (type);

  return found == NULL ? NULL : found->proc_name;
}

/* The first name of a number is the one that signal_name gives.  */
static const struct named_number signals[] = {
  { "HUP", SIGHUP },       { "INT", SIGINT },     { "QUIT", SIGQUIT },  { "ILL", SIGILL },
  { "TRAP", SIGTRAP },     { "ABRT", SIGABRT },   { "IOT", SIGIOT },    { "BUS", SIGBUS },
  { "FPE", SIGFPE },       { "KILL", SIGKILL },   { "USR1", SIGUSR1 },  { "SEGV", SIGSEGV },
  { "USR2", SIGUSR2 },     { "PIPE", SIGPIPE },   { "ALRM", SIGALRM },  { "TERM", SIGTERM },
  { "STKFLT", SIGSTKFLT }, { "CHLD", SIGCHLD },   { "CLD", SIGCHLD },   { "CONT", SIGCONT },
  { "STOP", SIGSTOP },     { "TSTP", SIGTSTP },   { "TTIN", SIGTTIN },  { "TTOU", SIGTTOU },
  { "URG", SIGURG },       { "XCPU", SIGXCPU },   { "XFSZ", SIGXFSZ },  { "VTALRM", SIGVTALRM },
  { "PROF", SIGPROF },     { "WINCH", SIGWINCH }, { "IO", SIGIO },      { "POLL", SIGPOLL },
  { "PWR", SIGPWR },       { "SYS", SIGSYS },     { "UNUSED", SIGSYS },
};

/* The real-time range as a command line means it, signal(7): libc keeps 32 and 33 for itself.  */
enum
{
  RT_MIN = 34,
  RT_MAX = 64
};

/* "RTMIN", "RTMIN+3", "RTMAX-1", "RTMAX".  */
static int realtime_number (const char *name)
{
  uint64_t offset = 0;
  bool from_min = strncasecmp (name, "RTMIN", 5) == 0;

  if (!from_min && strncasecmp (name, "RTMAX", 5) != 0)
    return -1;
  if (name[5] != '\0'
      && (name[5] != (from_min ? '+' : '-')
          || str_to_u64 (name + 6, 0, RT_MAX - RT_MIN, &offset) < 0))
    return -1;
  return from_min ? RT_MIN + (int)offset : RT_MAX - (int)offset;
}

int signal_number (const char *name)
{
  uint64_t number;

  if (name == NULL)
    return -1;
  if (name[0] >= '0' && name[0] <= '9')
    return str_to_u64 (name, 1, RT_MAX, &number) == 0 ? (int)number : -1;
  if (strncasecmp (name, "SIG", 3) == 0)
    name += 3;
  for (size_t i = 0; i < ARRAY_SIZE (signals); i++)
    if (strcasecmp (signals[i].name, name) == 0)
      return signals[i].number;
  return realtime_number (name);
}

const char *signal_name (int number)
{
  for (size_t i = 0; i < ARRAY_SIZE (signals); i++)
    if (signals[i].number == number)
      return signals[i].name;
  return NULL;
}

/* ---- kernel parameters ---- */

/* namespaces(7), ipc_namespaces(7), uts_namespaces(7), namespaces(7) "/proc/sys/user".  A name that
   ends in a dot stands for all below it.  kernel.hostname is not here: the specification has a
   field for it, which both would write.  */
static const struct
{
  const char *name, *type;
} sysctl_namespaces[] = {
  { "net.", "network" },
  { "fs.mqueue.", "ipc" },
  { "kernel.auto_msgmni", "ipc" },
  { "kernel.msg_next_id", "ipc" },
  { "kernel.msgmax", "ipc" },
  { "kernel.msgmnb", "ipc" },
  { "kernel.msgmni", "ipc" },
  { "kernel.sem", "ipc" },
  { "kernel.sem_next_id", "ipc" },
  { "kernel.shm_next_id", "ipc" },
  { "kernel.shm_rmid_forced", "ipc" },
  { "kernel.shmall", "ipc" },
  { "kernel.shmmax", "ipc" },
  { "kernel.shmmni", "ipc" },
  { "kernel.domainname", "uts" },
  { "user.", "user" },
};

/* Whether NAME, whose components SEPARATOR parts, is TABLE or below it.  */
static bool is_parameter_of (const char *name, char separator, const char *table)
{
  for (; *table != '\0'; name++, table++)
    if (*name != (*table == '.' ? separator : *table))
      return false;
  return *name == '\0' || table[-1] == '.';
}

const char *sysctl_namespace (const char *name)
{
  char separator = name[strcspn (name, "./")];

  for (size_t i = 0; i < ARRAY_SIZE (sysctl_namespaces); i++)
    if (separator != '\0' && is_parameter_of (name, separator, sysctl_namespaces[i].name))
      return sysctl_namespaces[i].type;
  return NULL;
}

/* ---- ids ---- */

uint32_t id_mapping_outside (const struct oci_id_mapping *maps, size_t len, uint32_t id)
{
  for (size_t i = 0; i < len; i++)
    {
      uint32_t offset = id - maps[i].container_id;

      if (id >= maps[i].container_id && offset < maps[i].size
          && (uint64_t)maps[i].host_id + offset < UINT32_MAX)
        return maps[i].host_id + offset;
    }
  return UINT32_MAX;
}
