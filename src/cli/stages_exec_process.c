/* SPDX-License-Identifier: Apache-2.0 */
/* The process of an exec, from a file or from flags.  */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "cli/stages_exec.h"
#include "plan/make.h"
#include "spec/load.h"
#include "spec/names.h"

#define ID_MAX (UINT32_MAX - 1) /* (uid_t) -1 means "unchanged" */

int exec_read_process (const struct exec_options *o, struct judged_exec *e, struct error *err)
{
  cleanup_free char *bytes = NULL;
  void *process = NULL;
  size_t len;
  int r = document_load (o->process, &bytes, &len, err);
  if (r == 0)
    r = spec_parse_text (&oci_process_type, str_equal (o->process, "-") ? "process" : o->process,
                         bytes, len, e->arena, &e->findings, &process, err);
  if (r < 0)
    return findings_reject (&e->findings) ? 0 : r;
  e->process = process;
  return 0;
}

/* ---- from flags ---- */

static int out_of_memory (struct error *err)
{
  return error_set (err, -ENOMEM, "exec: out of memory for the process");
}

/* Names are for the engine to look up: nothing of the image decides who a process is.  */
static int read_id (const char *option, const char *text, size_t len, struct arena *arena,
                    uint32_t *ret, struct error *err)
{
  char quoted[STR_QUOTE_MAX];
  char *number = arena_strndup (arena, text, len);
  uint64_t id;
  if (number == NULL)
    return out_of_memory (err);
  if (str_to_u64 (number, 0, ID_MAX, &id) < 0)
    return error_set (err, -EINVAL, "exec: %s wants numbers from 0 to 4294967294, not %s", option,
                      str_quote (text, quoted));
  *ret = (uint32_t)id;
  return 0;
}

/* The container's group stays if only a uid is given; its supplementary groups are the container's
   user's, not another one's.  */
static int set_user (const char *text, struct judged_exec *e, struct error *err)
{
  struct oci_user *user = e->process->user;
  size_t n = strcspn (text, ":");
  int r = read_id ("--user", text, n, e->arena, &user->uid, err);
  if (r == 0 && text[n] == ':')
    r = read_id ("--user", text + n + 1, strlen (text + n + 1), e->arena, &user->gid, err);
  user->additional_gids_len = 0;
  return r;
}

/* Each entry is one number or several with commas between.  */
static int add_groups (const struct option_list *list, struct judged_exec *e, struct error *err)
{
  struct oci_user *user = e->process->user;
  size_t len = user->additional_gids_len, more = 0;
  for (size_t i = 0; i < list->len; i++)
    for (const char *at = list->items[i]; at != NULL; at = strchr (at + 1, ','))
      more++;
  uint32_t *gids = arena_alloc_array (e->arena, len + more + 1, sizeof *gids);
  if (gids == NULL)
    return out_of_memory (err);
  for (size_t i = 0; i < len; i++)
    gids[i] = user->additional_gids[i];
  for (size_t i = 0; i < list->len; i++)
    for (const char *at = list->items[i]; at != NULL;)
      {
        size_t n = strcspn (at, ",");
        int r = read_id ("--additional-gids", at, n, e->arena, &gids[len++], err);
        if (r < 0)
          return r;
        at = at[n] == ',' ? at + n + 1 : NULL;
      }
  user->additional_gids = gids;
  user->additional_gids_len = len;
  return 0;
}

static bool same_name (const char *a, const char *b)
{
  size_t n = strcspn (a, "=");
  return strncmp (a, b, n) == 0 && strcspn (b, "=") == n;
}

/* --env adds to the container's environment, and replaces what has the same name there.  */
static int set_environment (char *const *own, size_t own_len, const struct option_list *list,
                            struct judged_exec *e, struct error *err)
{
  struct oci_process *p = e->process;
  char **env = arena_alloc_array (e->arena, own_len + list->len + 1, sizeof *env);
  size_t len = 0;
  if (env == NULL)
    return out_of_memory (err);
  for (size_t i = 0; i < own_len; i++)
    env[len++] = own[i];
  for (size_t i = 0; i < list->len; i++)
    {
      size_t at = 0;
      while (at < len && !same_name (env[at], list->items[i]))
        at++;
      env[at] = arena_strdup (e->arena, list->items[i]);
      if (env[at] == NULL)
        return out_of_memory (err);
      len += at == len;
    }
  p->has_env = true;
  p->env = env;
  p->env_len = len;
  return 0;
}

/* The record has no values.  config.json has, and is believed if it is the one that was judged.  */
static int read_environment (const struct option_list *list, struct judged_exec *e,
                             struct error *err)
{
  const struct record *record = e->container.record;
  cleanup_bundle struct bundle bundle = { .dirfd = -1 };
  struct findings ignored = { .arena = e->arena };
  struct oci_config *config;
  int r = bundle_load (record->plan->bundle, record->config, &bundle, err);
  if (r < 0)
    return error_context (err, "the container's environment");
  if (!str_equal (bundle.digest, record->plan->config_digest))
    return error_set (err, -EPERM,
                      "exec: %s of container %s was changed after create judged it, so that the "
                      "container's environment can't be taken from it: use --process",
                      bundle.config_name, record->plan->id);
  r = spec_parse (&bundle, e->arena, &ignored, &config, err);
  if (r < 0)
    return r;
  return set_environment (config->process->env, config->process->env_len, list, e, err);
}

/* config.json may name one that only a newer kernel knows; who types one is told of the mistake. */
static int check_capability_names (const struct option_list *list, struct error *err)
{
  char quoted[STR_QUOTE_MAX];
  for (size_t i = 0; i < list->len; i++)
    if (capability_number (list->items[i]) < 0)
      return error_set (err, -EINVAL, "exec: --cap %s is no capability",
                        str_quote (list->items[i], quoted));
  return 0;
}

/* To the sets that a program without file capabilities keeps over execve as another user: not to
   inheritable and ambient, which reach what it starts.  */
static int add_capabilities (const struct option_list *list, struct judged_exec *e,
                             struct error *err)
{
  struct oci_capabilities *c = e->process->capabilities;
  const struct
  {
    char ***names;
    size_t *len;
  } sets[] = {
    { &c->bounding, &c->bounding_len },
    { &c->effective, &c->effective_len },
    { &c->permitted, &c->permitted_len },
  };
  for (size_t s = 0; s < ARRAY_SIZE (sets); s++)
    {
      size_t len = *sets[s].len;
      char **names = arena_alloc_array (e->arena, len + list->len + 1, sizeof *names);
      if (names == NULL)
        return out_of_memory (err);
      for (size_t i = 0; i < len; i++)
        names[i] = (*sets[s].names)[i];
      for (size_t i = 0; i < list->len; i++)
        if ((names[len++] = arena_strdup (e->arena, list->items[i])) == NULL)
          return out_of_memory (err);
      *sets[s].names = names;
      *sets[s].len = len;
    }
  return 0;
}

static int set_arguments (int argc, char **argv, struct judged_exec *e, struct error *err)
{
  struct oci_process *p = e->process;
  p->has_args = true;
  p->args = arena_alloc_array (e->arena, (size_t)argc + 1, sizeof *p->args);
  if (p->args == NULL)
    return out_of_memory (err);
  for (int i = 0; i < argc; i++)
    if ((p->args[p->args_len++] = arena_strdup (e->arena, argv[i])) == NULL)
      return out_of_memory (err);
  return 0;
}

int exec_make_process (const struct exec_options *o, int argc, char **argv, struct judged_exec *e,
                       struct error *err)
{
  int r = plan_recorded_process (e->container.record->plan, e->arena, &e->process, err);
  if (r == 0)
    r = set_arguments (argc - 1, argv + 1, e, err);
  if (r == 0)
    r = read_environment (&o->env, e, err);
  if (r == 0 && o->user != NULL)
    r = set_user (o->user, e, err);
  if (r == 0)
    r = add_groups (&o->additional_gids, e, err);
  if (r == 0 && o->cap.len > 0)
    r = check_capability_names (&o->cap, err);
  if (r == 0 && o->cap.len > 0)
    r = add_capabilities (&o->cap, e, err);
  if (r < 0)
    return r;
  if (o->cwd != NULL)
    e->process->cwd = arena_strdup (e->arena, o->cwd);
  if (o->apparmor != NULL)
    e->process->apparmor_profile = arena_strdup (e->arena, o->apparmor);
  if (o->process_label != NULL)
    e->process->selinux_label = arena_strdup (e->arena, o->process_label);
  if (o->no_new_privs)
    SET_NUMBER (e->process, no_new_privileges, true);
  return 0;
}
