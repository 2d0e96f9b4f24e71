/* SPDX-License-Identifier: Apache-2.0 */
/* Rules environment.*: variables that load code, and values that look like credentials.  A value
   never reaches a message.  Pure code.  */
#include <ctype.h>
#include <string.h>

#include "policy/internal.h"

/* How tokens of well-known services begin, and how many of their characters follow at least.  */
static const struct
{
  const char *prefix;
  const char *characters;
  size_t at_least;
} token_shapes[] = {
#define WORD "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
  { "AKIA", "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", 16 },
  { "ASIA", "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", 16 },
  { "AIza", WORD, 30 },
  { "ghp_", WORD, 30 },
  { "gho_", WORD, 30 },
  { "ghs_", WORD, 30 },
  { "ghu_", WORD, 30 },
  { "github_pat_", WORD, 30 },
  { "glpat-", WORD, 18 },
  { "hf_", WORD, 30 },
  { "npm_", WORD, 30 },
  { "pypi-", WORD, 30 },
  { "sk-", WORD, 20 },
  { "xoxb-", WORD, 20 },
  { "xoxp-", WORD, 20 },
};

static const char *const secret_words[] = {
  "ACCESS_KEY", "API_KEY",     "APIKEY", "CREDENTIAL", "PASSWD",
  "PASSWORD",   "PRIVATE_KEY", "SECRET", "TOKEN",
};

static bool value_is_secret (const char *value)
{
  if (strstr (value, "-----BEGIN ") != NULL && strstr (value, "PRIVATE KEY-----") != NULL)
    return true;
  for (size_t i = 0; i < ARRAY_SIZE (token_shapes); i++)
    {
      size_t len = strlen (token_shapes[i].prefix);

      if (str_has_prefix (value, token_shapes[i].prefix)
          && strspn (value + len, token_shapes[i].characters) >= token_shapes[i].at_least)
        return true;
    }
  return false;
}

static bool name_is_secret (const char *name)
{
  for (size_t i = 0; i < ARRAY_SIZE (secret_words); i++)
    if (strcasestr (name, secret_words[i]) != NULL)
      return true;
  return false;
}

static void check_variable (struct evaluation *ev, size_t index, const char *name,
                            const char *value)
{
  const struct policy_environment *environment = ev->policy->effective->environment;
  char *pointer = ev_printf (ev, "%s/env/%zu", ev->process_pointer, index);
  char quoted[STR_QUOTE_MAX];
  struct finding *f = NULL;

  str_quote (name, quoted);
  if (environment != NULL && strings_contain (environment->deny, environment->deny_len, name))
    f = ev_report (ev, RULE_ENVIRONMENT_LOADER, ACTION_WARN, pointer,
                   "the variable %s loads code into every program", quoted);
  ev_fix (ev, f, "remove -e %s", quoted);
  f = NULL;
  if (value_is_secret (value))
    f = ev_report (ev, RULE_ENVIRONMENT_SECRET, ACTION_WARN, pointer,
                   "the value of the variable %s has the shape of a credential", quoted);
  else if (*value != '\0' && name_is_secret (name))
    f = ev_report (ev, RULE_ENVIRONMENT_SECRET, ACTION_WARN, pointer,
                   "the variable %s says that it holds a credential", quoted);
  ev_fix (ev, f, "keep it out of the container; give the agent a proxy that holds it");
}

void check_environment (struct evaluation *ev)
{
  const struct oci_process *process = ev->process;

  for (size_t i = 0; i < process->env_len; i++)
    {
      const char *equals = strchr (process->env[i], '=');
      char *name;

      if (equals == NULL)
        continue;
      name = arena_strndup (ev->arena, process->env[i], (size_t)(equals - process->env[i]));
      ev->findings->failed |= name == NULL;
      if (name != NULL)
        check_variable (ev, i, name, equals + 1);
    }
}
