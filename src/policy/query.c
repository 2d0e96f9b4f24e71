/* SPDX-License-Identifier: Apache-2.0 */
/* What the policy wants to know of the host before it judges.  Pure code.  Each question carries
   the JSON pointer by which its answer is found again.  */
#include <errno.h>
#include <string.h>

#include "policy/internal.h"

struct asking
{
  const struct policy *policy;
  const struct oci_config *config;
  const struct policy_request *request;
  struct arena *arena;
  struct questions *questions;
  char **protected; /* names to look up below every bind source */
  size_t protected_len;
};

static void *make (struct asking *a, size_t count, size_t size)
{
  return arena_alloc_array (a->arena, count + 1, size);
}

/* ---- sources ---- */

/* A grant may switch the walk off, by the path as it is given; where the opened object turns out to
   be another one, the missing walk is a rejection.  */
static bool wants_walk (const struct policy *policy, const char *source)
{
  struct grant_query query = { .kind = "mount", .path = source };
  const struct policy_grant *grant = NULL;

  while ((grant = grant_next (policy, &query, grant)) != NULL)
    if (grant->has_scan && !grant->scan)
      return false;
  return true;
}

static int ask_source (struct asking *a, size_t index)
{
  const struct oci_mount *mount = &a->config->mounts[index];
  struct questions *q = a->questions;
  struct question_source *ask = &q->sources[q->sources_len];
  struct mount_options options;

  if (mount_options_parse (mount, a->arena, &options) < 0)
    return -ENOMEM;
  if (!options.bind || mount->source == NULL)
    return 0;
  *ask = (struct question_source){
    .pointer = pointer_printf (a->arena, "/mounts/%zu/source", index),
    .path = mount->source,
    .has_recursive = true,
    .recursive = options.recursive,
    .has_walk = true,
    .walk = a->policy->settings[RULE_MOUNT_SOCKET] != ACTION_OFF
            && wants_walk (a->policy, mount->source),
    .has_names = true,
    .names = a->protected,
    .names_len = a->protected_len,
  };
  q->sources_len++;
  return ask->pointer == NULL ? -ENOMEM : 0;
}

/* More devices than that are --privileged, and no grant of single ones is meant.  */
#define DEVICES_ASKED 8

/* The host's node of a granted device, or of one that `policy suggest` would want granted: the
   grant is for that, not for whatever numbers the configuration gives its path.  */
static int ask_device (struct asking *a, size_t index)
{
  const struct oci_device *device = &a->config->linux->devices[index];
  struct grant_query query = { .kind = "device", .path = device->path };
  struct questions *q = a->questions;
  char *pointer;

  if (device->path == NULL
      || (grant_next (a->policy, &query, NULL) == NULL
          && (a->config->linux->devices_len > DEVICES_ASKED
              || device_is_default (device->type, device->major, device->minor))))
    return 0;
  pointer = pointer_printf (a->arena, "/linux/devices/%zu/path", index);
  q->sources[q->sources_len++] =
      (struct question_source){ .pointer = pointer, .path = device->path };
  return pointer == NULL ? -ENOMEM : 0;
}

/* The names that grants protect, and the ends of each: a source may lie below the grant's own.
   Which of them counts is known when the source's canonical path is.  */
static int ask_protected (struct asking *a)
{
  const struct policy_file *file = a->policy->effective;

  for (size_t g = 0; g < file->grants_len; g++)
    for (size_t i = 0; i < file->grants[g].protect_len; i++)
      for (char *name = file->grants[g].protect[i]; name != NULL;
           name = strchr (name, '/') == NULL ? NULL : strchr (name, '/') + 1)
        {
          char **grown = arena_grow (a->arena, a->protected, a->protected_len * sizeof *grown,
                                     (a->protected_len + 1) * sizeof *grown);

          if (grown == NULL)
            return -ENOMEM;
          a->protected = grown;
          grown[a->protected_len++] = name;
        }
  return 0;
}

static int ask_sources (struct asking *a)
{
  struct questions *q = a->questions;
  size_t devices = a->config->linux == NULL ? 0 : a->config->linux->devices_len;

  q->sources = make (a, a->config->mounts_len + devices, sizeof *q->sources);
  q->rootfs = make (a, 1, sizeof *q->rootfs);
  if (q->sources == NULL || q->rootfs == NULL)
    return -ENOMEM;
  q->has_sources = true;
  if (ask_protected (a) < 0)
    return -ENOMEM;
  for (size_t i = 0; i < a->config->mounts_len; i++)
    if (ask_source (a, i) < 0)
      return -ENOMEM;
  for (size_t i = 0; i < devices; i++)
    if (ask_device (a, i) < 0)
      return -ENOMEM;
  *q->rootfs = (struct question_source){
    .pointer = (char *)"/root/path",
    .path = a->config->root == NULL ? NULL : a->config->root->path,
    .has_recursive = true,
    .recursive = true,
    .has_walk = true,
  };
  return 0;
}

/* ---- namespaces, hooks ---- */

static int ask_namespaces (struct asking *a)
{
  const struct oci_linux *linux = a->config->linux;
  size_t len = linux == NULL ? 0 : linux->namespaces_len;
  struct questions *q = a->questions;

  q->namespaces = make (a, len, sizeof *q->namespaces);
  if (q->namespaces == NULL)
    return -ENOMEM;
  q->has_namespaces = true;
  for (size_t i = 0; i < len; i++)
    {
      struct question_namespace *ask = &q->namespaces[q->namespaces_len];

      if (linux->namespaces[i].path == NULL)
        continue;
      ask->pointer = pointer_printf (a->arena, "/linux/namespaces/%zu/path", i);
      ask->type = linux->namespaces[i].type;
      ask->path = linux->namespaces[i].path;
      if (ask->pointer == NULL)
        return -ENOMEM;
      q->namespaces_len++;
    }
  /* Only one that is joined can be the host's.  */
  q->has_host_namespaces = true;
  q->host_namespaces = q->namespaces_len > 0;
  return 0;
}

static bool wants_digest (const struct policy *policy, const char *path)
{
  struct grant_query query = { .kind = "hook", .path = path };
  const struct policy_grant *grant = NULL;

  while ((grant = grant_next (policy, &query, grant)) != NULL)
    if (grant->sha256 != NULL)
      return true;
  return false;
}

static int ask_hooks (struct asking *a)
{
  struct hook_list lists[HOOK_LISTS];
  struct questions *q = a->questions;
  size_t total = 0;

  config_hook_lists (a->config, lists);
  for (size_t l = 0; l < HOOK_LISTS; l++)
    total += lists[l].len;
  q->hooks = make (a, total, sizeof *q->hooks);
  if (q->hooks == NULL)
    return -ENOMEM;
  q->has_hooks = true;
  for (size_t l = 0; l < HOOK_LISTS; l++)
    for (size_t i = 0; i < lists[l].len; i++)
      {
        struct question_hook *ask = &q->hooks[q->hooks_len++];

        ask->pointer = pointer_printf (a->arena, "/hooks/%s/%zu", lists[l].name, i);
        ask->path = lists[l].hooks[i].path;
        ask->has_digest = true;
        ask->digest = ask->path != NULL && wants_digest (a->policy, ask->path);
        if (ask->pointer == NULL)
          return -ENOMEM;
      }
  return 0;
}

/* ---- the host ---- */

static char **copy_list (struct asking *a, const char *const *fixed, char *const *more,
                         size_t more_len, size_t *ret_len)
{
  size_t len = 0;
  char **list;

  while (fixed[len] != NULL)
    len++;
  list = make (a, len + more_len, sizeof *list);
  if (list == NULL)
    return NULL;
  for (size_t i = 0; i < len; i++)
    list[i] = (char *)fixed[i];
  for (size_t i = 0; i < more_len; i++)
    list[len + i] = more[i];
  *ret_len = len + more_len;
  return list;
}

/* Some hundred lookups: only where something could be one of them.  */
static int ask_never (struct asking *a)
{
  const struct policy_file *file = a->policy->effective;
  struct questions *q = a->questions;
  size_t len = 0;

  if (q->sources_len == 0 || a->policy->settings[RULE_MOUNT_NEVER] == ACTION_OFF)
    return 0;
  while (never_path (len) != NULL)
    len++;
  q->never = make (a, len + file->never_len, sizeof *q->never);
  if (q->never == NULL)
    return -ENOMEM;
  for (size_t i = 0; i < len; i++)
    q->never[i] = (char *)never_path (i);
  for (size_t i = 0; i < file->never_len; i++)
    q->never[len + i] = file->never[i];
  q->has_never = true;
  q->never_len = len + file->never_len;
  q->has_homes = true;
  q->homes = true;
  q->home_names = copy_list (a, never_home_names, NULL, 0, &q->home_names_len);
  q->has_home_names = true;
  return q->home_names == NULL ? -ENOMEM : 0;
}

static int ask_host (struct asking *a)
{
  const struct policy_engines *engines = a->policy->effective->engines;
  struct questions *q = a->questions;

  q->groups = copy_list (a, host_groups, NULL, 0, &q->groups_len);
  q->has_groups = true;
  q->engine_roots = copy_list (a, engine_roots, engines == NULL ? NULL : engines->state,
                               engines == NULL ? 0 : engines->state_len, &q->engine_roots_len);
  q->has_engine_roots = true;
  q->user_data_roots = copy_list (a, user_data_roots, NULL, 0, &q->user_data_roots_len);
  q->has_user_data_roots = true;
  q->user_runtime_roots = copy_list (a, user_runtime_roots, NULL, 0, &q->user_runtime_roots_len);
  q->has_user_runtime_roots = true;
  q->has_scan_entries = true;
  q->scan_entries = a->policy->effective->scan->entries;
  q->has_scan_seconds = true;
  q->scan_seconds = a->policy->effective->scan->seconds;
  return q->groups == NULL || q->engine_roots == NULL || q->user_data_roots == NULL
                 || q->user_runtime_roots == NULL
             ? -ENOMEM
             : 0;
}

/* Standard streams, --preserve-fds, LISTEN_FDS.  More than can be asked is refused by the rule.  */
static int ask_descriptors (struct asking *a)
{
  uint64_t end = 3 + (uint64_t)a->request->preserve_fds + a->request->listen_fds;
  uint32_t len = end > DESCRIPTORS_MAX ? DESCRIPTORS_MAX : (uint32_t)end;
  struct questions *q = a->questions;

  q->descriptors = make (a, len, sizeof *q->descriptors);
  if (q->descriptors == NULL)
    return -ENOMEM;
  q->has_descriptors = true;
  q->descriptors_len = len;
  for (uint32_t i = 0; i < len; i++)
    q->descriptors[i] = i;
  return 0;
}

int policy_query_exec (const struct policy *policy, const struct policy_exec_request *exec,
                       struct arena *arena, struct questions **ret, struct error *err)
{
  const struct policy_request request = { .preserve_fds = exec->preserve_fds };
  struct asking a = { .policy = policy,
                      .config = NULL,
                      .request = &request,
                      .arena = arena,
                      .questions = arena_alloc (arena, sizeof (struct questions)) };
  int r = a.questions == NULL ? -ENOMEM : ask_descriptors (&a);

  if (r == 0)
    {
      a.questions->groups = copy_list (&a, host_groups, NULL, 0, &a.questions->groups_len);
      a.questions->has_groups = true;
    }
  if (r < 0 || a.questions->groups == NULL)
    return error_set (err, -ENOMEM, "ask what the policy needs to know: out of memory");
  *ret = a.questions;
  return 0;
}

int policy_query (const struct policy *policy, const struct oci_config *config,
                  const struct policy_request *request, struct arena *arena, struct questions **ret,
                  struct error *err)
{
  static int (*const parts[]) (struct asking *) = {
    ask_sources, ask_namespaces, ask_hooks, ask_never, ask_host, ask_descriptors,
  };
  struct asking a = { .policy = policy,
                      .config = config,
                      .request = request,
                      .arena = arena,
                      .questions = arena_alloc (arena, sizeof (struct questions)) };
  int r = a.questions == NULL ? -ENOMEM : 0;

  for (size_t i = 0; r == 0 && i < ARRAY_SIZE (parts); i++)
    r = parts[i](&a);
  if (r < 0)
    return error_set (err, r, "ask what the policy needs to know: out of memory");
  a.questions->bundle = (char *)request->bundle;
  *ret = a.questions;
  return 0;
}
