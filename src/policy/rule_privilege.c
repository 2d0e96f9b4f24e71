/* SPDX-License-Identifier: Apache-2.0 */
/* Rules privilege.new-privileges, lsm.* and process.cwd.  Pure code.  */
#include <string.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "policy/internal.h"

void check_privileges (struct evaluation *ev)
{
  struct oci_process *process = ev->process;
  struct tightening t = {
    .rule = RULE_PRIVILEGE_NEW_PRIVILEGES,
    .pointer = ev_process (ev, "/noNewPrivileges"),
    .old = process->has_no_new_privileges ? "false" : "null",
    .new = "true",
    .fix = "add --security-opt no-new-privileges (Kubernetes: allowPrivilegeEscalation: false)",
  };

  if (process->has_no_new_privileges && process->no_new_privileges)
    return;
  if (ev_tighten (ev, &t,
                  "set-id programs and file capabilities could give the process new "
                  "privileges"))
    {
      process->has_no_new_privileges = true;
      process->no_new_privileges = true;
    }
}

/* SELinux types that confine nothing.  */
static const char *const unconfined_types[] = { "spc_t", "unconfined_t", "container_runtime_t" };

/* The third field of user:role:type:level.  */
static bool label_has_type (const char *label, const char *type)
{
  const char *field = label;

  for (int i = 0; i < 2; i++)
    {
      field = strchr (field, ':');
      if (field == NULL)
        return false;
      field++;
    }
  return strcspn (field, ":") == strlen (type) && strncmp (field, type, strlen (type)) == 0;
}

/* Of the container only: an exec has the container's own label where it has none.  */
static void check_lsm_missing (struct evaluation *ev)
{
  const struct fact_host *host = ev->facts->host;
  const struct oci_process *process = ev->process;
  struct finding *f;
  bool apparmor;

  if (ev->container != NULL || host == NULL || host->lsm == NULL)
    return;
  apparmor = str_equal (host->lsm, "apparmor");
  const char *label = apparmor ? process->apparmor_profile : process->selinux_label;
  if (label != NULL && label[0] != '\0')
    return;
  f = ev_report (ev, RULE_LSM_MISSING, ACTION_WARN,
                 ev_process (ev, apparmor ? "/apparmorProfile" : "/selinuxLabel"),
                 "the host has %s, and the process has no %s", apparmor ? "AppArmor" : "SELinux",
                 apparmor ? "profile" : "label");
  ev_fix (ev, f, "let the engine set one (%s)",
          apparmor ? "docker-default, or --security-opt apparmor=PROFILE"
                   : "selinux-enabled in its configuration");
}

void check_lsm (struct evaluation *ev)
{
  const struct oci_process *process = ev->process;
  struct finding *f;

  check_lsm_missing (ev);
  if (process->apparmor_profile != NULL
      && (str_equal (process->apparmor_profile, "unconfined")
          || str_has_prefix (process->apparmor_profile, "unconfined//")))
    {
      f = ev_report (ev, RULE_LSM_UNCONFINED, ACTION_REJECT, ev_process (ev, "/apparmorProfile"),
                     "the AppArmor profile is \"unconfined\"");
      ev_fix (ev, f, "remove --security-opt apparmor=unconfined");
    }
  for (size_t i = 0; process->selinux_label != NULL && i < ARRAY_SIZE (unconfined_types); i++)
    {
      if (!label_has_type (process->selinux_label, unconfined_types[i]))
        continue;
      f = ev_report (ev, RULE_LSM_UNCONFINED, ACTION_REJECT, ev_process (ev, "/selinuxLabel"),
                     "the SELinux type %s confines nothing", unconfined_types[i]);
      ev_fix (ev, f, "remove --security-opt label=disable or label=type:%s", unconfined_types[i]);
    }
}

/* Below these the working directory could name an open descriptor of the runtime.  */
static const char *const bad_cwds[] = { "/proc", "/dev/fd" };

void check_cwd (struct evaluation *ev)
{
  const char *cwd = ev->process->cwd;
  cleanup_free char *normal = NULL;
  char quoted[STR_QUOTE_MAX];
  struct finding *f = NULL;

  if (cwd == NULL)
    return;
  if (cwd[0] != '/')
    f = ev_report (ev, RULE_PROCESS_CWD, ACTION_REJECT, ev_process (ev, "/cwd"),
                   "the working directory %s is not absolute", str_quote (cwd, quoted));
  normal = path_normalize (cwd);
  ev->findings->failed |= normal == NULL;
  for (size_t i = 0; normal != NULL && cwd[0] == '/' && i < ARRAY_SIZE (bad_cwds); i++)
    if (path_is_within (normal, bad_cwds[i]))
      f = ev_report (ev, RULE_PROCESS_CWD, ACTION_REJECT, ev_process (ev, "/cwd"),
                     "the working directory %s lies below %s and could name an open descriptor",
                     str_quote (cwd, quoted), bad_cwds[i]);
  ev_fix (ev, f, "set --workdir to a directory of the image");
}
