/* SPDX-License-Identifier: Apache-2.0 */
/* `policy suggest`: the least that a policy would have to grant or lower for a configuration to be
   admitted.  Every proposal is tried on a copy of the policy, by the same evaluation that judges a
   create, and what turns out not to be needed is taken back; so what is printed is known to work.
   Pure code.  */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/internal.h"

#define ITEMS_MAX  512
#define ROUNDS_MAX 16

/* What is proposed: a grant, or a setting of a rule, or the maximum of a limit.  */
struct item
{
  struct policy_grant grant; /* `kind` is NULL for the others */
  enum rule_id rule;
  enum action setting;
  bool is_limit;
  uint64_t max; /* of a limit */
  bool dropped;
};

struct suggesting
{
  const struct policy *base;
  const struct oci_config *config;
  const struct facts *facts;
  const struct policy_request *request;
  const struct findings *invalid; /* of validation: no policy decides them */
  struct arena *arena;
  struct item items[ITEMS_MAX];
  size_t len;
  bool failed; /* memory is short */
};

static const struct
{
  enum rule_id rule;
  const char *name;
} limit_names[] = {
  { RULE_LIMIT_MEMORY, "memory" },
  { RULE_LIMIT_PIDS, "pids" },
  { RULE_LIMIT_OPEN_FILES, "open_files" },
};

/* ---- trying ---- */

static uint64_t *limit_of (struct policy *policy, enum rule_id rule)
{
  return rule == RULE_LIMIT_MEMORY ? &policy->values.memory.max
         : rule == RULE_LIMIT_PIDS ? &policy->values.pids.max
                                   : &policy->values.open_files_max;
}

/* The policy with all items that are not dropped.  Shares everything else with the base.  */
static int with_items (struct suggesting *s, struct policy *work, struct policy_file *effective)
{
  size_t have = s->base->effective->grants_len;
  struct policy_grant *grants = arena_alloc_array (s->arena, have + s->len + 1, sizeof *grants);

  if (grants == NULL)
    return -ENOMEM;
  *work = *s->base;
  *effective = *s->base->effective;
  for (size_t i = 0; i < have; i++)
    grants[i] = effective->grants[i];
  effective->grants = grants;
  effective->grants_len = have;
  work->effective = effective;
  work->audit = false;
  for (size_t i = 0; i < s->len; i++)
    {
      const struct item *item = &s->items[i];

      if (item->dropped)
        continue;
      if (item->grant.kind != NULL)
        grants[effective->grants_len++] = item->grant;
      else if (item->is_limit)
        *limit_of (work, item->rule) = item->max;
      else
        {
          work->settings[item->rule] = item->setting;
          work->raised[item->rule] = false;
        }
    }
  return 0;
}

static int evaluate (struct suggesting *s, struct findings *findings)
{
  struct policy work;
  struct policy_file effective;
  struct admission admission = { 0 };

  *findings = (struct findings){ .arena = s->arena };
  int r = with_items (s, &work, &effective);
  if (r == 0)
    r = policy_admit (&work, s->config, s->facts, s->request, s->arena, findings, &admission, NULL);
  return r < 0 ? r : findings->failed ? -ENOMEM : 0;
}

/* Whether F rejects, and validation doesn't already.  */
static bool rejects (const struct suggesting *s, const struct finding *f)
{
  if (!str_equal (f->action, "reject"))
    return false;
  for (size_t i = 0; i < s->invalid->len; i++)
    if (str_equal (s->invalid->items[i].rule, f->rule)
        && str_equal (s->invalid->items[i].pointer, f->pointer))
      return false;
  return true;
}

static size_t count_rejections (const struct suggesting *s, const struct findings *findings)
{
  size_t n = 0;

  for (size_t i = 0; i < findings->len; i++)
    n += rejects (s, &findings->items[i]);
  return n;
}

/* ---- proposing ---- */

static bool grants_equal (const struct policy_grant *a, const struct policy_grant *b)
{
  return str_equal (a->kind, b->kind) && str_equal (a->source, b->source)
         && str_equal (a->mode, b->mode) && str_equal (a->name, b->name)
         && str_equal (a->path, b->path) && str_equal (a->of, b->of)
         && str_equal (a->access, b->access) && a->has_uid == b->has_uid && a->uid == b->uid;
}

/* Whether it is new; what was tried before doesn't help a second time.  */
static bool propose (struct suggesting *s, const struct item *item)
{
  for (size_t i = 0; i < s->len; i++)
    {
      const struct item *old = &s->items[i];
      bool same = item->grant.kind != NULL
                      ? grants_equal (&old->grant, &item->grant)
                      : old->grant.kind == NULL && old->rule == item->rule
                            && old->is_limit == item->is_limit && old->setting == item->setting
                            && old->max == item->max;

      if (same)
        return false;
    }
  if (s->len == ITEMS_MAX)
    return false;
  s->items[s->len++] = *item;
  return true;
}

static bool propose_grant (struct suggesting *s, struct policy_grant grant)
{
  struct item item = { .grant = grant };

  item.grant.reason = (char *)"";
  return propose (s, &item);
}

static bool propose_named (struct suggesting *s, const char *kind, const char *name)
{
  return name != NULL
         && propose_grant (s, (struct policy_grant){ .kind = (char *)(uintptr_t)kind,
                                                     .name = (char *)(uintptr_t)name });
}

/* The index in a pointer such as /mounts/3/source, behind PREFIX; -1 for another pointer.  */
static long index_behind (const char *pointer, const char *prefix)
{
  char *end;

  if (pointer == NULL || !str_has_prefix (pointer, prefix))
    return -1;
  pointer += strlen (prefix);
  long index = strtol (pointer, &end, 10);
  return end == pointer ? -1 : index;
}

/* RFC 6901: the last member's name.  */
static const char *member_behind (struct suggesting *s, const char *pointer, const char *prefix)
{
  if (pointer == NULL || !str_has_prefix (pointer, prefix))
    return NULL;
  char *name = arena_strdup (s->arena, pointer + strlen (prefix)), *to = name;
  if (name == NULL)
    {
      s->failed = true;
      return NULL;
    }
  for (const char *from = name; *from != '\0'; from++, to++)
    {
      *to = *from;
      if (from[0] == '~' && (from[1] == '0' || from[1] == '1'))
        *to = *++from == '0' ? '~' : '/';
    }
  *to = '\0';
  return name;
}

static const struct fact_source *source_of (struct suggesting *s, const char *pointer)
{
  long index = index_behind (pointer, "/mounts/");
  char text[48];

  if (index < 0)
    return NULL;
  snprintf (text, sizeof text, "/mounts/%ld/source", index);
  return fact_source_find (s->facts, text);
}

static bool suggest_mount (struct suggesting *s, const struct finding *f)
{
  const struct fact_source *source = source_of (s, f->pointer);
  long index = index_behind (f->pointer, "/mounts/");
  const struct oci_mount *m;
  bool readonly = false;

  if (source == NULL || source->path == NULL || (size_t)index >= s->config->mounts_len)
    return false;
  m = &s->config->mounts[index];
  for (size_t i = 0; i < m->options_len; i++)
    readonly = str_equal (m->options[i], "ro")
               || (readonly && !str_equal (m->options[i], "rw")); /* the last word holds */
  return propose_grant (s, (struct policy_grant){ .kind = (char *)"mount",
                                                  .source = source->path,
                                                  .mode = (char *)(readonly ? "ro" : "rw") });
}

/* The socket itself; one inside a directory is granted by its own path.  */
static bool suggest_socket (struct suggesting *s, const struct finding *f)
{
  const struct fact_source *source = source_of (s, f->pointer);
  bool any = false;

  if (source == NULL || source->path == NULL)
    return false;
  if (str_equal (source->kind, "socket"))
    return propose_grant (
        s, (struct policy_grant){ .kind = (char *)"socket", .source = source->path });
  for (size_t i = 0; source->walk != NULL && i < source->walk->found_len; i++)
    if (str_equal (source->walk->found[i].kind, "socket"))
      any |= propose_grant (
          s, (struct policy_grant){ .kind = (char *)"socket",
                                    .source = arena_printf (s->arena, "%s/%s", source->path,
                                                            source->walk->found[i].path) });
  return any;
}

static bool suggest_capabilities (struct suggesting *s, const struct finding *f)
{
  const struct oci_process *p = s->config->process;
  const struct oci_capabilities *c = p == NULL ? NULL : p->capabilities;
  bool any = false;

  (void)f;
  if (c == NULL)
    return false;
  char **const sets[] = { c->bounding, c->effective, c->inheritable, c->permitted, c->ambient };
  const size_t lens[] = { c->bounding_len, c->effective_len, c->inheritable_len, c->permitted_len,
                          c->ambient_len };
  for (size_t k = 0; k < ARRAY_SIZE (sets); k++)
    for (size_t i = 0; i < lens[k]; i++)
      if (!capability_is_default (sets[k][i]))
        any |= propose_named (s, "capability", sets[k][i]);
  return any;
}

static bool suggest_user (struct suggesting *s, const struct finding *f)
{
  (void)f;
  return propose_grant (s,
                        (struct policy_grant){ .kind = (char *)"user", .has_uid = true, .uid = 0 });
}

static bool suggest_device (struct suggesting *s, const struct finding *f)
{
  long index = index_behind (f->pointer, "/linux/devices/");
  const struct oci_linux *l = s->config->linux;

  if (index < 0 || l == NULL || (size_t)index >= l->devices_len)
    return false;
  return propose_grant (s, (struct policy_grant){ .kind = (char *)"device",
                                                  .path = l->devices[index].path,
                                                  .access = (char *)"rw" });
}

static bool suggest_sysctl (struct suggesting *s, const struct finding *f)
{
  return propose_named (s, "sysctl", member_behind (s, f->pointer, "/linux/sysctl/"));
}

static bool suggest_annotation (struct suggesting *s, const struct finding *f)
{
  return propose_named (s, "annotation", member_behind (s, f->pointer, "/annotations/"));
}

static bool has_namespace (const struct oci_config *config, const char *type)
{
  for (size_t i = 0; config->linux != NULL && i < config->linux->namespaces_len; i++)
    if (str_equal (config->linux->namespaces[i].type, type))
      return true;
  return false;
}

static bool propose_namespace (struct suggesting *s, const char *type, const char *of)
{
  return propose_grant (s, (struct policy_grant){ .kind = (char *)"namespace",
                                                  .name = (char *)(uintptr_t)type,
                                                  .of = (char *)(uintptr_t)of });
}

static bool suggest_host_namespace (struct suggesting *s, const struct finding *f)
{
  static const char *const types[] = { "pid", "network", "ipc", "uts" };
  long index = index_behind (f->pointer, "/linux/namespaces/");
  bool any = false;

  if (index >= 0 && (size_t)index < s->config->linux->namespaces_len)
    return propose_namespace (s, s->config->linux->namespaces[index].type, "host");
  for (size_t i = 0; i < ARRAY_SIZE (types); i++)
    if (!has_namespace (s->config, types[i]))
      any |= propose_namespace (s, types[i], "host");
  return any;
}

static bool suggest_foreign_namespace (struct suggesting *s, const struct finding *f)
{
  long index = index_behind (f->pointer, "/linux/namespaces/");
  const struct fact_namespace *ns = fact_namespace_find (s->facts, f->pointer);

  if (index < 0 || ns == NULL || (size_t)index >= s->config->linux->namespaces_len)
    return false;
  for (size_t i = 0; i < s->facts->recorded_len; i++)
    if (s->facts->recorded[i].ino == ns->ino && s->facts->recorded[i].dev == ns->dev)
      return propose_namespace (s, s->config->linux->namespaces[index].type,
                                arena_printf (s->arena, "container:%s", s->facts->recorded[i].id));
  return false;
}

static bool suggest_hook (struct suggesting *s, const struct finding *f)
{
  const struct oci_hooks *h = s->config->hooks;
  const struct
  {
    const char *prefix;
    const struct oci_hook *list;
    size_t len;
  } kinds[] = {
    { "/hooks/prestart/", h->prestart, h->prestart_len },
    { "/hooks/createRuntime/", h->create_runtime, h->create_runtime_len },
    { "/hooks/createContainer/", h->create_container, h->create_container_len },
    { "/hooks/startContainer/", h->start_container, h->start_container_len },
    { "/hooks/poststart/", h->poststart, h->poststart_len },
    { "/hooks/poststop/", h->poststop, h->poststop_len },
  };

  for (size_t i = 0; i < ARRAY_SIZE (kinds); i++)
    {
      long index = index_behind (f->pointer, kinds[i].prefix);

      if (index >= 0 && (size_t)index < kinds[i].len)
        return propose_grant (
            s, (struct policy_grant){ .kind = (char *)"hook", .path = kinds[i].list[index].path });
    }
  return false;
}

static bool suggest_limit (struct suggesting *s, enum rule_id rule, uint64_t asked)
{
  struct item item = { .rule = rule, .is_limit = true, .max = asked };

  return asked > 0 && propose (s, &item);
}

static bool suggest_memory (struct suggesting *s, const struct finding *f)
{
  const struct oci_resources *r = s->config->linux == NULL ? NULL : s->config->linux->resources;

  (void)f;
  return r != NULL && r->memory != NULL && r->memory->limit > 0
         && suggest_limit (s, RULE_LIMIT_MEMORY, ((uint64_t)r->memory->limit + 1023) / 1024 * 1024);
}

static bool suggest_pids (struct suggesting *s, const struct finding *f)
{
  const struct oci_resources *r = s->config->linux == NULL ? NULL : s->config->linux->resources;

  (void)f;
  return r != NULL && r->pids != NULL && r->pids->limit > 0
         && suggest_limit (s, RULE_LIMIT_PIDS, (uint64_t)r->pids->limit);
}

static bool suggest_open_files (struct suggesting *s, const struct finding *f)
{
  long index = index_behind (f->pointer, "/process/rlimits/");
  const struct oci_process *p = s->config->process;

  if (index < 0 || p == NULL || (size_t)index >= p->rlimits_len)
    return false;
  const struct oci_rlimit *l = &p->rlimits[index];
  return suggest_limit (s, RULE_LIMIT_OPEN_FILES, l->hard > l->soft ? l->hard : l->soft);
}

static const struct
{
  enum rule_id rule;
  bool (*suggest) (struct suggesting *, const struct finding *);
} suggesters[] = {
  { RULE_MOUNT_SOURCE, suggest_mount },
  { RULE_MOUNT_MODE, suggest_mount },
  { RULE_MOUNT_SOCKET, suggest_socket },
  { RULE_CAPABILITY_EXTRA, suggest_capabilities },
  { RULE_USER_ROOT, suggest_user },
  { RULE_DEVICE_NODE, suggest_device },
  { RULE_SYSCTL_NAME, suggest_sysctl },
  { RULE_ANNOTATION_UNSAFE, suggest_annotation },
  { RULE_NAMESPACE_HOST, suggest_host_namespace },
  { RULE_NAMESPACE_FOREIGN, suggest_foreign_namespace },
  { RULE_HOOK_PATH, suggest_hook },
  { RULE_LIMIT_MEMORY, suggest_memory },
  { RULE_LIMIT_PIDS, suggest_pids },
  { RULE_LIMIT_OPEN_FILES, suggest_open_files },
};

/* The strictest setting that was not tried yet.  A rule that may be set to nothing but `reject`,
   and a fixed one, stays.  */
static bool suggest_setting (struct suggesting *s, enum rule_id rule)
{
  static const enum action order[] = { ACTION_TIGHTEN, ACTION_WARN, ACTION_OFF };

  if ((rules[rule].flags & RULE_FIXED) != 0)
    return false;
  for (size_t i = 0; i < ARRAY_SIZE (order); i++)
    {
      struct item item = { .rule = rule, .setting = order[i] };

      if ((rules[rule].allowed & (1U << order[i])) != 0 && order[i] != s->base->settings[rule]
          && propose (s, &item))
        {
          for (size_t k = 0; k + 1 < s->len; k++) /* a weaker one takes its place */
            if (s->items[k].grant.kind == NULL && !s->items[k].is_limit && s->items[k].rule == rule)
              s->items[k].dropped = true;
          return true;
        }
    }
  return false;
}

static int rule_of (const struct finding *f)
{
  for (int rule = 0; rule < RULE_COUNT; rule++)
    if (str_equal (rules[rule].id, f->rule))
      return rule;
  return -1;
}

/* True when something new is to be tried for F.  */
static bool suggest_for (struct suggesting *s, const struct finding *f)
{
  int rule = rule_of (f);

  if (rule < 0)
    return false;
  for (size_t i = 0; i < ARRAY_SIZE (suggesters); i++)
    if (suggesters[i].rule == (enum rule_id)rule && suggesters[i].suggest (s, f))
      return true;
  return suggest_setting (s, (enum rule_id)rule);
}

static int search (struct suggesting *s, struct findings *findings)
{
  bool more = true;

  for (int round = 0; more && round < ROUNDS_MAX; round++)
    {
      int r = evaluate (s, findings);

      if (r < 0)
        return r;
      more = false;
      for (size_t i = 0; i < findings->len; i++)
        if (rejects (s, &findings->items[i]))
          more |= suggest_for (s, &findings->items[i]);
      if (s->failed)
        return -ENOMEM;
    }
  return evaluate (s, findings);
}

/* Takes back what isn't needed, the settings of rules first: they open more than a grant.  */
static int minimize (struct suggesting *s, size_t rejections)
{
  for (int grants = 0; grants < 2; grants++)
    for (size_t i = 0; i < s->len; i++)
      {
        struct findings findings;

        if (s->items[i].dropped || (s->items[i].grant.kind != NULL) != (grants == 1))
          continue;
        s->items[i].dropped = true;
        int r = evaluate (s, &findings);
        if (r < 0)
          return r;
        s->items[i].dropped = count_rejections (s, &findings) <= rejections;
      }
  return 0;
}

/* ---- telling ---- */

static int collect (struct suggesting *s, const struct findings *findings,
                    struct policy_suggestion *ret)
{
  char **lines = arena_alloc_array (s->arena, findings->len + 1, sizeof *lines);

  if (lines == NULL)
    return -ENOMEM;
  for (size_t i = 0; i < findings->len; i++)
    {
      const struct finding *f = &findings->items[i];

      if (!rejects (s, f))
        continue;
      lines[ret->hopeless_len] = arena_printf (s->arena, "%s at %s: %s", f->rule,
                                               f->pointer == NULL ? "" : f->pointer, f->message);
      if (lines[ret->hopeless_len++] == NULL)
        return -ENOMEM;
    }
  ret->hopeless = lines;
  return 0;
}

static int make_limits (struct suggesting *s, const struct item *item, struct policy_file *file)
{
  struct policy_limit *limit = arena_alloc (s->arena, sizeof *limit);

  if (file->limits == NULL)
    file->limits = arena_alloc (s->arena, sizeof *file->limits);
  if (limit == NULL || file->limits == NULL)
    return -ENOMEM;
  limit->max = item->rule == RULE_LIMIT_MEMORY
                   ? arena_printf (s->arena, "\"%lluKiB\"", (unsigned long long)item->max / 1024)
                   : arena_printf (s->arena, "%llu", (unsigned long long)item->max);
  for (size_t i = 0; i < ARRAY_SIZE (limit_names); i++)
    if (limit_names[i].rule == item->rule)
      *(i == 0   ? &file->limits->memory
        : i == 1 ? &file->limits->pids
                 : &file->limits->open_files) = limit;
  return limit->max == NULL ? -ENOMEM : 0;
}

static int make_file (struct suggesting *s, struct policy_suggestion *ret)
{
  struct policy_file file = { .has_version = true, .version = 1, .has_never = true };
  char **keys = arena_alloc_array (s->arena, s->len + 1, sizeof *keys);
  char **values = arena_alloc_array (s->arena, s->len + 1, sizeof *values);

  file.extends = s->base->effective->extends;
  file.grants = arena_alloc_array (s->arena, s->len + 1, sizeof *file.grants);
  if (keys == NULL || values == NULL || file.grants == NULL)
    return -ENOMEM;
  for (size_t i = 0; i < s->len; i++)
    {
      const struct item *item = &s->items[i];

      if (item->dropped)
        continue;
      ret->items++;
      if (item->grant.kind != NULL)
        file.grants[file.grants_len++] = item->grant;
      else if (item->is_limit && make_limits (s, item, &file) < 0)
        return -ENOMEM;
      else if (!item->is_limit)
        {
          keys[file.rules.len] = (char *)(uintptr_t)rules[item->rule].id;
          values[file.rules.len++] = (char *)(uintptr_t)action_name (item->setting);
        }
    }
  file.has_grants = file.grants_len > 0;
  file.rules.has = file.rules.len > 0;
  file.rules.keys = keys;
  file.rules.values = values;
  return oci_emit (&policy_file_type, &file, OCI_PRETTY, s->arena, &ret->json, NULL);
}

int policy_suggest (const struct policy *policy, const struct oci_config *config,
                    const struct facts *facts, const struct policy_request *request,
                    const struct findings *invalid, struct arena *arena,
                    struct policy_suggestion *ret, struct error *err)
{
  struct suggesting *s = arena_alloc (arena, sizeof *s);
  struct findings findings;

  *ret = (struct policy_suggestion){ 0 };
  int r = s == NULL ? -ENOMEM : 0;
  if (r == 0)
    {
      *s = (struct suggesting){ .base = policy,
                                .config = config,
                                .facts = facts,
                                .request = request,
                                .invalid = invalid,
                                .arena = arena };
      r = search (s, &findings);
    }
  if (r == 0)
    r = collect (s, &findings, ret);
  if (r == 0)
    r = minimize (s, ret->hopeless_len);
  if (r == 0)
    r = make_file (s, ret);
  return r < 0 ? error_set (err, r, "out of memory for the suggestion") : 0;
}
