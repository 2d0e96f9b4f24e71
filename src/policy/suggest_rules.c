/* SPDX-License-Identifier: Apache-2.0 */
/* What would open the way for a finding, rule by rule.  Whether it does, and whether it is needed,
   suggest.c finds out.  Pure code.  */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/suggest.h"

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
  if (s->len == SUGGESTED_MAX)
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

bool suggest_for (struct suggesting *s, const struct finding *f)
{
  int rule = rule_of (f);

  if (rule < 0)
    return false;
  for (size_t i = 0; i < ARRAY_SIZE (suggesters); i++)
    if (suggesters[i].rule == (enum rule_id)rule && suggesters[i].suggest (s, f))
      return true;
  return suggest_setting (s, (enum rule_id)rule);
}
