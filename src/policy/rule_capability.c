/* SPDX-License-Identifier: Apache-2.0 */
/* Rules capability.*: what engines give by habit is taken away, what somebody asked for is refused,
   in each of the five sets (capabilities(7)).  Pure code.  */
#include "policy/internal.h"
#include "spec/names.h"

/* What Docker and containerd give when nobody asks; Podman's list is a part of it.  */
static const char *const engine_defaults[] = {
  "CAP_CHOWN",   "CAP_DAC_OVERRIDE", "CAP_FSETID",           "CAP_FOWNER",     "CAP_MKNOD",
  "CAP_NET_RAW", "CAP_SETGID",       "CAP_SETUID",           "CAP_SETFCAP",    "CAP_SETPCAP",
  "CAP_KILL",    "CAP_AUDIT_WRITE",  "CAP_NET_BIND_SERVICE", "CAP_SYS_CHROOT",
};

#define SETS       5
#define NAMED_MAX  4  /* capabilities that a message names, before it counts */
#define PRIVILEGED 30 /* with more than these, somebody said --privileged */

struct set
{
  const char *name;
  bool *has;
  char ***items;
  size_t *len;
};

static void list_sets (struct oci_capabilities *c, struct set sets[SETS])
{
  sets[0] = (struct set){ "bounding", &c->has_bounding, &c->bounding, &c->bounding_len };
  sets[1] = (struct set){ "effective", &c->has_effective, &c->effective, &c->effective_len };
  sets[2] = (struct set){ "permitted", &c->has_permitted, &c->permitted, &c->permitted_len };
  sets[3] =
      (struct set){ "inheritable", &c->has_inheritable, &c->inheritable, &c->inheritable_len };
  sets[4] = (struct set){ "ambient", &c->has_ambient, &c->ambient, &c->ambient_len };
}

bool capability_is_default (const char *name)
{
  for (size_t i = 0; i < ARRAY_SIZE (engine_defaults); i++)
    if (str_equal (name, engine_defaults[i]))
      return true;
  return false;
}

static bool is_granted (const struct evaluation *ev, const char *name)
{
  struct grant_query query = { .kind = "capability", .name = name };

  return grant_next (ev->policy, &query, NULL) != NULL;
}

/* The distinct capabilities that are neither default nor granted, over all sets.  */
static size_t find_extra (struct evaluation *ev, const struct set sets[SETS], char **extra,
                          struct strbuf *where)
{
  size_t len = 0;

  for (size_t s = 0; s < SETS; s++)
    {
      bool here = false;

      for (size_t i = 0; i < *sets[s].len; i++)
        {
          char *name = (*sets[s].items)[i];

          if (capability_is_default (name) || is_granted (ev, name))
            continue;
          here = true;
          if (!strings_contain (extra, len, name))
            extra[len++] = name;
        }
      if (here)
        strbuf_printf (where, "%s%s", where->len == 0 ? "" : ", ", sets[s].name);
    }
  return len;
}

static void report_extra (struct evaluation *ev, char **extra, size_t len, const char *where)
{
  cleanup_strbuf struct strbuf names = { 0 };
  cleanup_strbuf struct strbuf flags = { 0 };
  char quoted[STR_QUOTE_MAX];

  for (size_t i = 0; i < len && i < NAMED_MAX; i++)
    {
      bool known = capability_number (extra[i]) >= 0;

      strbuf_printf (&names, "%s%s%s", i == 0 ? "" : ", ", str_quote (extra[i], quoted),
                     known ? "" : " (unknown)");
      strbuf_printf (&flags, "%s--cap-add %s", i == 0 ? "" : " ",
                     str_has_prefix (quoted, "CAP_") ? quoted + 4 : quoted);
    }
  if (len > NAMED_MAX)
    strbuf_printf (&names, " and %zu more", len - NAMED_MAX);
  ev->findings->failed |= names.failed || flags.failed;
  if (ev->findings->failed)
    return;

  struct finding *f = ev_report (
      ev, RULE_CAPABILITY_EXTRA, ACTION_REJECT, ev_process (ev, "/capabilities"),
      "the process asks for %s, beyond what engines give by default (%s)", names.data, where);
  if (len >= PRIVILEGED - ARRAY_SIZE (engine_defaults))
    ev_fix (ev, f, "remove --privileged, add --cap-drop ALL");
  else
    ev_fix (ev, f, "remove %s, or grant the capability in the policy", flags.data);
}

static void check_extra (struct evaluation *ev, const struct set sets[SETS])
{
  cleanup_strbuf struct strbuf where = { 0 };
  size_t total = 0;

  for (size_t s = 0; s < SETS; s++)
    total += *sets[s].len;

  char **extra = ev_alloc (ev, total + 1, sizeof *extra);
  if (extra == NULL)
    return;
  size_t len = find_extra (ev, sets, extra, &where);
  ev->findings->failed |= where.failed;
  if (len > 0 && !ev->findings->failed)
    report_extra (ev, extra, len, where.data);
}

/* Leaves the granted ones; true if that took one away that engines give by default.  */
static bool keep_granted (struct evaluation *ev, struct set *set)
{
  char **kept = ev_alloc (ev, *set->len + 1, sizeof *kept);
  size_t len = 0;
  bool dropped = false;

  for (size_t i = 0; kept != NULL && i < *set->len; i++)
    {
      char *name = (*set->items)[i];
      bool drop = capability_is_default (name) && !is_granted (ev, name);

      dropped |= drop;
      if (!drop)
        kept[len++] = name;
    }
  *set->has = true;
  *set->items = kept;
  *set->len = len;
  return dropped;
}

static void check_default (struct evaluation *ev)
{
  struct oci_capabilities *old = ev->process->capabilities;
  struct oci_capabilities *new = ev_alloc (ev, 1, sizeof *new);
  bool dropped = old == NULL;
  struct set sets[SETS];

  if (new == NULL)
    return;
  if (old != NULL)
    *new = *old;
  list_sets (new, sets);
  for (size_t s = 0; s < SETS; s++)
    dropped |= keep_granted (ev, &sets[s]);
  if (!dropped || ev->findings->failed)
    return;

  struct tightening t = {
    .rule = RULE_CAPABILITY_DEFAULT,
    .pointer = ev_process (ev, "/capabilities"),
    .old = ev_json (ev, &oci_capabilities_type, old),
    .new = ev_json (ev, &oci_capabilities_type, new),
    .fix = "add --cap-drop ALL (Kubernetes: capabilities: drop: [ALL])",
  };
  /* Absent is not empty: the process would keep what the runtime has.  */
  if (ev_tighten (ev, &t, "%s",
                  old == NULL
                      ? "no capability sets are given: the runtime's own would stay"
                      : "capabilities that engines give by default and an agent needs none of"))
    ev->process->capabilities = new;
}

void check_capabilities (struct evaluation *ev)
{
  struct set sets[SETS];

  if (ev->process->capabilities != NULL)
    {
      list_sets (ev->process->capabilities, sets);
      check_extra (ev, sets);
    }
  check_default (ev);
}
