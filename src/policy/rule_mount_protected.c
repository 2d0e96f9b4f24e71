/* SPDX-License-Identifier: Apache-2.0 */
/* Rule mount.protected: names in a writable workspace that the workload may read and not change,
   such as the hooks of a repository that the host's own git would run.  Pure code.  */
#include <string.h>

#include "policy/internal.h"

/* The part of PATH below the directory that a grant's SOURCE names, "" for that itself.  A pattern
   without ** has as many components as what it matches.  */
static const char *below_grant (const char *source, const char *path)
{
  const char *rest = path;

  for (const char *c = source; *c != '\0'; c++)
    if (*c == '/')
      rest = strchrnul (rest + 1, '/');
  return *rest == '/' ? rest + 1 : rest;
}

/* NAME as seen from a source that is REST below the grant's: what is left of it, "" when the source
   is protected as a whole, NULL when it has nothing to do with it.  */
static const char *name_below (const char *name, const char *rest)
{
  size_t len = strlen (rest), name_len = strlen (name);

  if (len == 0)
    return name;
  if (strncmp (name, rest, len) == 0 && name[len] == '/')
    return name + len + 1;
  return strncmp (rest, name, name_len) == 0 && (rest[name_len] == '\0' || rest[name_len] == '/')
             ? ""
             : NULL;
}

static const struct fact_name *find_name (const struct fact_source *source, const char *name)
{
  for (size_t i = 0; i < source->names_len; i++)
    if (str_equal (source->names[i].path, name))
      return &source->names[i];
  return NULL;
}

/* By an earlier pass, or by another grant.  */
static bool is_protected (const struct evaluation *ev, const struct mount_view *view,
                          const char *path)
{
  const struct admission *a = ev->admission;

  for (size_t i = 0; i < a->protected_len; i++)
    if (a->protected[i].mount == view->index && str_equal (a->protected[i].path, path))
      return true;
  return false;
}

static void add_protected (struct evaluation *ev, const struct mount_view *view,
                           const struct fact_name *name)
{
  struct admission *a = ev->admission;
  struct protected_path *grown;

  grown = ev_alloc (ev, a->protected_len + 1, sizeof *grown);
  if (grown == NULL)
    return;
  for (size_t i = 0; i < a->protected_len; i++)
    grown[i] = a->protected[i];
  grown[a->protected_len] =
      (struct protected_path){ view->index, name->path, name->dev, name->ino };
  a->protected = grown;
  a->protected_len++;
}

static void check_name (struct evaluation *ev, const struct mount_view *view,
                        const struct policy_grant *grant, const char *rel)
{
  const struct fact_name *name = find_name (view->source, rel);
  bool missing = name != NULL && str_equal (name->error, "ENOENT");
  bool warn = missing && str_equal (grant->protect_missing, "warn");
  char quoted[STR_QUOTE_MAX];
  struct finding *f;

  str_quote (rel, quoted);
  if (missing)
    {
      f = ev_report (
          ev, RULE_MOUNT_PROTECTED, warn ? ACTION_WARN : ACTION_REJECT, view->source_pointer,
          "%s, which a grant protects, does not exist: the workload could make it", quoted);
      ev_fix (ev, f, "make it on the host, or add \"protect_missing\": \"warn\" to the grant");
    }
  else if (name == NULL || name->error != NULL || !name->has_ino || !name->has_dev)
    ev_report (ev, RULE_MOUNT_PROTECTED, ACTION_REJECT, view->source_pointer,
               "%s, which a grant protects, can't be opened without following a link (%s)", quoted,
               name == NULL || name->error == NULL ? "no answer" : name->error);
  else if (!is_protected (ev, view, rel))
    {
      const struct tightening t = {
        .rule = RULE_MOUNT_PROTECTED,
        .pointer = view->source_pointer,
        .old = "\"rw\"",
        .new = ev_printf (ev, "\"ro: %s\"", quoted),
        .fix = "mount that part read-only",
      };
      if (ev_tighten (ev, &t, "%s is protected by a grant: it becomes read-only", quoted))
        add_protected (ev, view, name);
    }
}

static void check_grant (struct evaluation *ev, const struct mount_view *view,
                         const struct policy_grant *grant)
{
  const char *rest = below_grant (grant->source, view->source->path);

  for (size_t i = 0; i < grant->protect_len; i++)
    {
      const char *rel = name_below (grant->protect[i], rest);
      struct finding *f = NULL;

      if (rel != NULL && rel[0] != '\0')
        check_name (ev, view, grant, rel);
      else if (rel != NULL)
        f = ev_report (ev, RULE_MOUNT_PROTECTED, ACTION_REJECT, view->source_pointer,
                       "it is or lies in %s, which a grant protects, and is mounted writable",
                       grant->protect[i]);
      ev_fix (ev, f, "mount it read-only");
    }
}

void check_mount_protected (struct evaluation *ev)
{
  struct mount_view *views;
  size_t len;

  if (mount_open_binds (ev, &views, &len) < 0)
    return;
  for (size_t i = 0; i < len; i++)
    {
      struct grant_query query = { .kind = "mount", .path = views[i].source->path };
      const struct policy_grant *grant = NULL;

      if (mount_is_readonly (&views[i]))
        continue;
      while ((grant = grant_next (ev->policy, &query, grant)) != NULL)
        check_grant (ev, &views[i], grant);
    }
}
