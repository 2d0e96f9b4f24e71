/* SPDX-License-Identifier: Apache-2.0 */
/* Owns the table of rules and the three built-in profiles.  Pure data, runs in the parent, needs no
   privilege.  */
#include <errno.h>

#include "policy/internal.h"

const struct rule rules[RULE_COUNT] = {
#define RULE_ROW(symbol, id, setting, allowed, flags)                                              \
  [RULE_##symbol] = { id, ACTION_##setting, allowed, flags },
  POLICY_RULES (RULE_ROW)
#undef RULE_ROW
};

/* In the form of a policy file, so that profiles and files go through the same reader.  */
const char builtin_values[] = "{\"version\": 1, \"mode\": \"enforce\", \"locked\": false,"
                              " \"grants\": [], \"never\": [], \"engines\": {\"state\": []},"
                              " \"scan\": {\"entries\": 2000000, \"seconds\": 20},"
                              " \"limits\": {"
                              "  \"memory\": {\"default\": \"2GiB\", \"max\": \"8GiB\"},"
                              "  \"pids\": {\"default\": 512, \"max\": 4096},"
                              "  \"cpu\": {\"default\": \"2\", \"max\": \"8\"},"
                              "  \"tmpfs\": {\"default\": \"memory\", \"max\": \"memory\"},"
                              "  \"open_files\": {\"max\": 1048576}},"
                              " \"environment\": {\"deny\": [\"LD_PRELOAD\", \"LD_AUDIT\"]},"
                              " \"exec\": {\"allow\": true, \"users\": [\"same\"],"
                              "  \"commands\": []}}";

static const char *const action_names[] = {
  [ACTION_OFF] = "off",
  [ACTION_WARN] = "warn",
  [ACTION_TIGHTEN] = "tighten",
  [ACTION_REJECT] = "reject",
};

const char *action_name (enum action action) { return action_names[action]; }

int action_parse (const char *name)
{
  for (size_t i = 0; i < ARRAY_SIZE (action_names); i++)
    if (str_equal (name, action_names[i]))
      return (int)i;
  return -1;
}

int rule_find (const char *id)
{
  for (int i = 0; i < RULE_COUNT; i++)
    if (str_equal (id, rules[i].id))
      return i;
  return -1;
}

static void set_default (const struct rule *rule, enum action *setting, bool *raised)
{
  *setting = rule->standard;
  *raised = false;
}

/* Tightenings that only add protection stay tightenings in strict: rejecting what nobody asked for
   would leave no configuration of an engine admitted.  */
static void set_strict (const struct rule *rule, enum action *setting, bool *raised)
{
  bool raise = (rule->flags & (RULE_STARRED | RULE_FIXED)) == 0;

  *setting = raise ? ACTION_REJECT : rule->standard;
  *raised = raise;
}

static void set_permissive (const struct rule *rule, enum action *setting, bool *raised)
{
  *setting = (rule->flags & RULE_FIXED) != 0 ? ACTION_REJECT : ACTION_OFF;
  *raised = false;
}

static const struct
{
  const char *name;
  void (*set) (const struct rule *, enum action *, bool *);
} profiles[] = {
  { "builtin:default", set_default },
  { "builtin:strict", set_strict },
  { "builtin:permissive", set_permissive },
};

int builtin_settings (const char *profile, struct policy *policy)
{
  for (size_t i = 0; i < ARRAY_SIZE (profiles); i++)
    {
      if (!str_equal (profile, profiles[i].name))
        continue;
      for (int rule = 0; rule < RULE_COUNT; rule++)
        profiles[i].set (&rules[rule], &policy->settings[rule], &policy->raised[rule]);
      return 0;
    }
  return -ENOENT;
}
