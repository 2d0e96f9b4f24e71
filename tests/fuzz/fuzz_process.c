/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: the process of an exec, judged against a container's own.  Nobody may get more than
   the container has: no user, capability or privilege.  Needs no privileges.  */
#include <errno.h>
#include <string.h>

#include "fuzz.h"
#include "policy/internal.h"
#include "spec/validate.h"

static const char container_json[] =
    "{\"args\":[\"/bin/true\"],\"cwd\":\"/\",\"noNewPrivileges\":true,"
    "\"user\":{\"uid\":1000,\"gid\":1000,\"additionalGids\":[1000]},"
    "\"capabilities\":{},\"rlimits\":[{\"type\":\"RLIMIT_CORE\",\"soft\":1,\"hard\":1}]}";

static struct policy *policy;

static bool has_capability (const struct oci_process *p)
{
  const struct oci_capabilities *c = p->capabilities;

  return c != NULL
         && c->bounding_len + c->effective_len + c->permitted_len + c->inheritable_len
                    + c->ambient_len
                > 0;
}

static void judge (const struct oci_process *process, struct arena *arena)
{
  struct oci_report report = { 0 };
  struct oci_process *container = NULL, *admitted = NULL;
  struct findings findings = { .arena = arena };
  struct questions *questions = NULL;
  struct facts facts = { 0 };
  struct error err = { 0 };
  bool denied = false;

  require (oci_parse (&oci_process_type, arena, container_json, strlen (container_json), 0, &report,
                      (void **)&container)
               == 0,
           "the container's process is one");
  spec_validate_process (process, &findings);
  bool invalid = findings_reject (&findings);
  const struct policy_exec_request request = { .process = process, .container = container };
  require (policy_query_exec (policy, &request, arena, &questions, &err) == 0, "it can be asked");
  require (policy_admit_exec (policy, &request, &facts, arena, &findings, &admitted, &denied, &err)
               == 0,
           "it is decided");
  if (invalid || denied)
    return;
  require (admitted->user == NULL || admitted->user->uid == 1000, "the user is the container's");
  require (!has_capability (admitted), "no capability is gained");
  require (admitted->no_new_privileges, "no privilege can be gained");
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  cleanup_arena struct arena *arena = arena_new ();
  struct oci_report report = { 0 };
  struct oci_process *process = NULL;
  struct error err = { 0 };

  if (policy == NULL)
    require (policy_load ("builtin:default", "agentrun", false, &policy, &err) == 0,
             "the profile can be loaded");
  if (oci_parse (&oci_process_type, arena, (const char *)data, size, 0, &report, (void **)&process)
      == 0)
    judge (process, arena);
  return 0;
}
