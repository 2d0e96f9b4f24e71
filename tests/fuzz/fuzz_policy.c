/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: a policy file.  What is accepted can be shown and read again as the same policy;
   what is refused has a problem with a line.  Then the same bytes as a user's own file over a
   host's policy, which may only become stricter.  Needs no privileges.  */
#include <errno.h>
#include <string.h>

#include "fuzz.h"
#include "policy/internal.h"

static void start (struct policy *policy, struct arena *arena)
{
  memset (policy, 0, sizeof *policy);
  policy->arena = arena;
  policy->name = arena_strdup (arena, "file");
  memcpy (policy->today, "2026-12-01", sizeof policy->today);
}

static void check_problems (const struct problems *problems, int r)
{
  require (!problems->failed, "memory was not short");
  require ((r == -EINVAL) == (problems->len > 0), "a refusal has a problem, a success none");
  for (size_t i = 0; i < problems->len; i++)
    {
      require (strncmp (problems->lines[i], "file:", 5) == 0
                   || strncmp (problems->lines[i], "shown:", 6) == 0,
               "a problem names the file");
      for (const char *c = problems->lines[i]; *c != '\0'; c++)
        require ((unsigned char)*c >= 0x20, "a problem is one printable line");
    }
}

static void check_shown (struct policy *policy, struct arena *arena)
{
  struct policy again;
  struct problems problems = { .arena = arena };
  char *json = policy_to_json (policy, arena);

  require (json != NULL, "an accepted policy can be shown");
  start (&again, arena);
  require (policy_parse (&again, "shown", json, strlen (json), &problems) == 0,
           "what is shown is a policy");
  for (int rule = 0; rule < RULE_COUNT; rule++)
    require (again.settings[rule] == policy->settings[rule]
                 || (rules[rule].allowed & (1U << policy->settings[rule])) == 0,
             "with the same settings");
}

static void check_tightened (struct arena *arena, const char *bytes, size_t size)
{
  struct policy host, before;
  struct problems problems = { .arena = arena };

  start (&host, arena);
  host.name = arena_strdup (arena, "builtin:default");
  require (policy_parse (&host, "builtin:default", NULL, 0, &problems) == 0, "the profile is one");
  before = host;
  int r = policy_tighten (&host, "file", bytes, size, &problems);
  check_problems (&problems, r);
  for (int rule = 0; rule < RULE_COUNT; rule++)
    require (host.settings[rule] >= before.settings[rule], "no rule is weaker");
  require (r < 0 || host.values.memory.max <= before.values.memory.max, "no limit is higher");
  require (r < 0 || host.values.pids.max <= before.values.pids.max, "no limit is higher");
  require (host.effective->grants_len == 0, "nothing is granted");
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  cleanup_arena struct arena *arena = arena_new ();
  struct policy policy;
  struct problems problems = { .arena = arena };

  start (&policy, arena);
  int r = policy_parse (&policy, "file", (const char *)data, size, &problems);
  check_problems (&problems, r);
  if (r == 0)
    {
      require (policy_finish (&policy) == 0, "an accepted policy has a digest");
      check_shown (&policy, arena);
    }
  check_tightened (arena, (const char *)data, size);
  return 0;
}
