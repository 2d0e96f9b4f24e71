/* SPDX-License-Identifier: Apache-2.0 */
#include "container/seccomp_agent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "base/str.h"
#include "linux/unix_socket.h"

static bool notifies (const struct oci_seccomp *profile)
{
  for (size_t i = 0; profile != NULL && i < profile->syscalls_len; i++)
    if (str_equal (profile->syscalls[i].action, "SCMP_ACT_NOTIFY"))
      return true;
  return false;
}

int seccomp_agent_connect (const struct plan_seccomp *seccomp, int *ret, struct error *err)
{
  if (seccomp == NULL || !notifies (seccomp->profile))
    return 0;
  return unix_connect (seccomp->profile->listener_path, "the seccomp agent", ret, err);
}

static int make_message (const struct plan_seccomp *seccomp, const char *state_json, pid_t pid,
                         struct arena *arena, char **ret)
{
  static char *fds[] = { (char *)"seccompFd" };
  struct oci_report report = { 0 };
  struct oci_state *state = NULL;
  char *json = NULL;
  size_t len = 0;
  if (oci_state_parse (arena, state_json, strlen (state_json), 0, &report, &state) < 0)
    return -EBADMSG;
  struct oci_container_process_state message = {
    .oci_version = state->oci_version,
    .has_fds = true,
    .fds = fds,
    .fds_len = ARRAY_SIZE (fds),
    .has_pid = true,
    .pid = pid > 0 ? pid : state->pid,
    .metadata = seccomp->profile->listener_metadata,
    .state = state,
  };
  int r = oci_emit (&oci_container_process_state_type, &message, 0, arena, &json, &len);
  if (r == 0 && (*ret = strdup (json)) == NULL)
    r = -ENOMEM;
  return r;
}

int seccomp_agent_message (const struct plan_seccomp *seccomp, const char *state_json, pid_t pid,
                           char **ret, struct error *err)
{
  struct arena *arena = arena_new ();
  int r = arena != NULL ? make_message (seccomp, state_json, pid, arena, ret) : -ENOMEM;
  arena_free (arena);
  return r < 0 ? error_set (err, r, "make the state for the seccomp agent") : 0;
}
