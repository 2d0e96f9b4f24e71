/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks (config.md, "POSIX-platform Hooks").  Pure code.  */
#include <errno.h>

#include "base/str.h"
#include "plan/make.h"

static const struct fact_hook *find_hook (const struct facts *facts, const char *pointer)
{
  for (size_t i = 0; i < facts->hooks_len; i++)
    if (str_equal (facts->hooks[i].pointer, pointer))
      return &facts->hooks[i];
  return NULL;
}

/* A hook that policy looked at is executed by the descriptor that it looked at.  startContainer
   hooks are paths inside the container and have none.  */
static int make_hook (const struct plan_input *in, struct arena *arena, const struct oci_hook *h,
                      const char *pointer, bool inside, struct plan_hook *hook, struct error *err)
{
  hook->path = h->path;
  hook->has_args = h->has_args;
  hook->args = h->args;
  hook->args_len = h->args_len;
  hook->has_env = h->has_env;
  hook->env = h->env;
  hook->env_len = h->env_len;
  SET_NUMBER (hook, timeout, h->has_timeout ? (uint32_t)h->timeout : 0);
  SET_NUMBER (hook, descriptor, -1);
  if (inside)
    return 0;
  const struct fact_hook *fact = find_hook (in->facts, pointer);
  char quoted[STR_QUOTE_MAX];
  if (fact != NULL && fact->error != NULL)
    return error_set (err, -ENOENT, "hook %s at %s can't be opened: %s",
                      str_quote (h->path, quoted), pointer, fact->error);
  if (fact != NULL && fact->has_descriptor)
    hook->descriptor = fact->descriptor;
  (void)arena;
  return 0;
}

struct hook_list
{
  const char *name;
  const struct oci_hook *from;
  size_t len;
  struct plan_hook **to;
  size_t *to_len;
  bool *has;
  bool inside;
};

static int make_list (const struct plan_input *in, struct arena *arena,
                      const struct hook_list *list, struct error *err)
{
  if (list->len == 0)
    return 0;
  struct plan_hook *hooks = arena_alloc (arena, list->len * sizeof *hooks);
  if (hooks == NULL)
    return error_set (err, -ENOMEM, "out of memory while planning hooks");
  for (size_t i = 0; i < list->len; i++)
    {
      const char *pointer = pointer_printf (arena, "/hooks/%s/%zu", list->name, i);
      int r = pointer == NULL
                  ? error_set (err, -ENOMEM, "out of memory while planning hooks")
                  : make_hook (in, arena, &list->from[i], pointer, list->inside, &hooks[i], err);
      if (r < 0)
        return r;
    }
  *list->to = hooks;
  *list->to_len = list->len;
  *list->has = true;
  return 0;
}

#define LIST(word, member, inside)                                                                 \
  {                                                                                                \
    word, from->member, from->member##_len, &to->member, &to->member##_len, &to->has_##member,     \
        inside                                                                                     \
  }

int plan_make_hooks (const struct plan_input *in, struct arena *arena, struct plan *plan,
                     struct error *err)
{
  const struct oci_hooks *from = in->admission->config->hooks;
  if (from == NULL)
    return 0;
  struct plan_hooks *to = arena_alloc (arena, sizeof *to);
  if (to == NULL)
    return error_set (err, -ENOMEM, "out of memory while planning hooks");
  const struct hook_list lists[] = {
    LIST ("prestart", prestart, false),
    LIST ("createRuntime", create_runtime, false),
    LIST ("createContainer", create_container, false),
    LIST ("startContainer", start_container, true),
    LIST ("poststart", poststart, false),
    LIST ("poststop", poststop, false),
  };
  for (size_t i = 0; i < ARRAY_SIZE (lists); i++)
    {
      int r = make_list (in, arena, &lists[i], err);
      if (r < 0)
        return r;
    }
  plan->hooks = to;
  return 0;
}
