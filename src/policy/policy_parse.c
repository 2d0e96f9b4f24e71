/* SPDX-License-Identifier: Apache-2.0 */
/* A policy file's text -> struct policy.  Every mistake is a problem with file, line and key, and
   one problem is enough to refuse everything.  Pure code.  */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/sha256.h"
#include "policy/internal.h"

/* ---- problems ---- */

static void problem_store (struct problems *list, char *line)
{
  if (list->len == list->size && line != NULL)
    {
      size_t size = list->size == 0 ? 8 : list->size * 2;
      char **lines =
          arena_grow (list->arena, list->lines, list->size * sizeof *lines, size * sizeof *lines);

      if (lines != NULL)
        {
          list->lines = lines;
          list->size = size;
        }
    }
  if (line == NULL || list->len == list->size)
    {
      list->failed = true;
      return;
    }
  list->lines[list->len++] = line;
}

void problem_add (struct problems *list, const char *format, ...)
{
  va_list ap;

  va_start (ap, format);
  problem_store (list, arena_vprintf (list->arena, format, ap));
  va_end (ap);
}

void policy_problem (const struct policy_text *text, struct problems *list, const char *pointer,
                     const char *format, ...)
{
  char quoted[STR_QUOTE_MAX];
  va_list ap;
  char *what;

  va_start (ap, format);
  what = arena_vprintf (list->arena, format, ap);
  va_end (ap);
  problem_add (list, "%s:%u: %s: %s", text->file, json_line (text->bytes, text->len, pointer),
               str_quote (pointer, quoted), what == NULL ? "out of memory" : what);
}

/* ---- the text ---- */

int policy_read_text (struct policy *policy, const struct policy_text *text,
                      struct problems *problems, struct policy_file **ret)
{
  struct oci_report report = { 0 };
  int r =
      policy_file_parse (policy->arena, text->bytes, text->len, OCI_ALLOW_COMMENTS, &report, ret);

  if (r == -ENOMEM)
    return r;
  for (size_t i = 0; i < report.errors_len; i++)
    problem_add (problems, "%s:%u: %s: %s", text->file, report.errors[i].line,
                 *report.errors[i].pointer == '\0' ? "/" : report.errors[i].pointer,
                 report.errors[i].message);
  for (size_t i = 0; i < report.unknown_len; i++)
    problem_add (problems, "%s:%u: %s: unknown key", text->file, report.unknown[i].line,
                 report.unknown[i].pointer);
  return r;
}

/* ---- keys ---- */

void policy_check_never (const struct policy_text *text, const struct policy_file *file,
                         struct problems *problems)
{
  for (size_t i = 0; i < file->never_len; i++)
    if (file->never[i][0] != '/' || strstr (file->never[i], "/../") != NULL
        || str_has_suffix (file->never[i], "/"))
      {
        char pointer[32];

        snprintf (pointer, sizeof pointer, "/never/%zu", i);
        policy_problem (text, problems, pointer,
                        "must be an absolute path without .. and without a slash at its end");
      }
}

static void check_head (struct policy *policy, const struct policy_text *text,
                        const struct policy_file *file, struct problems *problems)
{
  const char *profile = file->extends == NULL ? "builtin:default" : file->extends;
  char quoted[STR_QUOTE_MAX];

  if (!file->has_version || file->version != 1)
    policy_problem (text, problems, "/version", "must be 1");
  if (builtin_settings (profile, policy) < 0)
    {
      policy_problem (text, problems, "/extends",
                      "there is no profile %s; use builtin:default, builtin:strict or "
                      "builtin:permissive",
                      str_quote (profile, quoted));
      (void)builtin_settings ("builtin:default", policy);
    }
  if (file->mode != NULL && !str_equal (file->mode, "enforce") && !str_equal (file->mode, "audit"))
    policy_problem (text, problems, "/mode", "must be \"enforce\" or \"audit\"");
  if (!file->has_never)
    policy_problem (text, problems, "/never", "is missing; it may be []");
  policy_check_never (text, file, problems);
}

static void check_unbuilt (const struct policy_text *text, const struct policy_file *file,
                           struct problems *problems)
{
  const struct policy_limits *limits = file->limits;
  const struct
  {
    bool present;
    const char *pointer;
  } rows[] = {
    { file->network != NULL, "/network" },
    { file->audit != NULL, "/audit" },
    { file->supervision != NULL, "/supervision" },
    { limits != NULL && limits->wall_clock != NULL, "/limits/wall_clock" },
    { limits != NULL && limits->create_to_start != NULL, "/limits/create_to_start" },
    { limits != NULL && limits->exec != NULL, "/limits/exec" },
    { limits != NULL && limits->has_oom_group, "/limits/oom_group" },
  };

  for (size_t i = 0; i < ARRAY_SIZE (rows); i++)
    if (rows[i].present)
      policy_problem (text, problems, rows[i].pointer, "not supported by this build");
}

/* "reject, warn or off" for the settings in ALLOWED.  */
static void name_settings (unsigned allowed, char *ret, size_t size)
{
  size_t len = 0;

  ret[0] = '\0';
  for (int action = ACTION_REJECT; action >= ACTION_OFF; action--)
    if ((allowed & (1U << action)) != 0 && len < size)
      len += (size_t)snprintf (ret + len, size - len, "%s%s", len == 0 ? "" : ", ",
                               action_name ((enum action)action));
}

static void set_rule (struct policy *policy, const struct policy_text *text, const char *id,
                      const char *value, struct problems *problems)
{
  int rule = rule_find (id);
  int setting = action_parse (value);
  char quoted[STR_QUOTE_MAX], allowed[64];
  char *escaped = pointer_escape (problems->arena, id);
  char *pointer = pointer_printf (problems->arena, "/rules/%s", escaped == NULL ? "" : escaped);

  if (escaped == NULL || pointer == NULL)
    problems->failed = true;
  else if (rule < 0)
    policy_problem (text, problems, pointer, "there is no rule %s", str_quote (id, quoted));
  else if ((rules[rule].flags & RULE_UNBUILT) != 0)
    policy_problem (text, problems, pointer, "not supported by this build");
  else if ((rules[rule].flags & RULE_FIXED) != 0)
    policy_problem (text, problems, pointer, "is fixed and can't be set");
  else if (setting < 0 || (rules[rule].allowed & (1U << setting)) == 0)
    {
      name_settings (rules[rule].allowed, allowed, sizeof allowed);
      policy_problem (text, problems, pointer, "can't be %s; it can be set to: %s",
                      str_quote (value, quoted), allowed);
    }
  else
    {
      policy->settings[rule] = (enum action)setting;
      policy->raised[rule] = false;
    }
}

/* A key that is another name for a rule's setting: "environment": {"secrets": …}, "image":
 * {"digest": …}.
 */
static void set_by_key (struct policy *policy, const struct policy_text *text, enum rule_id rule,
                        const char *pointer, const char *word, struct problems *problems)
{
  int setting = action_parse (word);

  if (setting < 0 || (rules[rule].allowed & (1U << setting)) == 0)
    policy_problem (text, problems, pointer, "must be \"reject\", \"warn\" or \"off\"");
  else
    policy->settings[rule] = (enum action)setting;
}

void policy_set_rules (struct policy *policy, const struct policy_text *text,
                       const struct policy_file *file, struct problems *problems)
{
  for (size_t i = 0; i < file->rules.len; i++)
    set_rule (policy, text, file->rules.keys[i], file->rules.values[i], problems);
  if (file->environment != NULL && file->environment->secrets != NULL)
    set_by_key (policy, text, RULE_ENVIRONMENT_SECRET, "/environment/secrets",
                file->environment->secrets, problems);
  if (file->image != NULL && file->image->digest != NULL)
    set_by_key (policy, text, RULE_IMAGE_DIGEST, "/image/digest", file->image->digest, problems);
}

/* ---- exec ---- */

static void check_exec_keys (const struct policy *policy, const struct policy_text *text,
                             const struct policy_exec *exec, struct problems *problems)
{
  char pointer[48];

  if (exec == NULL)
    return;
  if (policy->settings[RULE_EXEC_PROCESS] == ACTION_OFF)
    policy_problem (text, problems, "/exec",
                    "the rule exec.process is off, so that nothing would hold this: set it to "
                    "\"reject\" under rules");
  for (size_t i = 0; i < exec->users_len; i++)
    {
      snprintf (pointer, sizeof pointer, "/exec/users/%zu", i);
      if (!policy_exec_user_valid (exec->users[i]))
        policy_problem (text, problems, pointer, "must be \"same\" or a uid");
    }
  for (size_t i = 0; i < exec->commands_len; i++)
    {
      snprintf (pointer, sizeof pointer, "/exec/commands/%zu", i);
      if (!policy_exec_command_valid (exec->commands[i], problems->arena))
        policy_problem (text, problems, pointer,
                        "must be a program (\"/bin/true\") or a whole command line "
                        "([\"/bin/test\", \"-e\", \"/ready\"])");
    }
}

/* ---- limits ---- */

typedef int value_reader (const char *any, uint64_t *ret);

static void read_limit (const struct policy_text *text, struct problems *problems, const char *name,
                        const struct policy_limit *limit, value_reader *read,
                        struct limit_range *range)
{
  char pointer[64];

  snprintf (pointer, sizeof pointer, "/limits/%s/default", name);
  if (limit->default_value != NULL && read (limit->default_value, &range->standard) < 0)
    policy_problem (text, problems, pointer, "is not a value of this limit (for example %s)",
                    read == value_size    ? "\"2GiB\""
                    : read == value_count ? "512"
                                          : "\"0.5\"");
  snprintf (pointer, sizeof pointer, "/limits/%s/max", name);
  if (limit->max != NULL && read (limit->max, &range->max) < 0)
    policy_problem (text, problems, pointer, "is not a value of this limit (for example %s)",
                    read == value_size    ? "\"8GiB\""
                    : read == value_count ? "4096"
                                          : "\"8\"");
  if (range->standard > range->max)
    policy_problem (text, problems, pointer, "is less than the default");
}

static void read_tmpfs (struct policy_values *values, const struct policy_text *text,
                        struct problems *problems, struct policy_limit limit)
{
  values->tmpfs_default_is_memory = value_is_word (limit.default_value, "memory");
  values->tmpfs_max_is_memory = value_is_word (limit.max, "memory");
  if (values->tmpfs_default_is_memory)
    limit.default_value = NULL;
  if (values->tmpfs_max_is_memory)
    limit.max = NULL;
  values->tmpfs = (struct limit_range){ 0, INT64_MAX };
  read_limit (text, problems, "tmpfs", &limit, value_size, &values->tmpfs);
}

void policy_read_values (struct policy *policy, const struct policy_text *text,
                         struct problems *problems)
{
  const struct policy_limits *limits = policy->effective->limits;
  struct policy_values *values = &policy->values;
  struct limit_range files = { 0 };
  const struct
  {
    const char *name;
    const struct policy_limit *limit;
    value_reader *read;
    struct limit_range *range;
  } rows[] = {
    { "memory", limits->memory, value_size, &values->memory },
    { "pids", limits->pids, value_count, &values->pids },
    { "cpu", limits->cpu, value_thousandths, &values->cpu },
    { "open_files", limits->open_files, value_count, &files },
  };

  for (size_t i = 0; i < ARRAY_SIZE (rows); i++)
    read_limit (text, problems, rows[i].name, rows[i].limit, rows[i].read, rows[i].range);
  if (limits->open_files->default_value != NULL)
    policy_problem (text, problems, "/limits/open_files/default", "means nothing here");
  values->open_files_max = files.max;
  read_tmpfs (values, text, problems, *limits->tmpfs);
}

/* ---- merging ---- */

static void merge_limit (struct policy_limit *base, const struct policy_limit *over)
{
  if (over == NULL)
    return;
  if (over->default_value != NULL)
    base->default_value = over->default_value;
  if (over->max != NULL)
    base->max = over->max;
}

static void merge_exec (struct policy_exec *base, const struct policy_exec *over)
{
  if (over == NULL)
    return;
  if (over->has_allow)
    base->allow = over->allow;
  if (over->has_users)
    base->users = over->users, base->users_len = over->users_len;
  if (over->has_commands)
    base->commands = over->commands, base->commands_len = over->commands_len;
}

/* What FILE says, over what the profile says.  */
static void merge (struct policy_file *base, const struct policy_file *file)
{
  if (file->limits != NULL)
    {
      merge_limit (base->limits->memory, file->limits->memory);
      merge_limit (base->limits->pids, file->limits->pids);
      merge_limit (base->limits->cpu, file->limits->cpu);
      merge_limit (base->limits->tmpfs, file->limits->tmpfs);
      merge_limit (base->limits->open_files, file->limits->open_files);
    }
  if (file->mode != NULL)
    base->mode = file->mode;
  if (file->has_locked)
    base->locked = file->locked;
  base->grants = file->grants;
  base->grants_len = file->grants_len;
  base->never = file->never;
  base->never_len = file->never_len;
  if (file->engines != NULL)
    base->engines = file->engines;
  if (file->scan != NULL && file->scan->has_entries)
    base->scan->entries = file->scan->entries;
  if (file->scan != NULL && file->scan->has_seconds)
    base->scan->seconds = file->scan->seconds;
  merge_exec (base->exec, file->exec);
  if (file->environment != NULL && file->environment->has_deny)
    base->environment->deny = file->environment->deny,
    base->environment->deny_len = file->environment->deny_len;
}

int policy_parse (struct policy *policy, const char *file, const char *bytes, size_t len,
                  struct problems *problems)
{
  struct policy_text builtin = { "builtin", builtin_values, strlen (builtin_values) };
  struct policy_text text = { file, bytes, len };
  struct policy_file *parsed = NULL;

  int r = policy_read_text (policy, &builtin, problems, &policy->effective);
  if (r < 0)
    return r;
  if (bytes == NULL)
    {
      policy->effective->extends = policy->name;
      r = builtin_settings (policy->name, policy);
    }
  else
    {
      r = policy_read_text (policy, &text, problems, &parsed);
      if (r < 0)
        return r;
      check_head (policy, &text, parsed, problems);
      check_unbuilt (&text, parsed, problems);
      policy_set_rules (policy, &text, parsed, problems);
      check_exec_keys (policy, &text, parsed->exec, problems);
      merge (policy->effective, parsed);
      policy->effective->extends =
          parsed->extends == NULL ? (char *)"builtin:default" : parsed->extends;
      policy_check_grants (policy, &text, parsed, problems);
    }
  if (r < 0)
    return r;
  policy_read_values (policy, bytes == NULL ? &builtin : &text, problems);
  policy->audit = str_equal (policy->effective->mode, "audit");
  policy->locked = policy->effective->locked;
  if (problems->failed)
    return -ENOMEM;
  return problems->len > 0 ? -EINVAL : 0;
}

/* ---- the effective policy ---- */

static int list_rules (struct policy *policy)
{
  struct oci_map *map = &policy->effective->rules;
  char **keys = arena_alloc_array (policy->arena, RULE_COUNT, sizeof *keys);
  char **values = arena_alloc_array (policy->arena, RULE_COUNT, sizeof *values);
  size_t len = 0;

  if (keys == NULL || values == NULL)
    return -ENOMEM;
  for (int rule = 0; rule < RULE_COUNT; rule++)
    {
      /* Only what a policy file could set, so that the output is one.  */
      if ((rules[rule].flags & (RULE_UNBUILT | RULE_FIXED)) != 0
          || (rules[rule].allowed & (1U << policy->settings[rule])) == 0)
        continue;
      keys[len] = (char *)rules[rule].id;
      values[len++] = (char *)action_name (policy->settings[rule]);
    }
  *map = (struct oci_map){ .has = true, .len = len, .keys = keys, .values = values };
  return 0;
}

int policy_finish (struct policy *policy)
{
  char hex[SHA256_HEX_SIZE];
  char *json = NULL;
  size_t len = 0;

  int r = list_rules (policy);
  if (r == 0)
    r = oci_emit (&policy_file_type, policy->effective, 0, policy->arena, &json, &len);
  if (r == 0)
    r = sha256_hex (json, len, hex);
  if (r < 0)
    return r;
  policy->digest = arena_printf (policy->arena, "sha256:%s", hex);
  return policy->digest == NULL ? -ENOMEM : 0;
}

char *policy_to_json (const struct policy *policy, struct arena *arena)
{
  struct policy_file shown = *policy->effective;
  char *json = NULL;

  /* A file that has this key without the rule is refused.  */
  if (policy->settings[RULE_EXEC_PROCESS] == ACTION_OFF)
    shown.exec = NULL;
  if (oci_emit (&policy_file_type, &shown, OCI_PRETTY, arena, &json, NULL) < 0)
    return NULL;
  return json;
}
