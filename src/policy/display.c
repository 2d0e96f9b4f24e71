/* SPDX-License-Identifier: Apache-2.0 */
/* Words verdicts: the one line of a denial, the text and the JSON of `check`.  Pure code.  */
#include "policy/display.h"

#include <string.h>

#include "policy/internal.h"
#include "policy/verdict.h" /* generated */

/* What an engine prints behind its own words must still be read to the end.  */
#define SHOWN_MAX 5

/* Read by agents, which retry and work around faults: this is none.  */
static const char closing[] =
    " [a policy decision, not a fault: the same request gives the same answer, change it as said "
    "or ask the operator]";

static char *take (struct strbuf *b, struct arena *arena)
{
  char *made = b->failed ? NULL : arena_strdup (arena, b->data);

  strbuf_free (b);
  return made;
}

/* Findings about a configuration that nothing could run are no decision of a policy.  */
static bool is_policy_rule (const char *rule)
{
  return !str_has_prefix (rule, "json.") && !str_has_prefix (rule, "config.");
}

static void add_denial (struct strbuf *b, const struct findings *findings, bool *ret_policy)
{
  size_t shown = 0, total = 0;

  for (size_t i = 0; i < findings->len; i++)
    {
      const struct finding *f = &findings->items[i];

      if (!str_equal (f->action, "reject"))
        continue;
      *ret_policy = *ret_policy || is_policy_rule (f->rule);
      if (++total > SHOWN_MAX)
        continue;
      strbuf_printf (b, "%s%s: %s.", shown++ == 0 ? "" : " ", f->rule, f->message);
      if (f->fix != NULL)
        strbuf_printf (b, " Fix: %s;", f->fix);
    }
  if (total > shown)
    strbuf_printf (b, " and %zu more (agentrun check shows all)", total - shown);
  *ret_policy = *ret_policy || total == 0;
}

char *policy_denial_line (const struct policy *policy, const struct findings *findings,
                          struct arena *arena)
{
  cleanup_strbuf struct strbuf reasons = { 0 };
  struct strbuf b = { 0 };
  bool by_policy = false;

  add_denial (&reasons, findings, &by_policy);
  if (by_policy)
    strbuf_printf (&b, "agentrun: denied by policy %s: ", policy->name);
  else
    strbuf_add (&b, "agentrun: the configuration can't be run: ");
  strbuf_add (&b, reasons.failed || reasons.data == NULL ? "" : reasons.data);
  if (by_policy)
    strbuf_add (&b, closing);
  if (!b.failed && b.data != NULL)
    str_break_phrases (b.data);
  return take (&b, arena);
}

/* ---- text ---- */

static const struct
{
  const char *action, *heading;
} sections[] = {
  { "reject", "refused" },
  { "tighten", "tightened" },
  { "warn", "warnings" },
};

static void add_finding (struct strbuf *b, const struct finding *f)
{
  strbuf_printf (b, "  %s%s%s\n    %s\n", f->rule, *f->pointer == '\0' ? "" : " at ", f->pointer,
                 f->message);
  if (str_equal (f->action, "tighten"))
    strbuf_printf (b, "    %s: %s -> %s\n", f->applied ? "changed" : "would be changed",
                   f->old == NULL ? "null" : f->old, f->new == NULL ? "null" : f->new);
  else if (f->fix != NULL)
    strbuf_printf (b, "    fix: %s\n", f->fix);
}

static void add_section (struct strbuf *b, const struct findings *findings, const char *action,
                         const char *heading)
{
  size_t count = 0;

  for (size_t i = 0; i < findings->len; i++)
    {
      if (!str_equal (findings->items[i].action, action))
        continue;
      if (count++ == 0)
        strbuf_printf (b, "\n%s:\n", heading);
      add_finding (b, &findings->items[i]);
    }
}

char *policy_verdict_text (const struct verdict_view *view, struct arena *arena)
{
  struct strbuf b = { 0 };

  strbuf_printf (&b, "%s by policy %s (%s)%s\n", view->denied ? "denied" : "admitted",
                 view->policy->name, view->policy->digest,
                 view->policy->audit ? ", audit mode: nothing is enforced but fixed rules" : "");
  for (size_t i = 0; i < ARRAY_SIZE (sections); i++)
    add_section (&b, view->findings, sections[i].action, sections[i].heading);
  if (view->late_sockets != NULL)
    strbuf_printf (&b, "\nsockets made in shared directories later: %s\n", view->late_sockets);
  if (view->plan_json != NULL)
    strbuf_printf (&b, "\nplan:\n%s\n", view->plan_json);
  return take (&b, arena);
}

/* ---- JSON ---- */

char *policy_verdict_json (const struct verdict_view *view, struct arena *arena)
{
  struct verdict_policy policy = {
    .name = view->policy->name,
    .digest = view->policy->digest,
    .mode = (char *)(view->policy->audit ? "audit" : "enforce"),
  };
  struct verdict_config config = { .digest = (char *)view->config_digest };
  struct verdict verdict = {
    .verdict = (char *)(view->denied ? "denied" : "admitted"),
    .policy = &policy,
    .config = &config,
    .has_findings = true,
    .findings = view->findings->items,
    .findings_len = view->findings->len,
    .late_sockets = (char *)view->late_sockets,
    .plan = view->plan_json,
  };
  char *json = NULL;

  if (oci_emit (&verdict_type, &verdict, OCI_PRETTY, arena, &json, NULL) < 0)
    return NULL;
  return arena_printf (arena, "%s\n", json);
}
