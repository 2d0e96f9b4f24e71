/* SPDX-License-Identifier: Apache-2.0 */
/* A container as commands see it: its directory, its lock, its record; and the life cycle of
   runtime.md.  Runs in the command's process.  */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "arena.h"
#include "base/error.h"
#include "cgroup/cgroup.h"
#include "plan/plan.h"
#include "spec/load.h"
#include "spec/resolve.h"
#include "state/record.h"

/* How long a command waits for another one that works on the same container.  */
#define CONTAINER_LOCK_MS 10000

enum container_status
{
  CONTAINER_CREATING,
  CONTAINER_CREATED,
  CONTAINER_RUNNING,
  CONTAINER_PAUSED,
  CONTAINER_STOPPED
};
const char *container_status_name (enum container_status);

struct container
{
  const char *id; /* borrowed */
  int rootfd;     /* of the state root */
  int dirfd;      /* of the container's state */
  int lock;
  int procfd;
  struct arena *arena;
  struct record
      *record; /* NULL: none was written (an interrupted create), only with ALLOW_BROKEN */
  struct cgroup *cgroup; /* of the create in this process (run), or NULL */
  int start;             /* the connection to its init, parked by this process, or -1 */
};

/* Opens and locks.  ID is checked.  -ENOENT: `container "ID" does not exist`.  ALLOW_BROKEN: a
   missing or unreadable record is no error (delete --force).  Free with container_close.  */
int container_open (const char *root, const char *id, bool allow_broken, struct container *ret,
                    struct error *err);
/* The same for who changes nothing of the record (exec): several may have it open at a time.  */
int container_open_shared (const char *root, const char *id, struct container *ret,
                           struct error *err);
void container_close (struct container *);
#define cleanup_container __attribute__ ((cleanup (container_close)))
#define CONTAINER_INIT                                                                             \
  {                                                                                                \
    .rootfd = -1, .dirfd = -1, .lock = -1, .procfd = -1, .start = -1                               \
  }

int container_status (const struct container *, enum container_status *ret, struct error *err);

/* The state of runtime.md as JSON, malloc'ed; NULL on ENOMEM.  PID 0 leaves it out.  */
char *container_state_json (const struct plan *, pid_t pid, const char *status);

/* The cgroups of the record.  *RET is NULL when there are none.  */
int container_cgroup (const struct container *, struct cgroup **ret, struct error *err);

static inline void container_cgroup_cleanup (struct cgroup **cgroup)
{
  if (*cgroup != NULL)
    cgroup_close (*cgroup);
}
#define cleanup_cgroup __attribute__ ((cleanup (container_cgroup_cleanup)))

struct create_request
{
  const char *root; /* state root */
  const struct plan *plan;
  const struct resolved *resolved;
  const struct bundle *bundle;
  const char *config; /* absolute path of what --config gave, or NULL */
  const char *pid_file;
  const char *pidfd_socket;
  const char *console_socket;
  const char *notify_socket; /* sd_notify(3): the caller's NOTIFY_SOCKET, or NULL */
  int console_fd;            /* a connected socket in its place, borrowed; 0: none */
  unsigned preserve_fds;
  unsigned listen_fds;
  bool no_new_keyring;
  bool detach; /* of run: return once the workload has been executed */
  bool keep;   /* of run: leave the stopped container */
};

/* create: on success init is parked and recorded, and the pid file is there.  On failure nothing is
 * left.  */
struct created;
int container_create (const struct create_request *, struct created *ret, struct error *err);

/* The same for one that goes on to start it: what is open and locked comes back in *RET, and the
   record says "created" to nobody, since container_start_open follows before the lock is given up.
   RET->id is the request's.  */
int container_create_open (const struct create_request *, struct created *ret_created,
                           struct container *ret, struct error *err);

/* start of a container that is open and whose record was judged by this process.  */
int container_start_open (struct container *, struct error *err);

/* delete --force of a container that is open, locked or not.  */
int container_delete_open (struct container *, struct error *err);

/* start: returns when the workload has been executed.  EXPECTED_POLICY is the digest of the policy
   in force now (lifecycle.record).  */
int container_start (const char *root, const char *id, const char *expected_policy,
                     struct error *err);

/* kill: SIGNAL to init, or with ALL to every process in the cgroup.  A stopped container is an
   error that says "container not running", with ALL it is success.  */
int container_kill (const char *root, const char *id, int signal, bool all, struct error *err);

/* delete: what is left of a stopped or created container.  FORCE kills first, and an unknown id is
 * success.  */
int container_delete (const char *root, const char *id, bool force, struct error *err);

/* pause and resume: the freezer of the container's cgroup.  Pausing a paused container is an error,
   as is resuming one that isn't ("container not paused").  A pause that fails leaves nothing
   frozen.  */
int container_pause (const char *root, const char *id, struct error *err);
int container_resume (const char *root, const char *id, struct error *err);

/* events: statistics now, and with ONCE false every INTERVAL_MS until the container has ended;
   beside them an event for each process that the kernel kills for want of memory.  SAY gets each as
   a line of JSON.  */
struct events_request
{
  bool once;
  int64_t interval_ms;
  int (*say) (const char *line, struct error *err);
};
int container_events (const char *root, const char *id, const struct events_request *,
                      struct error *err);

/* update: writes CHANGE to the cgroups and RESULT, all resources that hold then, to the record
   (both as struct update_admission has them).  C is open and locked.  A stopped container is an
   error.  */
int container_update (struct container *c, const struct oci_resources *change,
                      const struct oci_resources *result, struct error *err);

/* Writes LINES to the schemata of the container's resctrl group, as resctrl of the kernel's
   documentation takes them, and records them.  -ENOENT for a container that has none.  */
int container_update_rdt (struct container *c, char *const *lines, size_t len, struct error *err);

/* One line of `list`.  Text in the arena or static, never NULL but for PROBLEM, which says what is
   wrong with a broken record.  */
struct container_entry
{
  const char *id;
  pid_t pid; /* 0 when stopped */
  const char *status;
  const char *bundle, *rootfs;
  const char *created; /* RFC 3339 */
  const char *owner;   /* account name, or "#UID" */
  const char *problem;
};

/* All containers below ROOT, by id.  A missing ROOT has none; one that vanishes meanwhile is left
   out; a broken record is an entry with status "broken".  */
int container_list (const char *root, struct arena *arena, struct container_entry **ret,
                    size_t *ret_len, struct error *err);

/* Every process in the container's cgroup, as the host sees it.  COMMAND is the process's own text:
   quote it.  */
struct container_process
{
  pid_t pid;
  const char *command;
};
int container_processes (const char *root, const char *id, struct arena *arena,
                         struct container_process **ret, size_t *ret_len, struct error *err);

/* exec: a process beside the container's own.  */
struct exec_request
{
  const struct plan_process *process; /* admitted, hardened by the recorded plan */
  const char *pid_file;
  const char *pidfd_socket;
  const char *console_socket; /* NULL with a terminal: it is relayed to the caller's */
  const char *cgroup;         /* a path below the container's group, or NULL */
  unsigned preserve_fds;
  bool detach;        /* return when the program runs */
  bool ignore_paused; /* wait for the end of a pause */
};

/* C is open, its lock shared; it is unlocked once the process is in the container's cgroup.  On
   success the program was executed; *RET is its exit code or 128 + signal, 0 with DETACH.  The
   message for a program that is missing or can't be executed is init's.  */
int container_exec (struct container *c, const struct exec_request *, int *ret, struct error *err);

/* run: create, start, forward signals, wait, delete.  *RET is the exit code, 128 + N for signal N;
   0 with `detach`, which neither waits nor deletes.  */
int container_run (const struct create_request *, int *ret, struct error *err);

/* facts.recorded and facts.writers: the namespaces of the running containers below ROOT, for the
   judgement of one that is to be joined, and the directories that they may write.  A record that
   can't be read is left out: what isn't recorded isn't admitted.  */
struct facts;
int container_recorded (const char *root, struct arena *, struct facts *, struct error *err);
