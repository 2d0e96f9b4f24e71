/* SPDX-License-Identifier: Apache-2.0 */
#include "container/attributes.h"

#include "linux/scheduling.h"
#include "spec/scheduling_names.h"

int attributes_schedule (pid_t pid, const struct plan_process *p, struct error *err)
{
  const struct oci_scheduler *s = p->scheduler;
  const struct oci_io_priority *io = p->io_priority;
  int r = 0;
  if (s != NULL)
    {
      struct scheduling wanted = {
        .policy = (uint32_t)scheduler_policy_number (s->policy),
        .nice = s->nice,
        .priority = (uint32_t)s->priority,
        .runtime = s->runtime,
        .deadline = s->deadline,
        .period = s->period,
      };
      for (size_t i = 0; i < s->flags_len; i++)
        wanted.flags |= (uint64_t)scheduler_flag_number (s->flags[i]);
      r = scheduling_set (pid, &wanted, err);
      if (r < 0)
        return error_context (err, "process.scheduler %s", s->policy);
    }
  if (io != NULL)
    r = scheduling_set_io (pid, io_class_number (io->class), io->priority, err);
  return r < 0 ? error_context (err, "process.ioPriority %s", io->class) : 0;
}

static int take_memory_policy (const struct oci_memory_policy *m, struct error *err)
{
  int64_t mode = memory_mode_number (m->mode);
  for (size_t i = 0; i < m->flags_len; i++)
    mode |= memory_flag_number (m->flags[i]);
  int r = scheduling_set_memory ((int)mode, m->nodes, err);
  return r < 0 ? error_context (err, "linux.memoryPolicy %s", m->mode) : 0;
}

int attributes_take (const struct plan *plan, struct error *err)
{
  const struct oci_personality *p = plan->personality;
  int r = plan->memory_policy != NULL ? take_memory_policy (plan->memory_policy, err) : 0;
  if (r == 0)
    r = scheduling_set_personality (p != NULL ? (unsigned long)personality_number (p->domain) : 0,
                                    err);
  return r;
}
