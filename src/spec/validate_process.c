/* SPDX-License-Identifier: Apache-2.0 */
/* Owns the checks of `process` (config.md, "Process").  Pure, needs no privilege.  No message holds
   a value of the environment.  */
#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "spec/names.h"
#include "spec/validate_checks.h"

void validate_process (const struct oci_config *config, struct findings *findings)
{
  if (config->process == NULL)
    reject (findings, "config.invalid", "/process", "process is missing: nothing to run");
}

void validate_args (const struct oci_config *config, struct findings *findings)
{
  const struct oci_process *p = config->process;

  if (p == NULL)
    return;
  if (p->args_len == 0)
    reject (findings, "config.invalid", "/process/args",
            "process.args is empty: no program to run");
  else if (is_empty (p->args[0]))
    reject (findings, "config.invalid", "/process/args/0",
            "the first entry of process.args is empty: no program to run");
}

void validate_environment (const struct oci_config *config, struct findings *findings)
{
  const struct oci_process *p = config->process;

  for (size_t i = 0; p != NULL && i < p->env_len; i++)
    if (!is_assignment (p->env[i]))
      reject (findings, "config.invalid", pointer_printf (findings->arena, "/process/env/%zu", i),
              "entry %zu of process.env is not of the form NAME=value", i);
}

void validate_cwd (const struct oci_config *config, struct findings *findings)
{
  const struct oci_process *p = config->process;
  char quoted[STR_QUOTE_MAX];

  if (p == NULL)
    return;
  if (is_empty (p->cwd))
    reject (findings, "process.cwd", "/process/cwd", "process.cwd is missing");
  else if (!is_absolute (p->cwd))
    reject (findings, "process.cwd", "/process/cwd", "process.cwd \"%s\" is not an absolute path",
            str_quote (p->cwd, quoted));
}

/* (uid_t) -1 means "leave as it is" to setresuid(2) and its like: the process would stay root.  */
void validate_user (const struct oci_config *config, struct findings *findings)
{
  const struct oci_user *u = config->process == NULL ? NULL : config->process->user;

  if (u == NULL)
    return;
  if (u->has_uid && u->uid == UINT32_MAX)
    reject (findings, "user.root", "/process/user/uid",
            "uid 4294967295 is no user: the kernel takes it for \"leave as it is\", which is root");
  if (u->has_gid && u->gid == UINT32_MAX)
    reject (
        findings, "config.invalid", "/process/user/gid",
        "gid 4294967295 is no group: the kernel takes it for \"leave as it is\", which is root");
  for (size_t i = 0; i < u->additional_gids_len; i++)
    if (u->additional_gids[i] == UINT32_MAX)
      reject (findings, "config.invalid",
              pointer_printf (findings->arena, "/process/user/additionalGids/%zu", i),
              "gid 4294967295 is no group");
}

/* Ignored without a terminal, as config.md demands.  */
void validate_console (const struct oci_config *config, struct findings *findings)
{
  const struct oci_process *p = config->process;
  const struct oci_box *size = p == NULL ? NULL : p->console_size;

  if (size == NULL || !p->terminal)
    return;
  if (!size->has_height || !size->has_width)
    reject (findings, "config.invalid", "/process/consoleSize",
            "process.consoleSize needs a height and a width");
  else if (size->height > UINT16_MAX || size->width > UINT16_MAX)
    reject (findings, "config.invalid", "/process/consoleSize",
            "process.consoleSize is larger than 65535 by 65535");
}

/* ---- capabilities ---- */

struct capability_set
{
  const char *name;
  char **names;
  size_t len;
  uint64_t bits;
};

/* An unknown name is no error: config.md wants a warning and the container to run without it.  (A
   policy that knows what an agent may have refuses it as capability.extra.)  */
static void check_capability_names (struct capability_set *set, struct findings *findings)
{
  char quoted[STR_QUOTE_MAX];
  int number;

  for (size_t i = 0; i < set->len; i++)
    {
      number = capability_number (set->names[i]);
      if (number >= 0)
        set->bits |= UINT64_C (1) << number;
      else
        finding_add (findings, "config.capability", "warn",
                     pointer_printf (findings->arena, "/process/capabilities/%s/%zu", set->name, i),
                     "capability \"%s\" is unknown and not granted",
                     str_quote (set->names[i], quoted));
    }
}

static void check_capability_subset (const struct capability_set *set,
                                     const struct capability_set *of, struct findings *findings)
{
  for (int number = 0; number <= capability_last (); number++)
    if ((set->bits & ~of->bits & (UINT64_C (1) << number)) != 0)
      finding_add (findings, "config.capability", "warn",
                   pointer_printf (findings->arena, "/process/capabilities/%s", set->name),
                   "%s is in the %s set but not in the %s set: the kernel can't grant it",
                   capability_name (number), set->name, of->name);
}

void validate_capabilities (const struct oci_config *config, struct findings *findings)
{
  const struct oci_capabilities *c = config->process == NULL ? NULL : config->process->capabilities;
  enum
  {
    BOUNDING,
    EFFECTIVE,
    INHERITABLE,
    PERMITTED,
    AMBIENT
  };

  if (c == NULL)
    return;
  struct capability_set sets[] = {
    [BOUNDING] = { "bounding", c->bounding, c->bounding_len, 0 },
    [EFFECTIVE] = { "effective", c->effective, c->effective_len, 0 },
    [INHERITABLE] = { "inheritable", c->inheritable, c->inheritable_len, 0 },
    [PERMITTED] = { "permitted", c->permitted, c->permitted_len, 0 },
    [AMBIENT] = { "ambient", c->ambient, c->ambient_len, 0 },
  };
  for (size_t i = 0; i < ARRAY_SIZE (sets); i++)
    check_capability_names (&sets[i], findings);
  check_capability_subset (&sets[EFFECTIVE], &sets[PERMITTED], findings);
  check_capability_subset (&sets[AMBIENT], &sets[PERMITTED], findings);
  check_capability_subset (&sets[AMBIENT], &sets[INHERITABLE], findings);
}

/* ---- rlimits ---- */

static void check_rlimit (const struct oci_rlimit *limit, size_t i, uint64_t *seen,
                          struct findings *findings)
{
  char *pointer = pointer_printf (findings->arena, "/process/rlimits/%zu", i);
  int number = rlimit_number (limit->type);
  char quoted[STR_QUOTE_MAX];

  str_quote (limit->type, quoted);
  if (number < 0)
    {
      reject (findings, "limit.rlimit", pointer, "resource limit \"%s\" is unknown", quoted);
      return;
    }
  if ((*seen & (UINT64_C (1) << number)) != 0)
    reject (findings, "limit.rlimit", pointer, "resource limit %s is listed twice", quoted);
  *seen |= UINT64_C (1) << number;
  if (!limit->has_soft || !limit->has_hard)
    reject (findings, "limit.rlimit", pointer, "resource limit %s needs a soft and a hard value",
            quoted);
  else if (limit->soft > limit->hard)
    reject (findings, "limit.rlimit", pointer,
            "resource limit %s has a soft value above the hard one", quoted);
}

void validate_rlimits (const struct oci_config *config, struct findings *findings)
{
  const struct oci_process *p = config->process;
  uint64_t seen = 0;

  for (size_t i = 0; p != NULL && i < p->rlimits_len; i++)
    check_rlimit (&p->rlimits[i], i, &seen, findings);
}

void spec_validate_process (const struct oci_process *process, struct findings *findings)
{
  static validate_check *const checks[] = {
    validate_process,      validate_args,    validate_environment,
    validate_cwd,          validate_user,    validate_console,
    validate_capabilities, validate_rlimits, validate_scheduling,
  };
  const struct oci_config config = { .process = (struct oci_process *)process };

  for (size_t i = 0; i < ARRAY_SIZE (checks); i++)
    checks[i](&config, findings);
}
