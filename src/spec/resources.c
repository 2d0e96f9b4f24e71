/* SPDX-License-Identifier: Apache-2.0 */
/* Pure code.  */
#include "spec/resources.h"

#include <stddef.h>

static bool memory_asks (const struct oci_memory *m)
{
  return m != NULL
         && (m->limit > 0 || m->reservation > 0 || m->swap > 0 || m->kernel > 0 || m->kernel_tcp > 0
             || m->has_swappiness || (m->has_disable_oom_killer && m->disable_oom_killer));
}

static bool cpu_asks (const struct oci_cpu *c)
{
  return c != NULL
         && (c->shares > 0 || c->quota > 0 || c->burst > 0 || c->realtime_runtime > 0
             || (c->cpus != NULL && c->cpus[0] != '\0') || (c->mems != NULL && c->mems[0] != '\0')
             || c->idle > 0);
}

static bool block_io_asks (const struct oci_block_io *b)
{
  return b != NULL
         && (b->weight > 0 || b->leaf_weight > 0 || b->weight_device_len > 0
             || b->throttle_read_bps_device_len > 0 || b->throttle_write_bps_device_len > 0
             || b->throttle_read_iops_device_len > 0 || b->throttle_write_iops_device_len > 0);
}

bool resources_ask_for_limits (const struct oci_resources *r)
{
  return r != NULL
         && (memory_asks (r->memory) || cpu_asks (r->cpu) || (r->pids != NULL && r->pids->limit > 0)
             || block_io_asks (r->block_io) || r->hugepage_limits_len > 0 || r->network != NULL
             || r->rdma.len > 0 || r->unified.len > 0);
}
