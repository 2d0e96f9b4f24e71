/* SPDX-License-Identifier: Apache-2.0 */
/* A user's own policy file over the host's (policy.md, "Where the policy comes from"): it may
   forbid more and allow nothing.  What would loosen is a problem with file, line and key, not
   something that is left out in silence.  Pure code.  */
#include <errno.h>
#include <string.h>

#include "policy/internal.h"

struct tightening_file
{
  struct policy *host;
  struct policy_text text;
  struct policy_file *own;
  struct problems *problems;
};

static void refuse_keys (const struct tightening_file *t)
{
  const struct policy_file *f = t->own;
  const struct
  {
    bool present;
    const char *pointer;
  } rows[] = {
    { f->mode != NULL, "/mode" },
    { f->has_locked, "/locked" },
    { f->has_grants, "/grants" },
    { f->engines != NULL, "/engines" },
    { f->scan != NULL, "/scan" },
    { f->extends != NULL, "/extends" },
    { f->network != NULL, "/network" },
    { f->audit != NULL, "/audit" },
    { f->supervision != NULL, "/supervision" },
  };

  for (size_t i = 0; i < ARRAY_SIZE (rows); i++)
    if (rows[i].present)
      policy_problem (
          &t->text, t->problems, rows[i].pointer,
          "is the host's to say: a user's policy may only tighten rules, never, limits, "
          "exec and environment");
  if (!f->has_version || f->version != 1)
    policy_problem (&t->text, t->problems, "/version", "must be 1");
}

static void check_not_weaker (const struct tightening_file *t, const struct policy *own,
                              enum rule_id rule, const char *pointer)
{
  enum action host = t->host->settings[rule];

  if (own->settings[rule] < host) /* actions are numbered by strictness */
    policy_problem (&t->text, t->problems, pointer, "is weaker than the host's \"%s\"",
                    action_name (host));
}

static void tighten_rules (const struct tightening_file *t)
{
  struct policy own = *t->host;

  policy_set_rules (&own, &t->text, t->own, t->problems);
  for (size_t i = 0; i < t->own->rules.len; i++)
    {
      int rule = rule_find (t->own->rules.keys[i]);
      char *pointer;

      if (rule < 0)
        continue;
      pointer = pointer_printf (t->problems->arena, "/rules/%s", rules[rule].id);
      check_not_weaker (t, &own, (enum rule_id)rule, pointer == NULL ? "/rules" : pointer);
    }
  if (t->own->environment != NULL && t->own->environment->secrets != NULL)
    check_not_weaker (t, &own, RULE_ENVIRONMENT_SECRET, "/environment/secrets");
  if (t->own->image != NULL && t->own->image->digest != NULL)
    check_not_weaker (t, &own, RULE_IMAGE_DIGEST, "/image/digest");
  for (int rule = 0; rule < RULE_COUNT; rule++)
    if (own.settings[rule] > t->host->settings[rule])
      t->host->settings[rule] = own.settings[rule];
}

static int append (struct arena *arena, char ***list, size_t *len, char **more, size_t more_len)
{
  char **all = arena_alloc_array (arena, *len + more_len + 1, sizeof *all);

  if (all == NULL)
    return -ENOMEM;
  for (size_t i = 0; i < *len + more_len; i++)
    all[i] = i < *len ? (*list)[i] : more[i - *len];
  *list = all;
  *len += more_len;
  return 0;
}

static void tighten_limit (const struct tightening_file *t, const char *name,
                           const struct policy_limit *over, struct policy_limit *base,
                           int (*read) (const char *, uint64_t *))
{
  const struct
  {
    const char *key;
    const char *text;
    char **place;
  } ends[] = {
    { "default", over == NULL ? NULL : over->default_value, &base->default_value },
    { "max", over == NULL ? NULL : over->max, &base->max },
  };

  for (size_t i = 0; i < ARRAY_SIZE (ends); i++)
    {
      char *pointer = pointer_printf (t->problems->arena, "/limits/%s/%s", name, ends[i].key);
      uint64_t asked, have;

      if (ends[i].text == NULL || pointer == NULL)
        continue;
      if (read (ends[i].text, &asked) < 0)
        policy_problem (&t->text, t->problems, pointer, "is not a value of this limit");
      else if (*ends[i].place != NULL && (read (*ends[i].place, &have) < 0 || asked > have))
        policy_problem (&t->text, t->problems, pointer, "is not known to be below the host's %s",
                        *ends[i].place);
      else
        *ends[i].place = (char *)(uintptr_t)ends[i].text;
    }
}

/* A lower maximum takes the default along.  */
static void lower_default (struct policy_limit *limit, int (*read) (const char *, uint64_t *))
{
  uint64_t standard, max;

  if (limit->default_value != NULL && limit->max != NULL
      && read (limit->default_value, &standard) == 0 && read (limit->max, &max) == 0
      && standard > max)
    limit->default_value = limit->max;
}

static void tighten_limits (const struct tightening_file *t)
{
  const struct policy_limits *own = t->own->limits;
  struct policy_limits *host = t->host->effective->limits;

  if (own == NULL)
    return;
  const struct
  {
    const char *name;
    const struct policy_limit *own;
    struct policy_limit *host;
    int (*read) (const char *, uint64_t *);
  } rows[] = {
    { "memory", own->memory, host->memory, value_size },
    { "pids", own->pids, host->pids, value_count },
    { "cpu", own->cpu, host->cpu, value_thousandths },
    { "tmpfs", own->tmpfs, host->tmpfs, value_size },
    { "open_files", own->open_files, host->open_files, value_count },
  };
  for (size_t i = 0; i < ARRAY_SIZE (rows); i++)
    {
      tighten_limit (t, rows[i].name, rows[i].own, rows[i].host, rows[i].read);
      lower_default (rows[i].host, rows[i].read);
    }
  if (own->wall_clock != NULL || own->create_to_start != NULL || own->exec != NULL
      || own->has_oom_group)
    policy_problem (&t->text, t->problems, "/limits", "has what is not supported by this build");
}

/* Commands can be narrowed where the host has no list.  */
static void tighten_exec (const struct tightening_file *t)
{
  const struct policy_exec *own = t->own->exec;
  struct policy_exec *host = t->host->effective->exec;

  if (own == NULL)
    return;
  if (own->has_allow && own->allow && !host->allow)
    policy_problem (&t->text, t->problems, "/exec/allow", "is off for the host");
  else if (own->has_allow && !own->allow)
    host->has_allow = true, host->allow = false;
  if (own->has_users)
    policy_problem (&t->text, t->problems, "/exec/users", "is the host's to say");
  if (own->has_commands && host->commands_len > 0)
    policy_problem (&t->text, t->problems, "/exec/commands", "is listed by the host already");
  else if (own->has_commands)
    {
      host->has_commands = true;
      host->commands = own->commands;
      host->commands_len = own->commands_len;
    }
}

int policy_tighten (struct policy *host, const char *file, const char *bytes, size_t len,
                    struct problems *problems)
{
  struct tightening_file t = { host, { file, bytes, len }, NULL, problems };
  struct policy_file *effective = host->effective;

  int r = policy_read_text (host, &t.text, problems, &t.own);
  if (r < 0)
    return r;
  refuse_keys (&t);
  policy_check_never (&t.text, t.own, problems);
  tighten_rules (&t);
  tighten_limits (&t);
  tighten_exec (&t);
  if (t.own->environment != NULL)
    {
      effective->environment->has_deny = true;
      r = append (host->arena, &effective->environment->deny, &effective->environment->deny_len,
                  t.own->environment->deny, t.own->environment->deny_len);
    }
  if (r == 0)
    r = append (host->arena, &effective->never, &effective->never_len, t.own->never,
                t.own->never_len);
  effective->has_never = true;
  if (r == 0)
    policy_read_values (host, &t.text, problems);
  host->name = arena_printf (host->arena, "%s, tightened by %s", host->name, file);
  if (r < 0 || problems->failed || host->name == NULL)
    return -ENOMEM;
  return problems->len > 0 ? -EINVAL : 0;
}
