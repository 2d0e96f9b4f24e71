/* SPDX-License-Identifier: Apache-2.0 */
/* Owns admission: the table of rule families, the loop that runs it until nothing changes, and the
   weighing and recording of findings.  Pure: configuration, policy, facts and request go in,
   findings and a tightened copy come out.  Runs in the parent, needs no privilege.  */
#include <errno.h>
#include <string.h>

#include "policy/internal.h"

/* Tightened values are judged again; a rule set that doesn't come to rest by then is a defect, and
   the run is refused.  */
#define EXTRA_PASSES 2

enum
{
  FOR_CONFIG = 1, /* create and run */
  FOR_PROCESS = 2 /* exec: a process that joins later */
};

/* In catalogue order, which is the order in which a user sees the findings.  */
static const struct
{
  rule_check *check;
  unsigned scope;
} checks[] = {
  { check_request, FOR_CONFIG },
  { check_descriptors, FOR_CONFIG | FOR_PROCESS },
  { check_user, FOR_CONFIG | FOR_PROCESS },
  { check_capabilities, FOR_CONFIG | FOR_PROCESS },
  { check_privileges, FOR_CONFIG | FOR_PROCESS },
  { check_seccomp, FOR_CONFIG },
  { check_lsm, FOR_CONFIG | FOR_PROCESS },
  { check_namespaces, FOR_CONFIG },
  { check_userns, FOR_CONFIG },
  { check_mount_sources, FOR_CONFIG },
  { check_mount_sockets, FOR_CONFIG },
  { check_mount_contents, FOR_CONFIG },
  { check_mount_kinds, FOR_CONFIG },
  { check_mount_pseudo, FOR_CONFIG },
  { check_mount_options, FOR_CONFIG },
  { check_mount_destinations, FOR_CONFIG },
  { check_mount_hardening, FOR_CONFIG },
  { check_mount_protected, FOR_CONFIG },
  { check_rootfs, FOR_CONFIG },
  { check_masked_paths, FOR_CONFIG },
  { check_cwd, FOR_CONFIG | FOR_PROCESS },
  { check_devices, FOR_CONFIG },
  { check_sysctls, FOR_CONFIG },
  { check_limits, FOR_CONFIG },
  { check_tmpfs_limits, FOR_CONFIG },
  { check_rlimits, FOR_CONFIG | FOR_PROCESS },
  { check_cgroup_path, FOR_CONFIG },
  { check_scheduling, FOR_CONFIG | FOR_PROCESS },
  { check_hooks, FOR_CONFIG },
  { check_annotations, FOR_CONFIG },
  { check_environment, FOR_CONFIG | FOR_PROCESS },
  { check_image, FOR_CONFIG },
  { check_exec, FOR_PROCESS }, /* last: it compares what the others left */
};

enum action rule_action (const struct policy *policy, enum rule_id rule, enum action natural)
{
  enum action setting = policy->settings[rule];

  if (natural == ACTION_OFF || setting == ACTION_OFF)
    return ACTION_OFF;
  if (policy->raised[rule])
    return ACTION_REJECT;
  if (setting == rules[rule].standard || setting == ACTION_TIGHTEN)
    return natural;
  return setting;
}

/* A finding of an earlier pass, or of validation, that says the same.  */
static bool is_known (const struct evaluation *ev, const struct finding *new)
{
  const struct findings *list = ev->findings;

  for (size_t i = 0; i < list->len; i++)
    {
      const struct finding *old = &list->items[i];
      bool same = str_equal (old->rule, new->rule) && str_equal (old->pointer, new->pointer)
                  && str_equal (old->action, new->action);

      if (same && (i < ev->first || str_equal (old->message, new->message)))
        return true;
    }
  return false;
}

/* The tightening that made the value at POINTER what it is now.  */
static const struct finding *tightened_at (const struct evaluation *ev, const char *pointer)
{
  const struct findings *list = ev->findings;

  for (size_t i = list->len; i > ev->first; i--)
    {
      const struct finding *f = &list->items[i - 1];

      if (f->has_applied && f->applied
          && (path_is_within (pointer, f->pointer) || path_is_within (f->pointer, pointer)))
        return f;
    }
  return NULL;
}

static struct finding *record (struct evaluation *ev, const char *rule, enum action action,
                               const char *pointer, const char *message)
{
  struct finding probe = {
    .rule = (char *)rule,
    .action = (char *)action_name (action),
    .pointer = (char *)pointer,
    .message = (char *)message,
  };
  const struct finding *cause = NULL;

  if (message == NULL || pointer == NULL)
    {
      ev->findings->failed = true;
      return NULL;
    }
  if (is_known (ev, &probe))
    return NULL;
  if (ev->pass > 0 && action == ACTION_REJECT)
    cause = tightened_at (ev, pointer);
  if (cause == NULL)
    return finding_add (ev->findings, rule, action_name (action), pointer, "%s", message);
  return finding_add (ev->findings, rule, action_name (action), pointer,
                      "%s (after %s changed %s from %s to %s)", message, cause->rule,
                      cause->pointer, cause->old == NULL ? "null" : cause->old,
                      cause->new == NULL ? "null" : cause->new);
}

struct finding *ev_report (struct evaluation *ev, enum rule_id rule, enum action natural,
                           const char *pointer, const char *format, ...)
{
  enum action action = rule_action (ev->policy, rule, natural);
  va_list ap;
  char *message;

  if (action == ACTION_OFF)
    return NULL;
  va_start (ap, format);
  message = arena_vprintf (ev->arena, format, ap);
  va_end (ap);
  return record (ev, rules[rule].id, action, pointer, message);
}

void ev_fix (struct evaluation *ev, struct finding *finding, const char *format, ...)
{
  va_list ap;

  if (finding == NULL)
    return;
  va_start (ap, format);
  finding->fix = arena_vprintf (ev->arena, format, ap);
  va_end (ap);
  if (finding->fix == NULL)
    ev->findings->failed = true;
}

bool ev_tighten (struct evaluation *ev, const struct tightening *t, const char *format, ...)
{
  enum action action = rule_action (ev->policy, t->rule, ACTION_TIGHTEN);
  bool apply = action == ACTION_TIGHTEN && !ev->policy->audit;
  struct finding *finding;
  va_list ap;
  char *message;

  if (action == ACTION_OFF)
    return false;
  va_start (ap, format);
  message = arena_vprintf (ev->arena, format, ap);
  va_end (ap);
  finding = record (ev, rules[t->rule].id, action, t->pointer, message);
  ev->changed |= apply;
  if (finding != NULL)
    {
      finding->fix = (char *)t->fix;
      finding->old = (char *)t->old;
      finding->new = (char *)t->new;
      finding->has_applied = action == ACTION_TIGHTEN;
      finding->applied = apply;
    }
  return apply;
}

static int prepare (struct evaluation *ev, const struct oci_config *config)
{
  struct oci_config *copy = oci_clone (&oci_config_type, ev->arena, config);

  if (copy == NULL)
    return -ENOMEM;
  /* Rules may then look at these without asking; validation has already refused a configuration
     that lacks the process.  */
  if (copy->process == NULL)
    copy->process = ev_alloc (ev, 1, sizeof *copy->process);
  if (copy->process != NULL && copy->process->user == NULL)
    copy->process->user = ev_alloc (ev, 1, sizeof *copy->process->user);
  if (copy->linux == NULL)
    copy->linux = ev_alloc (ev, 1, sizeof *copy->linux);
  if (ev->findings->failed)
    return -ENOMEM;
  ev->config = copy;
  ev->process = copy->process;
  return 0;
}

static void run_checks (struct evaluation *ev, unsigned scope)
{
  for (ev->pass = 0; ev->pass <= EXTRA_PASSES; ev->pass++)
    {
      ev->changed = false;
      for (size_t i = 0; i < ARRAY_SIZE (checks); i++)
        if ((checks[i].scope & scope) != 0)
          checks[i].check (ev);
      if (!ev->changed)
        return;
    }
  finding_add (ev->findings, "config.invalid", "reject", "",
               "the configuration still changes after %d rounds of tightening", EXTRA_PASSES);
}

/* What the parser reported as unknown members carries a rule that a policy can set.  */
void ev_weigh_unknown (struct evaluation *ev)
{
  enum action action = rule_action (ev->policy, RULE_JSON_UNKNOWN, ACTION_WARN);
  struct findings *list = ev->findings;
  size_t kept = 0;

  for (size_t i = 0; i < list->len; i++)
    {
      struct finding f = list->items[i];

      if (str_equal (f.rule, rules[RULE_JSON_UNKNOWN].id) && str_equal (f.action, "warn"))
        {
          if (action == ACTION_OFF)
            continue;
          f.action = (char *)action_name (action);
        }
      list->items[kept++] = f;
    }
  list->len = kept;
}

/* Audit mode runs what the policy would refuse.  It can't run what makes no sense, nor what breaks
   a fixed rule.  */
bool ev_is_denied (const struct evaluation *ev)
{
  const struct findings *list = ev->findings;

  for (size_t i = 0; i < list->len; i++)
    {
      int rule = rule_find (list->items[i].rule);

      if (!str_equal (list->items[i].action, "reject"))
        continue;
      if (!ev->policy->audit || i < ev->first || rule < 0 || (rules[rule].flags & RULE_FIXED) != 0)
        return true;
    }
  return false;
}

int policy_admit (const struct policy *policy, const struct oci_config *config,
                  const struct facts *facts, const struct policy_request *request,
                  struct arena *arena, struct findings *findings, struct admission *ret,
                  struct error *err)
{
  struct admission admission = { 0 };
  struct evaluation ev = {
    .policy = policy,
    .facts = facts,
    .request = request,
    .arena = arena,
    .findings = findings,
    .admission = &admission,
    .process_pointer = "/process",
  };

  int r = prepare (&ev, config);
  if (r == 0)
    {
      ev_weigh_unknown (&ev);
      ev.first = findings->len;
      run_checks (&ev, FOR_CONFIG);
    }
  if (r < 0 || findings->failed)
    return error_set (err, -ENOMEM, "judge the configuration: out of memory");
  admission.config = ev.config;
  admission.denied = ev_is_denied (&ev);
  *ret = admission;
  return 0;
}

/* The rules look at a configuration: it has the process that joins in the place of the container's
   own, and a user namespace if the container has one.  */
int policy_admit_exec (const struct policy *policy, const struct policy_exec_request *exec,
                       const struct facts *facts, struct arena *arena, struct findings *findings,
                       struct oci_process **ret, bool *ret_denied, struct error *err)
{
  struct oci_namespace user = { .type = (char *)"user" };
  struct oci_linux linux = { .namespaces = &user,
                             .namespaces_len = exec->user_namespace,
                             .has_namespaces = true };
  const struct oci_config config = { .process = (struct oci_process *)exec->process,
                                     .linux = &linux };
  const struct policy_request request = { .preserve_fds = exec->preserve_fds };
  struct evaluation ev = {
    .policy = policy,
    .facts = facts,
    .request = &request,
    .arena = arena,
    .findings = findings,
    .process_pointer = "/process",
    .container = exec->container,
  };

  int r = prepare (&ev, &config);
  if (r == 0)
    {
      ev_weigh_unknown (&ev);
      ev.first = findings->len;
      run_checks (&ev, FOR_PROCESS);
    }
  if (r < 0 || findings->failed)
    return error_set (err, -ENOMEM, "judge the process: out of memory");
  *ret = ev.process;
  *ret_denied = ev_is_denied (&ev);
  return 0;
}

void *ev_alloc (struct evaluation *ev, size_t count, size_t size)
{
  void *made = arena_alloc_array (ev->arena, count, size);

  ev->findings->failed |= made == NULL;
  return made;
}

char *ev_printf (struct evaluation *ev, const char *format, ...)
{
  va_list ap;
  char *made;

  va_start (ap, format);
  made = arena_vprintf (ev->arena, format, ap);
  va_end (ap);
  ev->findings->failed |= made == NULL;
  return made;
}

static char *take_text (struct evaluation *ev, struct strbuf *b)
{
  char *made = b->failed ? NULL : arena_strdup (ev->arena, b->data);

  ev->findings->failed |= made == NULL;
  strbuf_free (b);
  return made;
}

char *ev_json_strings (struct evaluation *ev, char *const *items, size_t len)
{
  struct strbuf b = { 0 };

  strbuf_add (&b, "[");
  for (size_t i = 0; i < len; i++)
    {
      strbuf_add (&b, i == 0 ? "" : ", ");
      strbuf_json_string (&b, items[i]);
    }
  strbuf_add (&b, "]");
  return take_text (ev, &b);
}

char *ev_json_numbers (struct evaluation *ev, const uint32_t *items, size_t len)
{
  struct strbuf b = { 0 };

  strbuf_add (&b, "[");
  for (size_t i = 0; i < len; i++)
    strbuf_printf (&b, "%s%u", i == 0 ? "" : ", ", items[i]);
  strbuf_add (&b, "]");
  return take_text (ev, &b);
}

char *ev_json (struct evaluation *ev, const struct oci_type *type, const void *object)
{
  char *text = NULL;

  if (object == NULL)
    return ev_printf (ev, "null");
  if (oci_emit (type, object, 0, ev->arena, &text, NULL) < 0)
    ev->findings->failed = true;
  return text;
}

char *ev_process (struct evaluation *ev, const char *rest)
{
  return ev_printf (ev, "%s%s", ev->process_pointer, rest);
}
