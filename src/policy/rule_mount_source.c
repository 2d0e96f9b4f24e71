/* SPDX-License-Identifier: Apache-2.0 */
/* Rules mount.source, mount.never, mount.mode and mount.foreign: may this part of the host be shown
   at all, and as it is asked for?  Pure code.  */
#include <string.h>

#include "policy/internal.h"

#define SYSTEM_FILE "/etc/agentrun/policy.json"

/* "-v SOURCE:DESTINATION", as the user typed it.  */
static char *volume_flag (struct evaluation *ev, const struct mount_view *view)
{
  char source[STR_QUOTE_MAX], destination[STR_QUOTE_MAX];

  return ev_printf (ev, "-v %s:%s", str_quote (view->mount->source, source),
                    str_quote (view->mount->destination, destination));
}

/* The source's real path, and the typed one where that is another.  */
static char *source_name (struct evaluation *ev, const struct mount_view *view)
{
  char path[STR_QUOTE_MAX], typed[STR_QUOTE_MAX];

  str_quote (view->source->path, path);
  if (str_equal (view->source->path, view->mount->source))
    return ev_printf (ev, "%s", path);
  return ev_printf (ev, "%s (given as %s)", path, str_quote (view->mount->source, typed));
}

/* ---- mount.never ---- */

static void report_never (struct evaluation *ev, const struct mount_view *view, const char *name,
                          const struct never_hit *hit)
{
  char entry[STR_QUOTE_MAX], where[STR_QUOTE_MAX];
  struct finding *f;

  str_quote (hit->entry, entry);
  if (str_equal (hit->how, "is"))
    f = ev_report (ev, RULE_MOUNT_NEVER, ACTION_REJECT, view->source_pointer, "%s is %s", name,
                   hit->what);
  else if (hit->where != NULL)
    f = ev_report (ev, RULE_MOUNT_NEVER, ACTION_REJECT, view->source_pointer,
                   "%s contains %s at %s: %s", name, entry, str_quote (hit->where, where),
                   hit->what);
  else
    f = ev_report (ev, RULE_MOUNT_NEVER, ACTION_REJECT, view->source_pointer, "%s %s %s: %s", name,
                   hit->how, entry, hit->what);
  ev_fix (ev, f,
          "remove %s; no grant opens this, give the agent a mediated service or a directory of "
          "its own instead",
          volume_flag (ev, view));
}

/* Whether the never list could be held against the source at all.  */
static const char *never_unknown (const struct facts *facts, const struct fact_source *source)
{
  const struct fact_host *host = facts->host;

  if (host == NULL || !host->has_never)
    return "no answer";
  if (host->never_error != NULL)
    return host->never_error;
  return source->has_dev && source->has_ino ? NULL : "its inode is unknown";
}

/* True when the source is out of the question and the other rules need not speak.  */
static bool check_never (struct evaluation *ev, const struct mount_view *view)
{
  const char *unknown = never_unknown (ev->facts, view->source);
  struct never_hit hit;

  if (never_find (ev->policy, ev->facts, view->source, &hit))
    {
      report_never (ev, view, source_name (ev, view), &hit);
      return ev->policy->settings[RULE_MOUNT_NEVER] != ACTION_OFF;
    }
  if (unknown != NULL)
    ev_report (ev, RULE_MOUNT_NEVER, ACTION_REJECT, view->source_pointer,
               "whether %s is on the never list can't be told (%s)", source_name (ev, view),
               unknown);
  return false;
}

/* ---- mount.source ---- */

static void report_unopened (struct evaluation *ev, const struct mount_view *view)
{
  const struct fact_source *source = view->source;
  char quoted[STR_QUOTE_MAX];
  struct never_hit hit;
  struct finding *f;

  str_quote (view->mount->source, quoted);
  if (view->mount->source != NULL && never_find_text (ev->policy, view->mount->source, &hit))
    {
      report_never (ev, view, quoted, &hit);
      return;
    }
  if (source == NULL)
    f = ev_report (ev, RULE_MOUNT_SOURCE, ACTION_REJECT, view->source_pointer,
                   "the source %s was not looked at", quoted);
  else
    f = ev_report (ev, RULE_MOUNT_SOURCE, ACTION_REJECT, view->source_pointer,
                   "the source %s can't be opened (%s: %s)", quoted,
                   source->step == NULL ? "open" : source->step, source->error);
  ev_fix (ev, f, "give -v a path that exists, without links through /proc");
}

static const char *policy_file_name (const struct policy *policy)
{
  return policy->file == NULL ? SYSTEM_FILE : policy->file;
}

static bool is_engine_root (const struct facts *facts, const char *path)
{
  for (size_t i = 0; facts->host != NULL && i < facts->host->engine_roots_len; i++)
    if (str_equal (facts->host->engine_roots[i], path))
      return true;
  return false;
}

static void report_ungranted (struct evaluation *ev, const struct mount_view *view,
                              const struct policy_grant *expired)
{
  const char *mode = mount_is_readonly (view) ? "ro" : "rw";
  const char *root = shape_root_guess (ev, view);
  bool known = root != NULL && is_engine_root (ev->facts, root);
  cleanup_strbuf struct strbuf json = { 0 };
  struct finding *f;

  strbuf_json_string (&json, root != NULL && !known ? root : view->source->path);
  if (json.failed)
    {
      ev->findings->failed = true;
      return;
    }
  f = ev_report (ev, RULE_MOUNT_SOURCE, ACTION_REJECT, view->source_pointer,
                 "no grant covers %s%s%s", source_name (ev, view),
                 expired == NULL ? "" : ", the one that did expired on ",
                 expired == NULL ? "" : expired->expires);
  if (root != NULL && !known)
    {
      ev_fix (ev, f,
              "it looks like a file of an engine with a data directory of its own: if that is "
              "yours, add %s to \"engines\": {\"state\": [...]} in %s",
              json.data, policy_file_name (ev->policy));
      return;
    }
  ev_fix (ev, f,
          "remove %s, use a named volume, or add {\"kind\": \"mount\", \"source\": %s, \"mode\": "
          "\"%s\", \"reason\": \"...\"} to \"grants\" in %s",
          volume_flag (ev, view), json.data, mode, policy_file_name (ev->policy));
}

static bool is_plain (const struct fact_source *source)
{
  return str_equal (source->kind, "file") || str_equal (source->kind, "directory");
}

/* ---- mount.mode ---- */

/* The widest mode of the grants that cover the source: NULL, "ro" or "rw".  */
static const char *granted_mode (const struct evaluation *ev, const struct fact_source *source)
{
  struct grant_query query = { .kind = "mount", .path = source->path };
  const struct policy_grant *grant = NULL;
  const char *mode = NULL;

  while ((grant = grant_next (ev->policy, &query, grant)) != NULL)
    mode = str_equal (grant->mode, "rw") ? "rw" : (mode == NULL ? "ro" : mode);
  query.kind = "socket";
  /* A directory that holds sockets is shown for them, and never for writing.  */
  if (mode == NULL && grant_next (ev->policy, &query, NULL) != NULL)
    mode = "ro";
  return mode;
}

static void check_mode (struct evaluation *ev, const struct mount_view *view, const char *mode)
{
  struct finding *f;

  if (!str_equal (mode, "ro") || mount_is_readonly (view) || !is_plain (view->source))
    return;
  f = ev_report (ev, RULE_MOUNT_MODE, ACTION_REJECT, view->pointer,
                 "%s is granted read-only and mounted writable", source_name (ev, view));
  ev_fix (ev, f, "add :ro to %s", volume_flag (ev, view));
}

/* ---- mount.foreign ---- */

static void check_foreign (struct evaluation *ev, const struct mount_view *view,
                           enum shape_kind shape)
{
  const struct fact_source *source = view->source;
  char quoted[STR_QUOTE_MAX];
  struct finding *f = NULL;

  if (shape == SHAPE_VOLUME && (!source->has_mount_point || source->mount_point))
    f = ev_report (ev, RULE_MOUNT_FOREIGN, ACTION_REJECT, view->source_pointer,
                   "the volume %s is a mount of something else (%s of a %s file system)",
                   source_name (ev, view),
                   source->mount_root == NULL ? "a part" : str_quote (source->mount_root, quoted),
                   source->fs_type == NULL ? "unknown" : source->fs_type);
  ev_fix (ev, f, "use a plain named volume, without -o device=");
  f = NULL;
  /* The clone took them along (rbind).  A bind mount of the same file system shows another place as
     well, so any mount counts.  */
  if (view->options.recursive && source->nested_len > 0)
    f = ev_report (ev, RULE_MOUNT_FOREIGN, ACTION_REJECT, view->source_pointer,
                   "%zu other mount%s below %s, the first at %s", source->nested_len,
                   source->nested_len == 1 ? " lies" : "s lie", source_name (ev, view),
                   str_quote (source->nested[0].path, quoted));
  ev_fix (
      ev, f,
      "unmount it, or mount without what lies below (--mount type=bind,bind-recursive=disabled)");
}

/* ---- all of them ---- */

static void check_source (struct evaluation *ev, const struct mount_view *view)
{
  const struct fact_source *source = view->source;
  struct grant_query query = { .kind = "mount" };
  enum shape_kind shape;
  const char *mode;

  if (source == NULL || source->error != NULL || source->path == NULL || source->kind == NULL)
    {
      report_unopened (ev, view);
      return;
    }
  if (check_never (ev, view))
    return;
  query.path = source->path;
  shape = shape_find (ev, view);
  mode = granted_mode (ev, source);
  check_foreign (ev, view, shape);
  if (shape != SHAPE_NONE)
    return;
  /* Of a socket or device mount.socket says more.  */
  if (mode == NULL && is_plain (source))
    report_ungranted (ev, view, grant_expired (ev->policy, &query));
  else
    check_mode (ev, view, mode);
}

void check_mount_sources (struct evaluation *ev)
{
  struct mount_view *views;
  size_t len;

  if (mount_views (ev, &views, &len) < 0)
    return;
  for (size_t i = 0; i < len; i++)
    if (views[i].options.bind)
      check_source (ev, &views[i]);
}
