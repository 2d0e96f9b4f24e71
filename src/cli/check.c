/* SPDX-License-Identifier: Apache-2.0 */
/* check: the verdict and nothing else (cli.md, "Agent-sandbox commands").  Exit code 0 admitted, 3
   denied, 1 could not be decided.  */
#include <errno.h>
#include <stdio.h>

#include "base/str.h"
#include "cli/command.h"
#include "cli/stages.h"
#include "cli/stages_exec.h"
#include "cli/stages_update.h"
#include "plan/make.h"
#include "policy/display.h"

#define EXIT_DENIED    3
#define EXIT_UNDECIDED 1

struct check_options
{
  const char *format;
  const char *config;
  const char *process;
  const char *resources;
  bool plan;
};

#define ROW(name, letter, kind, member, argument, help)                                            \
  {                                                                                                \
    name, letter, kind, offsetof (struct check_options, member), argument, help                    \
  }

static const struct option_row rows[] = {
  ROW ("format", 0, OPTION_STRING, format, "FORMAT", "text or json"),
  ROW ("config", 'f', OPTION_STRING, config, "FILE", "in place of config.json in the bundle"),
  ROW ("process", 'p', OPTION_STRING, process, "FILE",
       "judge an exec of this process in container ID (- for standard input)"),
  ROW ("resources", 0, OPTION_STRING, resources, "FILE",
       "judge an update of container ID with these resources (- for standard input)"),
  ROW ("plan", 0, OPTION_FLAG, plan, NULL, "print the plan that would run as well"),
  { NULL, 0, OPTION_FLAG, 0, NULL, NULL },
};

static int make_plan (struct judged *judged, char **ret, struct error *err)
{
  struct plan *plan, *shown;
  size_t len;
  int r = stages_plan (judged, &plan, err);
  if (r < 0)
    return r;
  /* Values of the environment may be secrets; nobody needs them to judge a plan.  */
  shown = plan_without_environment (plan, judged->arena);
  if (shown == NULL || oci_emit (&plan_type, shown, OCI_PRETTY, judged->arena, ret, &len) < 0)
    return error_set (err, -ENOMEM, "out of memory for the plan");
  return 0;
}

static int show (const struct verdict_view *view, bool json, struct arena *arena, struct error *err)
{
  const char *text = json ? policy_verdict_json (view, arena) : policy_verdict_text (view, arena);
  if (text == NULL)
    return error_set (err, -ENOMEM, "out of memory for the verdict");
  fputs (text, stdout);
  return view->denied ? EXIT_DENIED : 0;
}

static int check_bundle (const struct invocation *in, bool json, struct error *err)
{
  const struct check_options *o = in->values;
  cleanup_judged struct judged judged = JUDGED_INIT;
  const struct judge_options options = { .bundle = in->argv[0], .config = o->config };
  int r = stages_judge (in->global, &options, &judged, err);
  if (r < 0)
    return r;
  struct verdict_view view = {
    .policy = judged.policy,
    .findings = &judged.findings,
    .denied = judged.denied,
    .config_digest = judged.bundle.digest,
    .late_sockets = judged.admission.late_sockets,
  };
  r = o->plan && !judged.denied ? make_plan (&judged, &view.plan_json, err) : 0;
  return r < 0 ? r : show (&view, json, judged.arena, err);
}

static int check_process (const struct invocation *in, bool json, struct error *err)
{
  const struct check_options *o = in->values;
  cleanup_judged_exec struct judged_exec e = JUDGED_EXEC_INIT;
  const struct exec_options options = { .process = o->process };
  int r = exec_judge (in->global, &options, in->argc, in->argv, &e, err);
  if (r < 0)
    return r;
  const struct verdict_view view = {
    .policy = e.policy,
    .findings = &e.findings,
    .denied = e.denied,
    .config_digest = e.container.record->plan->config_digest,
  };
  return show (&view, json, e.arena, err);
}

static int check_resources (const struct invocation *in, bool json, struct error *err)
{
  const struct check_options *o = in->values;
  cleanup_judged_update struct judged_update u = JUDGED_UPDATE_INIT;
  struct oci_resources *asked = NULL;
  int r = update_prepare (in->global, &u, err);
  if (r == 0)
    r = update_read (&u, o->resources, &asked, err);
  if (r == 0)
    r = update_judge (in->global, in->argv[0], asked, &u, err);
  if (r < 0)
    return r;
  const struct verdict_view view = {
    .policy = u.policy,
    .findings = &u.findings,
    .denied = u.denied,
    .config_digest = u.container.record->plan->config_digest,
  };
  return show (&view, json, u.arena, err);
}

/* No verdict: with --format json that is an object as well, so that a reader of the output need not
   look at standard error.  */
static void show_undecided (const struct error *why)
{
  cleanup_strbuf struct strbuf b = { 0 };
  strbuf_add (&b, "{\"verdict\": \"error\", \"message\": ");
  strbuf_json_string (&b, why->message);
  strbuf_add (&b, "}\n");
  if (!b.failed)
    fputs (b.data, stdout);
}

static int check_options (const struct check_options *o, struct error *err)
{
  char quoted[STR_QUOTE_MAX];
  if (o->format != NULL && !str_equal (o->format, "json") && !str_equal (o->format, "text"))
    return error_set (err, -EINVAL, "check: --format is text or json, not %s",
                      str_quote (o->format, quoted));
  if (o->resources != NULL && (o->config != NULL || o->plan))
    return error_set (err, -EINVAL, "check: --resources judges an update: no --config, no --plan");
  if (o->process != NULL && (o->config != NULL || o->plan || o->resources != NULL))
    return error_set (err, -EINVAL,
                      "check: --process judges an exec: no --config, no --plan, no --resources");
  return 0;
}

static int run_check (const struct invocation *in, struct error *err)
{
  const struct check_options *o = in->values;
  bool json = str_equal (o->format, "json");
  int r = check_options (o, err);
  if (r == 0)
    r = o->process != NULL     ? check_process (in, json, err)
        : o->resources != NULL ? check_resources (in, json, err)
                               : check_bundle (in, json, err);
  if (r < 0 && json)
    show_undecided (err);
  return r;
}

const struct command command_check = {
  .name = "check",
  .arguments = "BUNDLE|ID",
  .summary = "say whether a bundle would be admitted, and what would be changed",
  .options = rows,
  .values_size = sizeof (struct check_options),
  .min_args = 1,
  .max_args = 1,
  .judges_bundle = true,
  .failure = EXIT_UNDECIDED,
  .run = run_check,
};
