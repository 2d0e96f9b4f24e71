/* SPDX-License-Identifier: Apache-2.0 */
/* features: what this build can do (features.md, features-linux.md).  Engines ask at their start
   and decide by it, so nothing is listed that is not done.  */
#include <errno.h>
#include <stdio.h>

#include "arena.h"
#include "base/str.h"
#include "cli/command.h"
#include "ocispec.h"
#include "policy/policy.h"
#include "spec/mount_options.h"
#include "spec/names.h"
#include "spec/scheduling_names.h"
#include "spec/seccomp_names.h"

static const char *const hook_names[] = {
  "prestart", "createRuntime", "createContainer", "startContainer", "poststart", "poststop", NULL
};
static const char *const namespace_names[] = { "cgroup", "ipc",  "mount", "network", "pid",
                                               "time",   "user", "uts",   NULL };

/* Annotations that are known to change what some runtimes do.  agentrun obeys none of them; an
   engine that filters by this list keeps them from runtimes that do.  */
static const char *const unsafe_annotations[] = {
  "run.oci.", "krun.", "org.criu.", "org.systemd.property.", "module.wasm.", "bundle", NULL
};

static size_t count (const char *const *names)
{
  size_t n = 0;
  while (names[n] != NULL)
    n++;
  return n;
}

#define SET_LIST(object, member, names)                                                            \
  do                                                                                               \
    {                                                                                              \
      (object)->has_##member = true;                                                               \
      (object)->member = (char **)(names);                                                         \
      (object)->member##_len = count (names);                                                      \
    }                                                                                              \
  while (0)

static void fill_seccomp (struct oci_features_seccomp *s)
{
  s->has_enabled = s->enabled = true;
  SET_LIST (s, actions, seccomp_actions_supported);
  SET_LIST (s, operators, seccomp_operators);
  SET_LIST (s, archs, seccomp_architectures);
  SET_LIST (s, known_flags, seccomp_flags_known);
  SET_LIST (s, supported_flags, seccomp_flags_supported);
}

static int fill_capabilities (struct oci_features_linux *l, struct arena *arena)
{
  size_t n = (size_t)capability_last () + 1;
  l->capabilities = arena_alloc (arena, n * sizeof *l->capabilities);
  if (l->capabilities == NULL)
    return -ENOMEM;
  for (size_t i = 0; i < n; i++)
    l->capabilities[i] = (char *)capability_name ((int)i);
  l->capabilities_len = n;
  l->has_capabilities = true;
  return 0;
}

static void fill_linux (struct oci_features_linux *l)
{
  static struct oci_features_seccomp seccomp;
  static struct oci_features_cgroup cgroup = { .has_v1 = true,
                                               .v1 = true,
                                               .has_v2 = true,
                                               .v2 = true,
                                               .has_systemd = true,
                                               .has_systemd_user = true,
                                               .has_rdma = true,
                                               .rdma = true };
  static struct oci_features_enabled yes = { true, true };
  static struct oci_features_intel_rdt rdt = { .has_enabled = true,
                                               .enabled = true,
                                               .has_schemata = true,
                                               .schemata = true,
                                               .has_monitoring = true,
                                               .monitoring = true };
  static struct oci_features_mount_extensions extensions = { .idmap = &yes };
  static struct oci_features_memory_policy memory;
  SET_LIST (&memory, modes, memory_mode_names ());
  SET_LIST (&memory, flags, memory_flag_names ());
  fill_seccomp (&seccomp);
  SET_LIST (l, namespaces, namespace_names);
  l->cgroup = &cgroup;
  l->seccomp = &seccomp;
  l->apparmor = &yes;
  l->selinux = &yes;
  l->intel_rdt = &rdt;
  l->mount_extensions = &extensions;
  l->net_devices = &yes;
  l->memory_policy = &memory;
}

static int add_policy (const struct invocation *in, struct oci_features *f, struct arena *arena)
{
  struct policy *policy = NULL;
  struct error ignored;
  /* No policy, no claim: features answers all the same, or the engine would not list the runtime.
   */
  if (policy_load (in->global->policy, in->global->program, false, &policy, &ignored) < 0)
    return 0;
  f->annotations.has = true;
  f->annotations.keys = arena_alloc (arena, sizeof (char *));
  f->annotations.values = arena_alloc (arena, sizeof (char *));
  if (f->annotations.keys != NULL && f->annotations.values != NULL)
    {
      f->annotations.keys[0] = arena_strdup (arena, "dev.agentrun.policy.digest");
      f->annotations.values[0] = arena_strdup (arena, policy_digest (policy));
      f->annotations.len = f->annotations.keys[0] && f->annotations.values[0] ? 1 : 0;
    }
  policy_free (policy);
  return f->annotations.len == 1 ? 0 : -ENOMEM;
}

static int run_features (const struct invocation *in, struct error *err)
{
  struct arena *arena = arena_new ();
  struct oci_features_linux linux_ = { 0 };
  struct oci_features f = { .oci_version_min = (char *)"1.0.0",
                            .oci_version_max = (char *)"1.3.0",
                            .linux = &linux_ };
  char *json = NULL;
  size_t len;
  int r = arena ? fill_capabilities (&linux_, arena) : -ENOMEM;
  SET_LIST (&f, hooks, hook_names);
  SET_LIST (&f, mount_options, mount_option_names ());
  SET_LIST (&f, potentially_unsafe_config_annotations, unsafe_annotations);
  fill_linux (&linux_);
  if (r == 0)
    r = add_policy (in, &f, arena);
  if (r == 0)
    r = oci_emit (&oci_features_type, &f, OCI_PRETTY, arena, &json, &len);
  if (r == 0)
    printf ("%s\n", json);
  else
    r = error_set (err, r, "out of memory for the list of features");
  arena_free (arena);
  return r;
}

const struct command command_features = {
  .name = "features",
  .arguments = "",
  .summary = "print what this build supports as JSON",
  .max_args = 0,
  .failure = 1,
  .run = run_features,
};
