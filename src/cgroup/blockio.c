/* SPDX-License-Identifier: Apache-2.0 */
/* linux.resources.blockIO.  Pure code.  config-linux.md "Block IO"; the kernel's
   blkio-controller.rst, bfq-iosched.rst and cgroup-v2.rst.  */
#include "cgroup/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/str.h"

#define MAJOR_MAX 4095
#define MINOR_MAX 1048575

static int check_device (const char *field, bool has, int64_t major, int64_t minor,
                         struct error *err)
{
  if (!has || major < 0 || major > MAJOR_MAX || minor < 0 || minor > MINOR_MAX)
    return error_set (err, -EINVAL,
                      "linux.resources.%s: an entry lacks a major from 0 to %d or a minor from 0 "
                      "to %d",
                      field, MAJOR_MAX, MINOR_MAX);
  return 0;
}

/* 10 to 1000 becomes 1 to 10000.  */
static unsigned io_weight (unsigned weight)
{
  return weight <= 10 ? 1 : 1 + (weight - 10) * 9999 / 990;
}

/* The BFQ scheduler's weight on v2 and on newer kernels of v1 has the config's range; where the
   host has another scheduler there is io.weight.  PREFIX is "" or "MAJOR:MINOR ".  */
static int plan_weight (struct planner *p, const char *field, const char *prefix, unsigned weight,
                        struct error *err)
{
  bool v2 = plan_version (p, CONTROLLER_BLKIO) == CONTROLLER_V2;
  bool device = prefix[0] != '\0';
  char value[PLAN_VALUE_MAX], other[PLAN_VALUE_MAX];
  int r;

  snprintf (value, sizeof (value), "%s%u", prefix, weight);
  if (v2)
    {
      snprintf (other, sizeof (other), "%s%u", prefix, io_weight (weight));
      r = plan_write (p, CONTROLLER_BLKIO, 0, field, "io.bfq.weight", value, err);
      return r < 0 ? r : plan_write_other (p, "io.weight", other, err);
    }
  r = plan_write (p, CONTROLLER_BLKIO, 0, field, device ? "blkio.weight_device" : "blkio.weight",
                  value, err);
  if (r < 0)
    return r;
  return plan_write_other (p, device ? "blkio.bfq.weight_device" : "blkio.bfq.weight", value, err);
}

static int plan_leaf_weight (struct planner *p, const char *field, const char *prefix,
                             unsigned weight, struct error *err)
{
  char value[PLAN_VALUE_MAX];

  if (plan_version (p, CONTROLLER_BLKIO) == CONTROLLER_V2)
    return plan_unsupported (field, "cgroup v2 has nothing like it", err);
  snprintf (value, sizeof (value), "%s%u", prefix, weight);
  return plan_write (p, CONTROLLER_BLKIO, 0, field,
                     prefix[0] != '\0' ? "blkio.leaf_weight_device" : "blkio.leaf_weight", value,
                     err);
}

static int plan_weight_device (struct planner *p, const struct oci_weight_device *d,
                               struct error *err)
{
  static const char field[] = "blockIO.weightDevice";
  char prefix[64];
  int r = check_device (field, d->has_major && d->has_minor, d->major, d->minor, err);

  if (r < 0)
    return r;
  if (!d->has_weight && !d->has_leaf_weight)
    return error_set (err, -EINVAL,
                      "linux.resources.%s: an entry has neither a weight nor a leafWeight", field);
  snprintf (prefix, sizeof (prefix), "%" PRId64 ":%" PRId64 " ", d->major, d->minor);
  if (d->has_weight)
    r = plan_weight (p, field, prefix, d->weight, err);
  if (r >= 0 && d->has_leaf_weight)
    r = plan_leaf_weight (p, field, prefix, d->leaf_weight, err);
  return r;
}

struct throttle
{
  const char *field;
  const char *v1_file;
  const char *v2_key;
  size_t list;
  size_t len;
};

#define LIST(name) offsetof (struct oci_block_io, name), offsetof (struct oci_block_io, name##_len)

static const struct throttle throttles[] = {
  { "blockIO.throttleReadBpsDevice", "blkio.throttle.read_bps_device", "rbps",
    LIST (throttle_read_bps_device) },
  { "blockIO.throttleWriteBpsDevice", "blkio.throttle.write_bps_device", "wbps",
    LIST (throttle_write_bps_device) },
  { "blockIO.throttleReadIOPSDevice", "blkio.throttle.read_iops_device", "riops",
    LIST (throttle_read_iops_device) },
  { "blockIO.throttleWriteIOPSDevice", "blkio.throttle.write_iops_device", "wiops",
    LIST (throttle_write_iops_device) },
};

static int plan_throttle_device (struct planner *p, const struct throttle *t,
                                 const struct oci_throttle_device *d, struct error *err)
{
  bool v2 = plan_version (p, CONTROLLER_BLKIO) == CONTROLLER_V2;
  char value[PLAN_VALUE_MAX];
  int r = check_device (t->field, d->has_major && d->has_minor, d->major, d->minor, err);

  if (r < 0)
    return r;
  if (!d->has_rate)
    return error_set (err, -EINVAL, "linux.resources.%s: an entry lacks a rate", t->field);
  /* A rate of 0 takes the limit away, on v2 by another word.  */
  if (v2 && d->rate == 0)
    snprintf (value, sizeof (value), "%" PRId64 ":%" PRId64 " %s=max", d->major, d->minor,
              t->v2_key);
  else if (v2)
    snprintf (value, sizeof (value), "%" PRId64 ":%" PRId64 " %s=%" PRIu64, d->major, d->minor,
              t->v2_key, d->rate);
  else
    snprintf (value, sizeof (value), "%" PRId64 ":%" PRId64 " %" PRIu64, d->major, d->minor,
              d->rate);
  return plan_write (p, CONTROLLER_BLKIO, 0, t->field, v2 ? "io.max" : t->v1_file, value, err);
}

static int plan_throttles (struct planner *p, const struct oci_block_io *b, struct error *err)
{
  for (size_t i = 0; i < ARRAY_SIZE (throttles); i++)
    {
      const char *base = (const char *)b;
      const struct oci_throttle_device *list =
          *(struct oci_throttle_device *const *)(base + throttles[i].list);
      size_t len = *(const size_t *)(base + throttles[i].len);
      for (size_t k = 0; k < len; k++)
        {
          int r = plan_throttle_device (p, &throttles[i], &list[k], err);
          if (r < 0)
            return r;
        }
    }
  return 0;
}

int plan_block_io (struct planner *p, const struct oci_resources *r, struct error *err)
{
  const struct oci_block_io *b = r->block_io;
  int ret = 0;

  if (b == NULL)
    return 0;
  if (b->has_weight && b->weight != 0)
    ret = plan_weight (p, "blockIO.weight", "", b->weight, err);
  if (ret >= 0 && b->has_leaf_weight && b->leaf_weight != 0)
    ret = plan_leaf_weight (p, "blockIO.leafWeight", "", b->leaf_weight, err);
  for (size_t i = 0; ret >= 0 && i < b->weight_device_len; i++)
    ret = plan_weight_device (p, &b->weight_device[i], err);
  return ret < 0 ? ret : plan_throttles (p, b, err);
}
