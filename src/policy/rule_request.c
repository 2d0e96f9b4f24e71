/* SPDX-License-Identifier: Apache-2.0 */
/* Rules bundle.owner, container.id, cli.unsafe and process.descriptor: what comes with the call and
   not with the configuration.  Pure code.  */
#include <string.h>
#include <sys/sysmacros.h>

#include "policy/internal.h"
#include "spec/validate.h"

/* ---- bundle.owner ---- */

/* Accounts of people and services have ids below; subuid(5) gives out those above (SUB_UID_MIN). */
#define ACCOUNTS_END 65536

/* Podman gives the bundle to the root of the container's own user namespace: below a rootless
   engine a sub-id of the caller's, else an id that is no account's.  In a container neither has a
   way to the bundle.  */
static bool is_container_root (const struct evaluation *ev, uint32_t uid)
{
  return namespace_entry (ev->config, "user") != NULL && uid != UINT32_MAX
         && (facts_are_rootless (ev->facts) || uid >= ACCOUNTS_END)
         && uid == config_host_uid (ev->config, 0);
}

static void check_owner (struct evaluation *ev, const char *what, bool known, uint32_t uid,
                         uint32_t mode)
{
  const struct fact_host *host = ev->facts->host;
  struct finding *f = NULL;

  if (!known)
    f = ev_report (ev, RULE_BUNDLE_OWNER, ACTION_REJECT, "",
                   "the owner of the %s could not be found out", what);
  else if (!fact_uid_is_root (ev->facts, uid)
           && (host == NULL || !host->has_uid || host->uid != uid) && !is_container_root (ev, uid))
    f = ev_report (ev, RULE_BUNDLE_OWNER, ACTION_REJECT, "",
                   "the %s belongs to uid %u, who could change what was judged", what, uid);
  else if ((mode & 0022) != 0)
    f = ev_report (ev, RULE_BUNDLE_OWNER, ACTION_REJECT, "",
                   "the %s is writable by others (mode %04o)", what, mode & 07777);
  ev_fix (ev, f, "chown it to root and chmod go-w it");
}

static void check_bundle (struct evaluation *ev)
{
  const struct facts *facts = ev->facts;

  check_owner (ev, "bundle",
               facts->bundle_error == NULL && facts->has_bundle_uid && facts->has_bundle_mode,
               facts->bundle_uid, facts->bundle_mode);
  check_owner (ev, "config.json", facts->has_config_uid && facts->has_config_mode,
               facts->config_uid, facts->config_mode);
}

/* ---- container.id, cli.unsafe ---- */

static void check_id (struct evaluation *ev)
{
  struct error error = { 0 };

  if (ev->request->id == NULL || container_id_check (ev->request->id, &error) == 0)
    return; /* `check` of a bundle has no id yet */
  ev_report (ev, RULE_CONTAINER_ID, ACTION_REJECT, "", "%s", error.message);
}

static void check_flags (struct evaluation *ev)
{
  struct finding *f = NULL;

  if (ev->request->no_pivot)
    f = ev_report (ev, RULE_CLI_UNSAFE, ACTION_REJECT, "",
                   "--no-pivot leaves the host's root file system within reach");
  ev_fix (ev, f, "remove --no-pivot");
  f = NULL;
  if (ev->request->no_new_keyring)
    f = ev_report (ev, RULE_CLI_UNSAFE, ACTION_REJECT, "",
                   "--no-new-keyring shares the caller's session keyring");
  ev_fix (ev, f, "remove --no-new-keyring");
  f = NULL;
  if (ev->request->cgroup_disabled)
    f = ev_report (ev, RULE_CLI_UNSAFE, ACTION_REJECT, "",
                   "--cgroup-manager=disabled leaves the container without limits and without a "
                   "device filter");
  ev_fix (ev, f, "remove --cgroup-manager=disabled");
}

void check_request (struct evaluation *ev)
{
  check_bundle (ev);
  check_id (ev);
  check_flags (ev);
}

/* ---- process.descriptor ---- */

#define FIRST_EXTRA 3 /* 0 to 2 are the engine's pipes or terminal, the rest was asked for */

/* Character devices that a process may be given: major, minor (-1: any).  */
static const struct
{
  int major, minor;
} plain_devices[] = {
  { 1, 3 },    { 1, 5 },    { 1, 7 },    { 1, 8 },    { 1, 9 }, /* null zero full random urandom */
  { 4, -1 },   { 5, 0 },    { 5, 1 },    { 5, 2 },              /* terminals */
  { 136, -1 }, { 137, -1 }, { 138, -1 }, { 139, -1 }, { 140, -1 },
  { 141, -1 }, { 142, -1 }, { 143, -1 },
};

/* Anonymous inodes that name nothing outside of the process that has them.  */
static const char *const plain_anonymous[] = {
  "anon:[eventfd]", "anon:[eventpoll]", "anon:[timerfd]", "anon:[signalfd]", "anon:inotify",
};

static const char *device_problem (const struct fact_descriptor *d)
{
  for (size_t i = 0; d->has_rdev && i < ARRAY_SIZE (plain_devices); i++)
    if (major (d->rdev) == (unsigned)plain_devices[i].major
        && (plain_devices[i].minor < 0 || minor (d->rdev) == (unsigned)plain_devices[i].minor))
      return NULL;
  return "is a device";
}

static const char *file_problem (const struct fact_descriptor *d)
{
  if (d->number < FIRST_EXTRA || str_equal (d->access, "read"))
    return NULL;
  return "is a file open for writing";
}

static const char *socket_problem (const struct fact_descriptor *d)
{
  if (d->family == NULL)
    return "is a socket of an unknown family";
  if (d->number >= FIRST_EXTRA && str_equal (d->family, "unix"))
    return "is a Unix socket, and a socket can't be granted by descriptor";
  return NULL;
}

static const char *directory_problem (const struct fact_descriptor *d)
{
  (void)d;
  return "is an open directory, a way out of the root file system";
}

static const char *path_problem (const struct fact_descriptor *d)
{
  (void)d;
  return "is an O_PATH descriptor, a way out of the root file system";
}

static const char *block_problem (const struct fact_descriptor *d)
{
  (void)d;
  return "is a block device";
}

static const char *no_problem (const struct fact_descriptor *d)
{
  (void)d;
  return NULL;
}

/* What is not listed is refused: nsfs, pidfd, bpf, perf_event, io_uring, userfaultfd, and whatever
   comes next.  */
static const struct
{
  const char *kind;
  const char *(*problem) (const struct fact_descriptor *);
} descriptor_kinds[] = {
  { "file", file_problem },           { "memfd", file_problem },    { "fifo", no_problem },
  { "char", device_problem },         { "socket", socket_problem }, { "block", block_problem },
  { "directory", directory_problem }, { "path", path_problem },
};

static const char *descriptor_problem (const struct fact_descriptor *d)
{
  if (d->has_mount && d->mount)
    return "is a mount";
  for (size_t i = 0; i < ARRAY_SIZE (descriptor_kinds); i++)
    if (str_equal (d->kind, descriptor_kinds[i].kind))
      return descriptor_kinds[i].problem (d);
  for (size_t i = 0; i < ARRAY_SIZE (plain_anonymous); i++)
    if (str_equal (d->kind, plain_anonymous[i]))
      return NULL;
  return "is a handle of the kernel";
}

static const struct fact_descriptor *find_descriptor (const struct facts *facts, unsigned number)
{
  for (size_t i = 0; i < facts->descriptors_len; i++)
    if (facts->descriptors[i].has_number && facts->descriptors[i].number == number)
      return &facts->descriptors[i];
  return NULL;
}

static void check_descriptor (struct evaluation *ev, unsigned number)
{
  const struct fact_descriptor *d = find_descriptor (ev->facts, number);
  struct finding *f = NULL;
  const char *problem;

  if (d == NULL)
    {
      ev_report (ev, RULE_PROCESS_DESCRIPTOR, ACTION_REJECT, "",
                 "descriptor %u reaches the process and was not looked at", number);
      return;
    }
  if (str_equal (d->error, "EBADF"))
    return; /* not open: nothing reaches the process */
  if (d->error != NULL)
    f = ev_report (ev, RULE_PROCESS_DESCRIPTOR, ACTION_REJECT, "",
                   "descriptor %u reaches the process and can't be judged (%s)", number, d->error);
  else if ((problem = descriptor_problem (d)) != NULL)
    f = ev_report (ev, RULE_PROCESS_DESCRIPTOR, ACTION_REJECT, "",
                   "descriptor %u, which reaches the process, %s", number, problem);
  ev_fix (ev, f,
          number < FIRST_EXTRA ? "start the container with pipes or a terminal as its "
                                 "standard streams"
                               : "remove --preserve-fds, or pass less");
}

void check_descriptors (struct evaluation *ev)
{
  unsigned end = FIRST_EXTRA;

  if (__builtin_add_overflow (end, ev->request->preserve_fds, &end)
      || __builtin_add_overflow (end, ev->request->listen_fds, &end) || end > DESCRIPTORS_MAX)
    {
      ev_report (ev, RULE_PROCESS_DESCRIPTOR, ACTION_REJECT, "",
                 "more descriptors are to be passed than can be judged");
      return;
    }
  for (unsigned number = 0; number < end; number++)
    check_descriptor (ev, number);
}
