/* SPDX-License-Identifier: Apache-2.0 */
/* policy show | validate FILE | explain [RULE] | suggest BUNDLE.  */
#include <errno.h>
#include <stdio.h>

#include "base/str.h"
#include "cli/command.h"
#include "cli/stages.h"
#include "policy/policy.h"
#include "spec/validate.h"

static int show (const struct invocation *in, struct arena *arena, struct error *err)
{
  struct policy *policy = NULL;
  int r = policy_load (in->global->policy, in->global->program, false, &policy, err);
  if (r < 0)
    return r;
  const char *json = policy_to_json (policy, arena);
  if (json == NULL)
    r = error_set (err, -ENOMEM, "out of memory for the policy");
  else
    printf ("%s\n", json);
  policy_free (policy);
  return r;
}

static int validate (const struct invocation *in, struct arena *arena, struct error *err)
{
  char **lines = NULL;
  size_t n = 0;
  const char *path = in->argv[1];
  int r = policy_validate_file (path, arena, &lines, &n, err);
  if (r == 0)
    {
      printf ("%s is valid\n", path);
      return 0;
    }
  for (size_t i = 0; i < n; i++)
    fprintf (stderr, "%s\n", lines[i]);
  if (n > 0)
    return 1;
  return r;
}

static void explain_one (const struct rule_help *h)
{
  printf ("%s\n\n  protects    %s\n  looks at    %s\n\n  docker      %s\n  podman      %s\n"
          "  Kubernetes  %s\n",
          h->id, h->protects, h->looks_at, h->docker, h->podman, h->kubernetes);
}

static int explain (const struct invocation *in, struct arena *arena, struct error *err)
{
  char quoted[STR_QUOTE_MAX];
  (void)arena;
  if (in->argc == 1)
    {
      for (const struct rule_help *const *h = policy_rules (); *h != NULL; h++)
        printf ("%-28s %s\n", (*h)->id, (*h)->protects);
      return 0;
    }
  const struct rule_help *help = policy_explain (in->argv[1]);
  if (help == NULL)
    return error_set (err, -ENOENT, "no rule is called %s (agentrun policy explain lists them)",
                      str_quote (in->argv[1], quoted));
  explain_one (help);
  return 0;
}

/* As comments, which a policy file may have: the output is one.  */
static void print_hopeless (const struct findings *invalid, const struct policy_suggestion *s)
{
  for (size_t i = 0; i < invalid->len; i++)
    if (str_equal (invalid->items[i].action, "reject"))
      printf ("// can't be admitted: %s at %s: %s\n", invalid->items[i].rule,
              invalid->items[i].pointer, invalid->items[i].message);
  for (size_t i = 0; i < s->hopeless_len; i++)
    printf ("// can't be admitted: %s\n", s->hopeless[i]);
}

static int suggest (const struct invocation *in, struct arena *arena, struct error *err)
{
  const struct judge_options options = { .bundle = in->argv[1] };
  cleanup_judged struct judged j = JUDGED_INIT;
  struct findings invalid = { .arena = arena };
  struct policy_suggestion s = { 0 };
  int r = stages_judge (in->global, &options, &j, err);
  if (r < 0)
    return r;
  if (j.config == NULL) /* not even read: all that there is is why */
    invalid = j.findings;
  else
    {
      spec_validate (j.config, &invalid);
      r = policy_suggest (j.policy, j.config, j.resolved.facts, &j.request, &invalid, arena, &s,
                          err);
    }
  if (r < 0)
    return r;
  print_hopeless (&invalid, &s);
  bool hopeless = findings_reject (&invalid) || s.hopeless_len > 0;
  if (s.items == 0 && !hopeless)
    printf ("// admitted by policy %s as it is\n", policy_name (j.policy));
  else if (s.items > 0)
    printf ("// to be added to policy %s; each reason is yours to give\n%s\n",
            policy_name (j.policy), s.json);
  return hopeless ? 3 : 0;
}

static const struct
{
  const char *name;
  int min_args, max_args;
  int (*run) (const struct invocation *, struct arena *, struct error *);
} verbs[] = {
  { "show", 1, 1, show },
  { "validate", 2, 2, validate },
  { "explain", 1, 2, explain },
  { "suggest", 2, 2, suggest },
};

static int run_policy (const struct invocation *in, struct error *err)
{
  for (size_t i = 0; i < ARRAY_SIZE (verbs); i++)
    if (str_equal (verbs[i].name, in->argv[0]) && in->argc >= verbs[i].min_args
        && in->argc <= verbs[i].max_args)
      {
        struct arena *arena = arena_new ();
        int r = arena ? verbs[i].run (in, arena, err) : error_set (err, -ENOMEM, "out of memory");
        arena_free (arena);
        return r;
      }
  return error_set (err, -EINVAL, "policy: expected %s", in->command->arguments);
}

const struct command command_policy = {
  .name = "policy",
  .arguments = "show | validate FILE | explain [RULE] | suggest BUNDLE",
  .summary =
      "show the policy in force, check a policy file, explain a rule, or draft what a bundle needs",
  .min_args = 1,
  .max_args = 2,
  .failure = 1,
  .run = run_policy,
};
