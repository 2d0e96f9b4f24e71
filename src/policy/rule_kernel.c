/* SPDX-License-Identifier: Apache-2.0 */
/* Rules sysctl.name, cgroup.path, scheduling.special and annotation.unsafe: fields by which a
   configuration changes how the kernel or the runtime works.  Pure code.  */
#include <ctype.h>
#include <string.h>

#include "policy/internal.h"
#include "spec/names.h"

/* ---- sysctl.name ---- */

/* Settings of one namespace only, which engines and Kubernetes take for safe.  */
static const char *const safe_sysctls[] = {
  "kernel.shm_rmid_forced",           "net.ipv4.ip_local_port_range",
  "net.ipv4.ip_local_reserved_ports", "net.ipv4.ip_unprivileged_port_start",
  "net.ipv4.ping_group_range",        "net.ipv4.tcp_fin_timeout",
  "net.ipv4.tcp_keepalive_intvl",     "net.ipv4.tcp_keepalive_probes",
  "net.ipv4.tcp_keepalive_time",      "net.ipv4.tcp_rmem",
  "net.ipv4.tcp_syncookies",          "net.ipv4.tcp_wmem",
};

/* The kernel takes net/ipv4/x as well (sysctl.d(5)).  */
static char *dotted (struct evaluation *ev, const char *name)
{
  char *made = ev_printf (ev, "%s", name);

  for (char *c = made; c != NULL && *c != '\0'; c++)
    if (*c == '/')
      *c = '.';
  return made;
}

static const char *sysctl_problem (struct evaluation *ev, const char *name)
{
  struct grant_query query = { .kind = "sysctl", .name = name };
  const char *type = sysctl_namespace (name);
  bool safe = false;

  for (size_t i = 0; i < ARRAY_SIZE (safe_sysctls); i++)
    safe |= str_equal (safe_sysctls[i], name);
  if (!safe && grant_next (ev->policy, &query, NULL) == NULL)
    return "is not among those that concern the container alone";
  if (type != NULL && namespace_entry (ev->config, type) == NULL)
    return "would be set on the host: the container has no namespace of its own for it";
  return NULL;
}

void check_sysctls (struct evaluation *ev)
{
  const struct oci_map *sysctl = &ev->config->linux->sysctl;
  char quoted[STR_QUOTE_MAX];

  for (size_t i = 0; i < sysctl->len; i++)
    {
      char *name = dotted (ev, sysctl->keys[i]);
      char *member = pointer_escape (ev->arena, sysctl->keys[i]);
      const char *problem = name == NULL ? NULL : sysctl_problem (ev, name);
      struct finding *f;

      if (problem == NULL || member == NULL)
        {
          ev->findings->failed |= member == NULL;
          continue;
        }
      f = ev_report (ev, RULE_SYSCTL_NAME, ACTION_REJECT,
                     ev_printf (ev, "/linux/sysctl/%s", member), "the kernel setting %s %s",
                     str_quote (name, quoted), problem);
      ev_fix (ev, f, "remove --sysctl %s, or grant it with {\"kind\": \"sysctl\"}", quoted);
    }
}

/* ---- cgroup.path ---- */

/* Groups of the host itself.  A systemd driver names the slice, and systemd makes a scope of the
   container's own in it: SLICE:PREFIX:NAME.  Rootless, the slices are those of the user's own
   manager, which lies in user.slice.  */
static const struct
{
  const char *name;
  bool as_slice; /* may be named to a systemd driver */
  bool rootless; /* is the user's own */
} host_cgroups[] = {
  { "init.scope", false, false },
  { "-.slice", false, false },
  { "system.slice", true, false },
  { "user.slice", false, true },
};

/* Whether a component of PATH is a unit that systemd runs a service of the host in.  */
static bool has_service (const char *path)
{
  static const char suffix[] = ".service";

  for (const char *s = path; *s != '\0';)
    {
      size_t n = strcspn (s, "/:");

      if (n > strlen (suffix) && strncmp (s + n - strlen (suffix), suffix, strlen (suffix)) == 0)
        return true;
      s += n + (s[n] != '\0');
    }
  return false;
}

static bool has_part (const char *path, const char *part)
{
  size_t len = strlen (part);

  for (const char *s = path; *s != '\0';)
    {
      size_t n = strcspn (s, "/");

      if (n == len && strncmp (s, part, n) == 0)
        return true;
      s += n + (s[n] == '/');
    }
  return false;
}

static const char *cgroup_problem (const char *path, bool rootless)
{
  const char *name = path + strspn (path, "/");
  const char *colon = strchr (path, ':');

  for (const char *c = path; *c != '\0'; c++)
    if (!isprint ((unsigned char)*c))
      return "has unprintable characters";
  if (*name == '\0')
    return "is the root of the hierarchy";
  if (has_part (path, "..") || has_part (path, "."))
    return "leaves its parent";
  /* slice:prefix:name of a systemd cgroup driver */
  if (colon != NULL && path[0] != '/' && (strchr (colon, '/') != NULL || colon[1] == '\0'))
    return "is not of the form slice:prefix:name";
  for (size_t i = 0; i < ARRAY_SIZE (host_cgroups); i++)
    {
      size_t len = strlen (host_cgroups[i].name);

      if (strncmp (name, host_cgroups[i].name, len) == 0 && strchr ("/:", name[len]) != NULL
          && !(host_cgroups[i].as_slice && name[len] == ':')
          && !(host_cgroups[i].rootless && rootless))
        return "lies in a group of the host's own processes";
    }
  if (!rootless && has_service (path))
    return "lies in the group of a service of the host";
  return NULL;
}

void check_cgroup_path (struct evaluation *ev)
{
  const char *path = ev->config->linux->cgroups_path;
  const char *problem = path == NULL ? NULL : cgroup_problem (path, facts_are_rootless (ev->facts));
  char quoted[STR_QUOTE_MAX];
  struct finding *f;

  if (problem == NULL)
    return;
  f = ev_report (ev, RULE_CGROUP_PATH, ACTION_REJECT, "/linux/cgroupsPath",
                 "the cgroup path \"%s\" %s", str_quote (path, quoted), problem);
  ev_fix (ev, f, "remove --cgroup-parent, or name a group of its own there");
}

/* ---- scheduling.special ---- */

void check_scheduling (struct evaluation *ev)
{
  const struct oci_process *process = ev->process;
  const struct oci_linux *linux = ev->config->linux;
  const struct oci_scheduler *s = process->scheduler;
  const struct oci_io_priority *io = process->io_priority;
  const struct
  {
    bool present;
    const char *pointer, *what;
  } rows[] = {
    { s != NULL
          && (str_equal (s->policy, "SCHED_FIFO") || str_equal (s->policy, "SCHED_RR")
              || str_equal (s->policy, "SCHED_DEADLINE") || s->nice < 0 || s->flags_len > 0),
      ev_process (ev, "/scheduler"), "a scheduling policy ahead of other processes" },
    { io != NULL && str_equal (io->class, "IOPRIO_CLASS_RT"), ev_process (ev, "/ioPriority"),
      "real-time I/O" },
    { process->exec_cpu_affinity != NULL, ev_process (ev, "/execCPUAffinity"),
      "processors beside those of the cgroup" },
    { linux->memory_policy != NULL, "/linux/memoryPolicy", "a NUMA memory policy" },
    { linux->intel_rdt != NULL, "/linux/intelRdt", "cache and memory bandwidth of the host" },
    { linux->personality != NULL && linux->personality->flags_len > 0, "/linux/personality/flags",
      "execution domain flags" },
  };

  for (size_t i = 0; i < ARRAY_SIZE (rows); i++)
    if (rows[i].present)
      ev_fix (ev,
              ev_report (ev, RULE_SCHEDULING_SPECIAL, ACTION_REJECT, rows[i].pointer,
                         "the configuration asks for %s", rows[i].what),
              "remove it");
}

/* ---- annotation.unsafe ---- */

static const char *const unsafe_prefixes[] = { "run.oci.", "krun.", "org.criu.",
                                               "org.systemd.property.", "module.wasm." };

/* What Podman sends by habit, and what only describes.  */
static const char *const harmless_annotations[] = {
  "org.systemd.property.CollectMode",
  "org.systemd.property.Description",
  "org.systemd.property.KillSignal",
  "org.systemd.property.TimeoutStopUSec",
};

static bool is_unsafe (const struct evaluation *ev, const char *key)
{
  struct grant_query query = { .kind = "annotation", .name = key };

  for (size_t i = 0; i < ARRAY_SIZE (harmless_annotations); i++)
    if (str_equal (key, harmless_annotations[i]))
      return false;
  for (size_t i = 0; i < ARRAY_SIZE (unsafe_prefixes); i++)
    if (str_has_prefix (key, unsafe_prefixes[i]))
      return grant_next (ev->policy, &query, NULL) == NULL;
  return false;
}

void check_annotations (struct evaluation *ev)
{
  const struct oci_map *annotations = &ev->config->annotations;
  char quoted[STR_QUOTE_MAX];

  for (size_t i = 0; i < annotations->len; i++)
    {
      char *member;
      struct finding *f;

      if (!is_unsafe (ev, annotations->keys[i]))
        continue;
      member = pointer_escape (ev->arena, annotations->keys[i]);
      f = ev_report (ev, RULE_ANNOTATION_UNSAFE, ACTION_REJECT,
                     ev_printf (ev, "/annotations/%s", member == NULL ? "" : member),
                     "the annotation %s changes what a runtime does",
                     str_quote (annotations->keys[i], quoted));
      ev_fix (ev, f, "remove --annotation %s", quoted);
    }
}
