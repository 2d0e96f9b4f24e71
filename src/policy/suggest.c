/* SPDX-License-Identifier: Apache-2.0 */
/* `policy suggest`: the least that a policy would have to grant or lower for a configuration to be
   admitted.  Every proposal is tried on a copy of the policy, by the same evaluation that judges a
   create, and what turns out not to be needed is taken back; so what is printed is known to work.
   Pure code.  */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "policy/suggest.h"

#define ROUNDS_MAX 16

/* Limits whose maximum a policy file can raise: where it is in the policy and in the file.  */
static const struct limit_place
{
  enum rule_id rule;
  size_t value;  /* uint64_t, in struct policy */
  size_t member; /* struct policy_limit *, in struct policy_limits */
  bool bytes;    /* which the file has with a unit */
} limit_places[] = {
  { RULE_LIMIT_MEMORY, offsetof (struct policy, values.memory.max),
    offsetof (struct policy_limits, memory), true },
  { RULE_LIMIT_PIDS, offsetof (struct policy, values.pids.max),
    offsetof (struct policy_limits, pids), false },
  { RULE_LIMIT_OPEN_FILES, offsetof (struct policy, values.open_files_max),
    offsetof (struct policy_limits, open_files), false },
};

static const struct limit_place *place_of (enum rule_id rule)
{
  size_t i = 0;

  while (i + 1 < ARRAY_SIZE (limit_places) && limit_places[i].rule != rule)
    i++;
  return &limit_places[i];
}

/* ---- trying ---- */

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
        *(uint64_t *)(void *)((char *)work + place_of (item->rule)->value) = item->max;
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

static int make_limit (struct suggesting *s, const struct item *item, struct policy_file *file)
{
  const struct limit_place *place = place_of (item->rule);
  struct policy_limit *limit = arena_alloc (s->arena, sizeof *limit);

  if (file->limits == NULL)
    file->limits = arena_alloc (s->arena, sizeof *file->limits);
  if (limit == NULL || file->limits == NULL)
    return -ENOMEM;
  limit->max = place->bytes
                   ? arena_printf (s->arena, "\"%lluKiB\"", (unsigned long long)item->max / 1024)
                   : arena_printf (s->arena, "%llu", (unsigned long long)item->max);
  *(struct policy_limit **)(void *)((char *)file->limits + place->member) = limit;
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
      else if (item->is_limit && make_limit (s, item, &file) < 0)
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
