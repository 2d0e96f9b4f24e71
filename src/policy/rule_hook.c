/* SPDX-License-Identifier: Apache-2.0 */
/* Rule hook.path: a hook runs on the host as root, so only Docker's own, recognised by the process
   that it names, and granted ones.  Pure code.  */
#include <string.h>

#include "policy/internal.h"

#define SHORT_ID_LEN 12 /* hex digits by which Docker's network controller knows itself */

/* ---- Docker's libnetwork-setkey ---- */

static bool is_exe_link (const char *path)
{
  size_t digits;

  if (path == NULL || !str_has_prefix (path, "/proc/"))
    return false;
  digits = strspn (path + 6, "0123456789");
  return digits > 0 && str_equal (path + 6 + digits, "/exe");
}

/* The daemon may have been upgraded while it runs.  */
static bool is_daemon_link (const char *link)
{
  static const char deleted[] = " (deleted)";
  const char *name = link == NULL ? NULL : strrchr (link, '/');
  size_t len;

  if (name == NULL)
    return false;
  name++;
  len = strlen (name);
  if (str_has_suffix (name, deleted))
    len -= strlen (deleted);
  return len == strlen ("dockerd") && strncmp (name, "dockerd", len) == 0;
}

static bool is_exec_root (const char *arg)
{
  static const char flag[] = "-exec-root=";

  return str_has_prefix (arg, flag) && arg[strlen (flag)] == '/' && strstr (arg, "..") == NULL;
}

/* libnetwork-setkey -exec-root=ABS ID SHORTID, and nothing else.  */
static const char *setkey_args_problem (const struct evaluation *ev, const struct oci_hook *hook)
{
  const char *id = ev->request->id;

  if (hook->args_len != 4 || !str_equal (hook->args[0], "libnetwork-setkey")
      || !is_exec_root (hook->args[1]))
    return "its arguments are not those of libnetwork-setkey";
  if (id != NULL && !str_equal (hook->args[2], id))
    return "it is meant for another container";
  if (strlen (hook->args[3]) != SHORT_ID_LEN
      || strspn (hook->args[3], "0123456789abcdef") != SHORT_ID_LEN)
    return "its arguments are not those of libnetwork-setkey";
  return NULL;
}

/* A file that only root can have made.  */
static bool is_trusted_file (const struct facts *facts, const struct fact_hook *fact)
{
  return str_equal (fact->kind, "file") && fact->has_uid && fact_uid_is_root (facts, fact->uid)
         && fact->has_mode && (fact->mode & 0022) == 0;
}

static const char *setkey_problem (const struct evaluation *ev, const struct oci_hook *hook,
                                   const struct fact_hook *fact)
{
  if (!is_daemon_link (fact->link))
    return "the process that it names is not dockerd";
  if (!is_trusted_file (ev->facts, fact))
    return "its program is not a file of root that only root can write";
  return setkey_args_problem (ev, hook);
}

/* ---- granted hooks ---- */

static bool digest_fits (const struct policy_grant *grant, const struct fact_hook *fact)
{
  const char *digest = fact->digest;

  if (grant->sha256 == NULL)
    return true;
  return digest != NULL && str_has_prefix (digest, "sha256:")
         && str_equal (digest + strlen ("sha256:"), grant->sha256);
}

/* NULL: granted.  */
static const char *grant_problem (const struct evaluation *ev, const struct oci_hook *hook,
                                  const struct fact_hook *fact)
{
  struct grant_query query = { .kind = "hook", .path = hook->path };
  const struct policy_grant *grant = NULL;
  const char *problem = "no grant covers it";

  while ((grant = grant_next (ev->policy, &query, grant)) != NULL)
    {
      if (!is_trusted_file (ev->facts, fact))
        return "its program is not a file of root that only root can write";
      if (digest_fits (grant, fact))
        return NULL;
      problem = "its program is not the one that was granted (sha256)";
    }
  return problem;
}

static void check_hook (struct evaluation *ev, const struct oci_hook *hook, const char *pointer)
{
  const struct fact_hook *fact = fact_hook_find (ev->facts, pointer);
  const char *problem;
  char quoted[STR_QUOTE_MAX];
  struct finding *f;

  if (fact == NULL)
    problem = "it was not looked at";
  else if (fact->error != NULL)
    problem = ev_printf (ev, "it can't be opened (%s)", fact->error);
  else if (is_exe_link (hook->path))
    problem = setkey_problem (ev, hook, fact);
  else
    problem = grant_problem (ev, hook, fact);
  if (problem == NULL)
    return;
  f = ev_report (ev, RULE_HOOK_PATH, ACTION_REJECT, pointer,
                 "the hook %s would run on the host: %s", str_quote (hook->path, quoted), problem);
  ev_fix (ev, f, "remove the hook, or grant it with {\"kind\": \"hook\"} in the policy");
}

void check_hooks (struct evaluation *ev)
{
  struct hook_list lists[HOOK_LISTS];

  config_hook_lists (ev->config, lists);
  for (size_t l = 0; l < HOOK_LISTS; l++)
    for (size_t i = 0; i < lists[l].len; i++)
      check_hook (ev, &lists[l].hooks[i], ev_printf (ev, "/hooks/%s/%zu", lists[l].name, i));
}
