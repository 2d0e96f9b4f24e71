/* SPDX-License-Identifier: Apache-2.0 */
/* Owns the checks of `hooks` (config.md, "POSIX-platform Hooks").  Pure, needs no privilege.  */
#include "base/str.h"
#include "spec/validate_checks.h"

struct hook_list
{
  const char *name;
  const struct oci_hook *hooks;
  size_t len;
};

static void check_hook (const struct oci_hook *hook, const char *name, size_t i,
                        struct findings *findings)
{
  struct arena *arena = findings->arena;
  char quoted[STR_QUOTE_MAX];

  if (!is_absolute (hook->path))
    reject (findings, "hook.path", pointer_printf (arena, "/hooks/%s/%zu/path", name, i),
            "the path of %s hook %zu, \"%s\", is not absolute", name, i,
            str_quote (hook->path == NULL ? "" : hook->path, quoted));
  if (hook->has_timeout && hook->timeout <= 0)
    reject (findings, "config.invalid", pointer_printf (arena, "/hooks/%s/%zu/timeout", name, i),
            "the timeout of %s hook %zu must be above 0 seconds", name, i);
  for (size_t k = 0; k < hook->env_len; k++)
    if (!is_assignment (hook->env[k]))
      reject (
          findings, "config.invalid", pointer_printf (arena, "/hooks/%s/%zu/env/%zu", name, i, k),
          "entry %zu of the environment of %s hook %zu is not of the form NAME=value", k, name, i);
}

void validate_hooks (const struct oci_config *config, struct findings *findings)
{
  const struct oci_hooks *h = config->hooks;

  if (h == NULL)
    return;
  const struct hook_list lists[] = {
    { "prestart", h->prestart, h->prestart_len },
    { "createRuntime", h->create_runtime, h->create_runtime_len },
    { "createContainer", h->create_container, h->create_container_len },
    { "startContainer", h->start_container, h->start_container_len },
    { "poststart", h->poststart, h->poststart_len },
    { "poststop", h->poststop, h->poststop_len },
  };
  for (size_t l = 0; l < ARRAY_SIZE (lists); l++)
    for (size_t i = 0; i < lists[l].len; i++)
      check_hook (&lists[l].hooks[i], lists[l].name, i, findings);
}
