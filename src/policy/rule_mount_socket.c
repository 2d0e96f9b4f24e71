/* SPDX-License-Identifier: Apache-2.0 */
/* Rule mount.socket: sockets, fifos and devices, as a source or inside of one.  Known by what the
   object is and who holds it, never by name; read-only is no excuse, connect(2) asks for no write.
   Pure code.  */
#include <string.h>

#include "policy/internal.h"

static bool socket_granted (const struct evaluation *ev, const char *path)
{
  struct grant_query query = { .kind = "socket", .path = path };

  return grant_next (ev->policy, &query, NULL) != NULL;
}

static bool device_granted (const struct evaluation *ev, const char *path)
{
  struct grant_query query = { .kind = "device", .path = path };

  return grant_next (ev->policy, &query, NULL) != NULL;
}

static const char *kind_word (const char *kind)
{
  static const struct
  {
    const char *kind, *word;
  } words[] = {
    { "socket", "socket" },
    { "fifo", "fifo" },
    { "char", "character device" },
    { "block", "block device" },
  };

  for (size_t i = 0; i < ARRAY_SIZE (words); i++)
    if (str_equal (words[i].kind, kind))
      return words[i].word;
  return "special file";
}

static bool is_special (const char *kind)
{
  return str_equal (kind, "socket") || str_equal (kind, "fifo") || str_equal (kind, "char")
         || str_equal (kind, "block");
}

/* ---- as a source ---- */

static void check_object (struct evaluation *ev, const struct mount_view *view)
{
  const struct fact_source *source = view->source;
  bool is_socket = str_equal (source->kind, "socket");
  char quoted[STR_QUOTE_MAX];
  struct finding *f;

  if (is_socket ? socket_granted (ev, source->path)
                : str_equal (source->kind, "char") && device_granted (ev, source->path))
    return;
  f = ev_report (ev, RULE_MOUNT_SOCKET, ACTION_REJECT, view->source_pointer,
                 "%s is a %s: whoever holds its other end acts for the container",
                 str_quote (source->path, quoted), kind_word (source->kind));
  ev_fix (ev, f,
          is_socket ? "remove the -v of it, or grant it with {\"kind\": \"socket\"} in the policy "
                      "if its service is made for untrusted callers"
                    : "remove the -v of it");
}

/* ---- inside of a directory ---- */

enum
{
  FOUND_REJECT,
  FOUND_WARN,
  FOUND_KINDS
};

struct tally
{
  size_t count;
  const struct fact_found *first;
};

/* A socket that nobody holds and that belongs to the container's own user is left over from an
   earlier run: he could make it again.  What can't be told counts as held.  */
static bool is_leftover (const struct fact_found *found, uint32_t uid)
{
  return str_equal (found->kind, "socket") && found->has_live && !found->live && found->has_uid
         && found->uid == uid;
}

/* A granted socket; below a granted directory only the sockets of its owner, and read-only, so that
   the container can't add any.  */
static bool found_granted (struct evaluation *ev, const struct mount_view *view,
                           const struct fact_found *found)
{
  const struct fact_source *source = view->source;
  char *path = ev_printf (ev, "%s/%s", source->path, found->path == NULL ? "" : found->path);

  if (!str_equal (found->kind, "socket") || path == NULL || !socket_granted (ev, path))
    return false;
  return mount_is_readonly (view) && source->has_uid && found->has_uid && source->uid == found->uid;
}

static void count_found (struct evaluation *ev, const struct mount_view *view,
                         struct tally tally[FOUND_KINDS])
{
  const struct fact_walk *walk = view->source->walk;
  uint32_t uid = config_host_uid (ev->config, ev->process->user->uid);

  for (size_t i = 0; i < walk->found_len; i++)
    {
      const struct fact_found *found = &walk->found[i];
      struct tally *t = &tally[is_leftover (found, uid) ? FOUND_WARN : FOUND_REJECT];

      if (!is_special (found->kind) || found_granted (ev, view, found))
        continue;
      if (t->count++ == 0)
        t->first = found;
    }
}

static void report_found (struct evaluation *ev, const struct mount_view *view,
                          const struct tally tally[FOUND_KINDS])
{
  char source[STR_QUOTE_MAX], path[STR_QUOTE_MAX];
  const struct tally *bad = &tally[FOUND_REJECT], *left = &tally[FOUND_WARN];
  struct finding *f = NULL;

  str_quote (view->source->path, source);
  if (bad->count > 0)
    f = ev_report (ev, RULE_MOUNT_SOCKET, ACTION_REJECT, view->source_pointer,
                   "%s holds %zu socket%s or device%s that reach outside, the first is the %s %s",
                   source, bad->count, bad->count == 1 ? "" : "s", bad->count == 1 ? "" : "s",
                   kind_word (bad->first->kind), str_quote (bad->first->path, path));
  ev_fix (ev, f, "remove it, or mount a directory that holds none");
  if (left->count > 0)
    ev_report (ev, RULE_MOUNT_SOCKET, ACTION_WARN, view->source_pointer,
               "%s holds %zu socket%s left over by the container's own user, the first is %s",
               source, left->count, left->count == 1 ? "" : "s",
               str_quote (left->first->path, path));
}

/* A grant that says "scan": false, for a tree too large to look through.  */
static const struct policy_grant *unscanned_grant (const struct evaluation *ev,
                                                   const struct fact_source *source)
{
  struct grant_query query = { .kind = "mount", .path = source->path };
  const struct policy_grant *grant = NULL;

  while ((grant = grant_next (ev->policy, &query, grant)) != NULL)
    if (grant->has_scan && !grant->scan)
      return grant;
  return NULL;
}

static void check_directory (struct evaluation *ev, const struct mount_view *view)
{
  const struct fact_walk *walk = view->source->walk;
  struct tally tally[FOUND_KINDS] = { 0 };
  char quoted[STR_QUOTE_MAX];
  struct finding *f = NULL;

  str_quote (view->source->path, quoted);
  if (walk == NULL && unscanned_grant (ev, view->source) != NULL)
    {
      ev_report (ev, RULE_MOUNT_SOCKET, ACTION_WARN, view->source_pointer,
                 "%s was not looked through for sockets: its grant says \"scan\": false", quoted);
      return;
    }
  if (walk == NULL)
    f = ev_report (ev, RULE_MOUNT_SOCKET, ACTION_REJECT, view->source_pointer,
                   "%s was not looked through for sockets", quoted);
  else if (!walk->has_complete || !walk->complete)
    f = ev_report (ev, RULE_MOUNT_SOCKET, ACTION_REJECT, view->source_pointer,
                   "%s could not be looked through for sockets: stopped after %llu entries (%s)",
                   quoted, (unsigned long long)walk->entries,
                   walk->reason == NULL ? "no reason given" : walk->reason);
  ev_fix (ev, f,
          "mount a smaller directory, raise \"scan\" in the policy, or set \"scan\": false on its "
          "grant");
  if (walk == NULL)
    return;
  count_found (ev, view, tally);
  report_found (ev, view, tally);
}

void check_mount_sockets (struct evaluation *ev)
{
  struct mount_view *views;
  size_t len;

  if (mount_open_binds (ev, &views, &len) < 0)
    return;
  for (size_t i = 0; i < len; i++)
    {
      const struct fact_source *source = views[i].source;

      if (never_ends (ev, source))
        continue; /* mount.never says more */
      if (str_equal (source->kind, "directory"))
        check_directory (ev, &views[i]);
      else if (!str_equal (source->kind, "file"))
        check_object (ev, &views[i]);
    }
}
