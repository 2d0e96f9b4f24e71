/* SPDX-License-Identifier: Apache-2.0 */
/* Resources become a list of writes.  Pure: the host is known by a struct cgroup_layout only, so
   that the conversions for both versions are tested on any host.  config-linux.md, "Control
   groups".  */
#include "cgroup/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"

void cgroup_writes_free (struct cgroup_writes *w)
{
  for (size_t i = 0; i < w->len; i++)
    {
      free (w->list[i].field);
      free (w->list[i].file);
      free (w->list[i].value);
      free (w->list[i].other_file);
      free (w->list[i].other_value);
    }
  free (w->list);
  *w = (struct cgroup_writes){ 0 };
}

enum controller_version plan_version (const struct planner *p, enum controller controller)
{
  return p->layout->version[controller];
}

int plan_unsupported (const char *field, const char *why, struct error *err)
{
  return error_set (err, -EOPNOTSUPP, "linux.resources.%s: %s", field, why);
}

static int reserve (struct cgroup_writes *w)
{
  if (w->len < w->size)
    return 0;
  size_t size = w->size == 0 ? 16 : w->size * 2;
  struct cgroup_write *list = realloc (w->list, size * sizeof (*list));
  if (list == NULL)
    return -ENOMEM;
  w->list = list;
  w->size = size;
  return 0;
}

static const char *controller_name (enum controller c)
{
  return c == CONTROLLER_UNIFIED ? "cgroup2" : controller_v1_names[c];
}

int plan_write (struct planner *p, enum controller controller, unsigned flags, const char *field,
                const char *file, const char *value, struct error *err)
{
  if (plan_version (p, controller) == CONTROLLER_ABSENT)
    return error_set (err, -ENOENT,
                      "linux.resources.%s: the host has no usable cgroup hierarchy for %s", field,
                      controller_name (controller));
  if (reserve (p->writes) < 0)
    return error_errno (err, ENOMEM, "linux.resources.%s", field);

  struct cgroup_write *w = &p->writes->list[p->writes->len++];
  *w = (struct cgroup_write){
    .controller = controller,
    .flags = flags,
    .field = strdup (field),
    .file = strdup (file),
    .value = strdup (value),
  };
  if (w->field == NULL || w->file == NULL || w->value == NULL)
    return error_errno (err, ENOMEM, "linux.resources.%s", field);
  return 0;
}

int plan_write_other (struct planner *p, const char *file, const char *value, struct error *err)
{
  struct cgroup_write *w = &p->writes->list[p->writes->len - 1];

  w->other_file = strdup (file);
  w->other_value = strdup (value);
  if (w->other_file == NULL || w->other_value == NULL)
    return error_errno (err, ENOMEM, "linux.resources.%s", w->field);
  return 0;
}

static int number_value (const struct plan_number *n, const void *at, bool v2,
                         char value[PLAN_VALUE_MAX], struct error *err)
{
  if (n->kind == NUMBER_U64)
    {
      snprintf (value, PLAN_VALUE_MAX, "%" PRIu64, *(const uint64_t *)at);
      return 0;
    }
  int64_t number = *(const int64_t *)at;
  if (n->kind == NUMBER_LIMIT && number < -1)
    return error_set (err, -EINVAL,
                      "linux.resources.%s: %" PRId64 " is neither a limit nor -1 (no limit)",
                      n->field, number);
  if (n->kind == NUMBER_LIMIT && number == -1 && v2)
    snprintf (value, PLAN_VALUE_MAX, "max");
  else
    snprintf (value, PLAN_VALUE_MAX, "%" PRId64, number);
  return 0;
}

static bool is_zero (const struct plan_number *n, const void *at)
{
  return n->kind == NUMBER_U64 ? *(const uint64_t *)at == 0 : *(const int64_t *)at == 0;
}

int plan_numbers (struct planner *p, enum controller controller, const void *object,
                  const struct plan_number *table, size_t len, struct error *err)
{
  bool v2 = plan_version (p, controller) == CONTROLLER_V2;

  for (size_t i = 0; i < len; i++)
    {
      const struct plan_number *n = &table[i];
      const void *at = (const char *)object + n->value;
      char value[PLAN_VALUE_MAX];

      if (!*(const bool *)((const char *)object + n->has))
        continue;
      if ((n->number_flags & NUMBER_ZERO_LEAVES) && is_zero (n, at))
        continue;
      if ((v2 ? n->v2 : n->v1) == NULL)
        return plan_unsupported (
            n->field, v2 ? "cgroup v2 has nothing like it" : "cgroup v1 has nothing like it", err);
      int r = number_value (n, at, v2, value, err);
      if (r >= 0)
        r = plan_write (p, controller, n->write_flags, n->field, v2 ? n->v2 : n->v1, value, err);
      if (r < 0)
        return r;
    }
  return 0;
}

static int (*const planners[]) (struct planner *, const struct oci_resources *, struct error *) = {
  plan_memory,  plan_cpu,     plan_cpuset, plan_pids,    plan_block_io,
  plan_hugetlb, plan_network, plan_rdma,   plan_unified, /* last: it is the most specific */
};

int cgroup_plan_writes (const struct cgroup_layout *layout, const struct oci_resources *resources,
                        struct cgroup_writes *ret, struct error *err)
{
  cleanup_writes struct cgroup_writes writes = { 0 };
  struct planner p = { .layout = layout, .writes = &writes };

  for (size_t i = 0; resources != NULL && i < ARRAY_SIZE (planners); i++)
    {
      int r = planners[i](&p, resources, err);
      if (r < 0)
        return r;
    }
  *ret = writes;
  writes = (struct cgroup_writes){ 0 };
  return 0;
}
