/* SPDX-License-Identifier: Apache-2.0 */
/* src/cgroup, the pure half: resources to writes for both versions, finding hierarchies in the text
   of /proc.  Needs no privilege.  */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "cgroup/internal.h"

static struct error err;

static struct cgroup_layout layout (enum controller_version version)
{
  struct cgroup_layout l = { 0 };

  for (size_t c = 0; c < CONTROLLER_COUNT; c++)
    l.version[c] = version;
  if (version == CONTROLLER_V2)
    l.v2_controllers = (char *)"cpuset cpu io memory hugetlb pids rdma misc\n";
  else
    l.version[CONTROLLER_UNIFIED] = CONTROLLER_ABSENT;
  return l;
}

/* All writes as "FILE=VALUE[|FILE=VALUE];..." in order.  */
static const char *plan_on (const struct cgroup_layout *l, const struct oci_resources *r)
{
  static char text[4096];
  cleanup_writes struct cgroup_writes w = { 0 };
  size_t n = 0;

  text[0] = '\0';
  if (cgroup_plan_writes (l, r, &w, &err) < 0)
    {
      snprintf (text, sizeof (text), "error %s", errno_name (-err.code));
      return text;
    }
  for (size_t i = 0; i < w.len; i++)
    {
      const struct cgroup_write *one = &w.list[i];
      n += (size_t)snprintf (text + n, sizeof (text) - n, "%s=%s", one->file, one->value);
      if (one->other_file != NULL)
        n += (size_t)snprintf (text + n, sizeof (text) - n, "|%s=%s", one->other_file,
                               one->other_value);
      n += (size_t)snprintf (text + n, sizeof (text) - n, ";");
    }
  return text;
}

static const char *plan (enum controller_version version, const struct oci_resources *r)
{
  struct cgroup_layout l = layout (version);

  return plan_on (&l, r);
}

#define V1 CONTROLLER_V1
#define V2 CONTROLLER_V2

static void assert_says (const char *part)
{
  if (strstr (err.message, part) == NULL)
    fail_msg ("\"%s\" lacks \"%s\"", err.message, part);
}

static void test_nothing (void **state)
{
  /* What Docker sends when nothing is limited, and an update of nothing.  */
  struct oci_memory memory = { .has_disable_oom_killer = true,
                               .has_limit = true,
                               .has_swap = true,
                               .has_reservation = true,
                               .has_kernel = true,
                               .has_kernel_tcp = true };
  struct oci_cpu cpu = { .has_shares = true,
                         .has_quota = true,
                         .has_period = true,
                         .has_realtime_period = true,
                         .has_realtime_runtime = true,
                         .cpus = (char *)"",
                         .mems = (char *)"" };
  struct oci_block_io block_io = { .has_weight = true, .has_leaf_weight = true };
  struct oci_pids pids = { 0 };
  struct oci_network network = { .has_class_id = true };
  struct oci_resources r = {
    .memory = &memory, .cpu = &cpu, .block_io = &block_io, .pids = &pids, .network = &network
  };

  (void)state;
  assert_string_equal (plan (V1, &r), "");
  assert_string_equal (plan (V2, &r), "");
  assert_string_equal (plan (V1, NULL), "");
  /* Without any controller nothing asked for is no error either.  */
  assert_string_equal (plan (CONTROLLER_ABSENT, &r), "");
}

static void test_absent_controller (void **state)
{
  struct oci_memory memory = { .has_limit = true, .limit = 4096 };
  struct oci_resources r = { .memory = &memory };

  (void)state;
  assert_string_equal (plan (CONTROLLER_ABSENT, &r), "error ENOENT");
  assert_says ("linux.resources.memory.limit");
  assert_says ("memory");
}

static void test_memory_limits (void **state)
{
  static const struct
  {
    int64_t limit, swap; /* INT64_MIN: absent */
    const char *v1, *v2;
  } cases[] = {
    { 100, INT64_MIN, "memory.limit_in_bytes=100;", "memory.max=100;" },
    { 100, 0, "memory.limit_in_bytes=100;", "memory.max=100;" },
    { 100, 100, "memory.limit_in_bytes=100;memory.memsw.limit_in_bytes=100;",
      "memory.max=100;memory.swap.max=0;" },
    { 100, 250, "memory.limit_in_bytes=100;memory.memsw.limit_in_bytes=250;",
      "memory.max=100;memory.swap.max=150;" },
    { 100, -1, "memory.limit_in_bytes=100;memory.memsw.limit_in_bytes=-1;",
      "memory.max=100;memory.swap.max=max;" },
    { -1, INT64_MIN, "memory.limit_in_bytes=-1;memory.memsw.limit_in_bytes=-1;",
      "memory.max=max;memory.swap.max=max;" },
    { -1, -1, "memory.limit_in_bytes=-1;memory.memsw.limit_in_bytes=-1;",
      "memory.max=max;memory.swap.max=max;" },
    { INT64_MIN, 250, "memory.memsw.limit_in_bytes=250;", "error EINVAL" },
    { 0, 250, "memory.memsw.limit_in_bytes=250;", "error EINVAL" },
    { 100, 99, "error EINVAL", "error EINVAL" },
    { -2, INT64_MIN, "error EINVAL", "error EINVAL" },
    { 100, -2, "error EINVAL", "error EINVAL" },
    { INT64_MAX, INT64_MAX,
      "memory.limit_in_bytes=9223372036854775807;memory.memsw.limit_in_bytes=9223372036854775807;",
      "memory.max=9223372036854775807;memory.swap.max=0;" },
  };

  (void)state;
  for (size_t i = 0; i < ARRAY_SIZE (cases); i++)
    {
      struct oci_memory memory = { .has_limit = cases[i].limit != INT64_MIN,
                                   .limit = cases[i].limit,
                                   .has_swap = cases[i].swap != INT64_MIN,
                                   .swap = cases[i].swap };
      struct oci_resources r = { .memory = &memory };
      assert_string_equal (plan (V1, &r), cases[i].v1);
      assert_string_equal (plan (V2, &r), cases[i].v2);
    }
}

static void test_memory_others (void **state)
{
  struct oci_memory memory = { .has_reservation = true, .reservation = 50 };
  struct oci_resources r = { .memory = &memory };

  (void)state;
  assert_string_equal (plan (V1, &r), "memory.soft_limit_in_bytes=50;");
  assert_string_equal (plan (V2, &r), "memory.low=50;");
  memory.reservation = -1;
  assert_string_equal (plan (V2, &r), "memory.low=max;");

  memory = (struct oci_memory){ .has_swappiness = true };
  assert_string_equal (plan (V1, &r), "memory.swappiness=0;");
  assert_string_equal (plan (V2, &r), "error EOPNOTSUPP");
  assert_says ("linux.resources.memory.swappiness");

  memory = (struct oci_memory){ .has_disable_oom_killer = true, .disable_oom_killer = true };
  assert_string_equal (plan (V1, &r), "memory.oom_control=1;");
  assert_string_equal (plan (V2, &r), "error EOPNOTSUPP");
  assert_says ("linux.resources.memory.disableOOMKiller");

  memory = (struct oci_memory){ .has_kernel = true, .kernel = 5 };
  assert_string_equal (plan (V1, &r), "error EOPNOTSUPP");
  assert_says ("linux.resources.memory.kernel");
  memory.kernel = -1;
  assert_string_equal (plan (V1, &r), "");

  memory = (struct oci_memory){ .has_kernel_tcp = true, .kernel_tcp = 5 };
  assert_string_equal (plan (V1, &r), "memory.kmem.tcp.limit_in_bytes=5;");
  assert_string_equal (plan (V2, &r), "error EOPNOTSUPP");

  memory = (struct oci_memory){ .has_use_hierarchy = true, .use_hierarchy = true };
  assert_string_equal (plan (V1, &r), "");
  memory.use_hierarchy = false;
  assert_string_equal (plan (V2, &r), "error EOPNOTSUPP");
}

static void test_memory_check_before_update (void **state)
{
  struct oci_memory memory = {
    .has_limit = true, .limit = 100, .has_check_before_update = true, .check_before_update = true
  };
  struct oci_resources r = { .memory = &memory };
  struct cgroup_layout l = layout (V2);
  cleanup_writes struct cgroup_writes w = { 0 };

  (void)state;
  assert_int_equal (cgroup_plan_writes (&l, &r, &w, &err), 0);
  assert_int_equal (w.list[0].flags & WRITE_CHECK_USAGE, WRITE_CHECK_USAGE);
}

static void test_cpu_shares (void **state)
{
  static const struct
  {
    uint64_t shares, weight;
  } fixed[] = { { 0, 1 },
                { 1, 1 },
                { 2, 1 },
                { 1024, 100 },
                { 262144, 10000 },
                { 262145, 10000 },
                { UINT64_MAX, 10000 } };
  uint64_t last = 0;

  (void)state;
  for (size_t i = 0; i < ARRAY_SIZE (fixed); i++)
    assert_int_equal (cpu_weight_of_shares (fixed[i].shares), fixed[i].weight);
  for (uint64_t shares = 2; shares <= 262144; shares++)
    {
      uint64_t weight = cpu_weight_of_shares (shares);
      assert_true (weight >= last && weight <= 10000);
      last = weight;
    }
  /* By hand from the formula: l = 9, 10^((81 + 1125) / 612 - 7 / 34) = 58.2; l = 11, 10^2.2386 =
     173.2; l = 17, 10^3.7386 = 5478.0.  */
  assert_int_equal (cpu_weight_of_shares (512), 59);
  assert_int_equal (cpu_weight_of_shares (2048), 174);
}

static void test_cpu (void **state)
{
  struct oci_cpu cpu = { .has_shares = true,
                         .shares = 1024,
                         .has_quota = true,
                         .quota = 5000,
                         .has_period = true,
                         .period = 20000 };
  struct oci_resources r = { .cpu = &cpu };

  (void)state;
  assert_string_equal (plan (V1, &r),
                       "cpu.shares=1024;cpu.cfs_period_us=20000;cpu.cfs_quota_us=5000;");
  assert_string_equal (plan (V2, &r), "cpu.weight=100;cpu.max=5000 20000;");
  cpu = (struct oci_cpu){ .has_quota = true, .quota = -1 };
  assert_string_equal (plan (V1, &r), "cpu.cfs_quota_us=-1;");
  assert_string_equal (plan (V2, &r), "cpu.max=max;");
  cpu.quota = -2;
  assert_string_equal (plan (V1, &r), "error EINVAL");
  assert_string_equal (plan (V2, &r), "error EINVAL");

  cpu = (struct oci_cpu){ .has_burst = true, .burst = 10, .has_quota = true, .quota = 9 };
  assert_string_equal (plan (V1, &r), "error EINVAL");
  cpu.quota = 10;
  assert_string_equal (plan (V1, &r), "cpu.cfs_quota_us=10;cpu.cfs_burst_us=10;");
  assert_string_equal (plan (V2, &r), "cpu.max=10;cpu.max.burst=10;");

  cpu = (struct oci_cpu){ .has_idle = true, .idle = 1 };
  assert_string_equal (plan (V1, &r), "cpu.idle=1;");
  assert_string_equal (plan (V2, &r), "cpu.idle=1;");

  cpu = (struct oci_cpu){ .has_realtime_runtime = true,
                          .realtime_runtime = 7,
                          .has_realtime_period = true,
                          .realtime_period = 9 };
  assert_string_equal (plan (V1, &r), "cpu.rt_period_us=9;cpu.rt_runtime_us=7;");
  assert_string_equal (plan (V2, &r), "error EOPNOTSUPP");
  assert_says ("linux.resources.cpu.realtimePeriod");
}

static void test_cpu_period_alone (void **state)
{
  struct oci_cpu cpu = { .has_period = true, .period = 20000 };
  struct oci_resources r = { .cpu = &cpu };
  struct cgroup_layout l = layout (V2);
  cleanup_writes struct cgroup_writes w = { 0 };

  (void)state;
  assert_int_equal (cgroup_plan_writes (&l, &r, &w, &err), 0);
  assert_int_equal (w.len, 1);
  assert_string_equal (w.list[0].value, "20000");
  assert_int_equal (w.list[0].flags & WRITE_KEEP_QUOTA, WRITE_KEEP_QUOTA);
}

static void test_cpuset (void **state)
{
  struct oci_cpu cpu = { .cpus = (char *)"0-3,7", .mems = (char *)"0" };
  struct oci_resources r = { .cpu = &cpu };

  (void)state;
  assert_string_equal (plan (V1, &r), "cpuset.cpus=0-3,7;cpuset.mems=0;");
  assert_string_equal (plan (V2, &r), "cpuset.cpus=0-3,7;cpuset.mems=0;");
  cpu.cpus = (char *)"0\n1";
  assert_string_equal (plan (V1, &r), "error EINVAL");
  assert_says ("linux.resources.cpu.cpus");
}

static void test_pids (void **state)
{
  struct oci_pids pids = { .has_limit = true, .limit = 100 };
  struct oci_resources r = { .pids = &pids };

  (void)state;
  assert_string_equal (plan (V1, &r), "pids.max=100;");
  pids.limit = -1;
  assert_string_equal (plan (V1, &r), "pids.max=max;");
  assert_string_equal (plan (V2, &r), "pids.max=max;");
  /* runtime-spec 1.3: 0 is a limit.  */
  pids.limit = 0;
  assert_string_equal (plan (V2, &r), "pids.max=0;");
  pids.limit = -2;
  assert_string_equal (plan (V2, &r), "error EINVAL");
}

static void test_block_io (void **state)
{
  struct oci_weight_device weights[] = { { true, 8, true, 16, true, 500, false, 0 } };
  struct oci_throttle_device rates[] = { { true, 8, true, 0, true, 1000 },
                                         { true, 8, true, 1, true, 0 } };
  struct oci_block_io b = { .has_weight = true, .weight = 1000 };
  struct oci_resources r = { .block_io = &b };

  (void)state;
  assert_string_equal (plan (V1, &r), "blkio.weight=1000|blkio.bfq.weight=1000;");
  assert_string_equal (plan (V2, &r), "io.bfq.weight=1000|io.weight=10000;");
  b.weight = 10;
  assert_string_equal (plan (V2, &r), "io.bfq.weight=10|io.weight=1;");

  b = (struct oci_block_io){ .weight_device = weights, .weight_device_len = 1 };
  assert_string_equal (plan (V1, &r),
                       "blkio.weight_device=8:16 500|blkio.bfq.weight_device=8:16 500;");
  assert_string_equal (plan (V2, &r), "io.bfq.weight=8:16 500|io.weight=8:16 4950;");
  weights[0].has_weight = false;
  assert_string_equal (plan (V2, &r), "error EINVAL");
  weights[0].has_leaf_weight = true;
  weights[0].leaf_weight = 20;
  assert_string_equal (plan (V1, &r), "blkio.leaf_weight_device=8:16 20;");
  assert_string_equal (plan (V2, &r), "error EOPNOTSUPP");

  b = (struct oci_block_io){ .throttle_write_iops_device = rates,
                             .throttle_write_iops_device_len = 2 };
  assert_string_equal (plan (V1, &r), "blkio.throttle.write_iops_device=8:0 1000;"
                                      "blkio.throttle.write_iops_device=8:1 0;");
  assert_string_equal (plan (V2, &r), "io.max=8:0 wiops=1000;io.max=8:1 wiops=max;");
  rates[0].has_rate = false;
  assert_string_equal (plan (V1, &r), "error EINVAL");
  assert_says ("linux.resources.blockIO.throttleWriteIOPSDevice");
  rates[0].has_rate = true;
  rates[0].major = -1;
  assert_string_equal (plan (V1, &r), "error EINVAL");
  b = (struct oci_block_io){ .throttle_read_bps_device = rates + 1,
                             .throttle_read_bps_device_len = 1 };
  rates[1].rate = 7;
  assert_string_equal (plan (V2, &r), "io.max=8:1 rbps=7;");
}

static void test_hugetlb (void **state)
{
  static const char *const bad[] = { NULL,  "",   "2",      "MB",   "2MBx",
                                     "2TB", "2M", "../2MB", "02MB", "2/MB" };
  struct oci_hugepage_limit l = { .page_size = (char *)"2MB", .has_limit = true };
  struct oci_resources r = { .hugepage_limits = &l, .hugepage_limits_len = 1 };

  (void)state;
  assert_string_equal (plan (V1, &r),
                       "hugetlb.2MB.rsvd.limit_in_bytes=0|hugetlb.2MB.limit_in_bytes=0;");
  assert_string_equal (plan (V2, &r), "hugetlb.2MB.rsvd.max=0|hugetlb.2MB.max=0;");
  for (size_t i = 0; i < ARRAY_SIZE (bad); i++)
    {
      l.page_size = (char *)bad[i];
      assert_string_equal (plan (V2, &r), "error EINVAL");
    }
}

static void test_network (void **state)
{
  struct oci_interface_priority priority = { .name = (char *)"eth0",
                                             .has_priority = true,
                                             .priority = 5 };
  struct oci_network n = {
    .has_class_id = true, .class_id = 1048577, .priorities = &priority, .priorities_len = 1
  };
  struct oci_resources r = { .network = &n };
  struct cgroup_layout v2 = layout (V2);

  (void)state;
  assert_string_equal (plan (V1, &r), "net_cls.classid=1048577;net_prio.ifpriomap=eth0 5;");
  v2.version[CONTROLLER_NET_CLS] = v2.version[CONTROLLER_NET_PRIO] = CONTROLLER_ABSENT;
  assert_string_equal (plan_on (&v2, &r), "error ENOENT");
  assert_says ("linux.resources.network.classID");
  priority.name = (char *)"eth 0";
  assert_string_equal (plan (V1, &r), "error EINVAL");
}

static void test_rdma (void **state)
{
  struct oci_rdma device = {
    .has_hca_handles = true, .hca_handles = 3, .has_hca_objects = true, .hca_objects = 4
  };
  char *keys[] = { (char *)"mlx5_1" };
  struct oci_resources r = { .rdma = { true, 1, keys, &device } };

  (void)state;
  assert_string_equal (plan (V1, &r), "rdma.max=mlx5_1 hca_handle=3 hca_object=4;");
  device.has_hca_handles = false;
  assert_string_equal (plan (V2, &r), "rdma.max=mlx5_1 hca_object=4;");
  device.has_hca_objects = false;
  assert_string_equal (plan (V2, &r), "error EINVAL");
}

static void test_unified (void **state)
{
  static const struct
  {
    const char *key, *value, *want;
  } cases[] = {
    { "memory.high", "100", "memory.high=100;" },
    { "io.max", "8:0 rbps=1\n8:16 wbps=2", "io.max=8:0 rbps=1;io.max=8:16 wbps=2;" },
    { "cgroup.max.descendants", "5", "cgroup.max.descendants=5;" },
    { "misc.future", "x", "misc.future=x;" },
    { "cgroup.procs", "1", "error EINVAL" },
    { "cgroup.subtree_control", "+memory", "error EINVAL" },
    { "cgroup.kill", "1", "error EINVAL" },
    { "../memory.max", "1", "error EINVAL" },
    { "memory/memory.max", "1", "error EINVAL" },
    { "memory", "1", "error EINVAL" },
    { ".max", "1", "error EINVAL" },
    { "", "1", "error EINVAL" },
    { "memory.high", "", "error EINVAL" },
    { "memory.high", "\n", "error EINVAL" },
    { "devices.allow", "a", "error ENOENT" },
    { "mem.high", "1", "error ENOENT" },
  };

  (void)state;
  for (size_t i = 0; i < ARRAY_SIZE (cases); i++)
    {
      char *keys[] = { (char *)cases[i].key }, *values[] = { (char *)cases[i].value };
      struct oci_resources r = { .unified = { true, 1, keys, values } };
      assert_string_equal (plan (V2, &r), cases[i].want);
      assert_string_equal (plan (V1, &r), "error EOPNOTSUPP");
      assert_says ("linux.resources.unified");
    }
}

/* Each controller where the host has it.  */
static void test_mixed_layout (void **state)
{
  struct cgroup_layout l = layout (V1);
  struct oci_memory memory = { .has_limit = true, .limit = 100 };
  struct oci_pids pids = { .has_limit = true, .limit = -1 };
  struct oci_resources r = { .memory = &memory, .pids = &pids };
  cleanup_writes struct cgroup_writes w = { 0 };

  (void)state;
  l.version[CONTROLLER_MEMORY] = V2;
  assert_string_equal (plan_on (&l, &r), "memory.max=100;pids.max=max;");
  assert_int_equal (cgroup_plan_writes (&l, &r, &w, &err), 0);
  assert_true (writes_need_v2 (&l, &w, "memory"));
  assert_false (writes_need_v2 (&l, &w, "pids"));
  assert_true (writes_need_v1 (&l, &w, "foo,pids"));
  assert_false (writes_need_v1 (&l, &w, "memory"));
  assert_false (writes_need_v1 (&l, &w, "name=systemd"));
}

/* ---- /proc */

#define MOUNT(root, point, type, options)                                                          \
  "31 30 0:28 " root " " point " rw,relatime shared:9 - " type " cgroup " options "\n"

static void test_hierarchies (void **state)
{
  static const char cgroup[] =
      "12:cpu,cpuacct:/a\n9:name=systemd:/\n4:memory:/b:c\n3:rdma:/\n2::/\n0::/x\n";
  static const char mountinfo[] =
      "22 1 0:1 / / rw - ext4 /dev/vda rw\n"
      "garbage\n" MOUNT ("/docker/1", "/c", "cgroup", "rw,cpuacct,cpu")
          MOUNT ("/", "/sys/fs/cgroup/cpu\\040x", "cgroup", "rw,cpuacct,cpu")
              MOUNT ("/", "/second", "cgroup", "rw,cpuacct,cpu")
                  MOUNT ("/", "/sys/fs/cgroup/cpu\\040x/no", "cgroup", "rw,cpu2")
                      MOUNT ("/", "/m", "cgroup", "rw,memory")
                          MOUNT ("/", "/s", "cgroup", "rw,xattr,name=systemd")
                              MOUNT ("/", "/u", "cgroup2", "rw,nsdelegate");
  cleanup_hierarchies struct hierarchies h = { 0 };

  (void)state;
  assert_int_equal (hierarchies_parse (cgroup, mountinfo, &h, &err), 0);
  assert_int_equal (h.mode, CGROUP_HYBRID);
  assert_int_equal (h.len, 4);
  assert_string_equal (h.list[0].controllers, "cpu,cpuacct");
  assert_string_equal (h.list[0].mountpoint, "/sys/fs/cgroup/cpu x");
  assert_string_equal (h.list[1].mountpoint, "/s");
  assert_string_equal (h.list[2].mountpoint, "/m");
  assert_string_equal (h.list[3].controllers, "");
  assert_string_equal (h.list[3].mountpoint, "/u");
}

static void test_hierarchies_modes (void **state)
{
  cleanup_hierarchies struct hierarchies v1 = { 0 };
  cleanup_hierarchies struct hierarchies v2 = { 0 };
  cleanup_hierarchies struct hierarchies none = { 0 };

  (void)state;
  assert_int_equal (hierarchies_parse ("0::/\n", MOUNT ("/", "/u", "cgroup2", "rw"), &v2, &err), 0);
  assert_int_equal (v2.mode, CGROUP_V2);
  assert_int_equal (v2.len, 1);
  assert_int_equal (
      hierarchies_parse ("4:memory:/\n0::/\n", MOUNT ("/", "/m", "cgroup", "rw,memory"), &v1, &err),
      0);
  assert_int_equal (v1.mode, CGROUP_V1);
  assert_int_equal (hierarchies_parse ("", "", &none, &err), 0);
  assert_int_equal (none.len, 0);
}

static void test_list_has (void **state)
{
  (void)state;
  assert_true (list_has ("cpu,cpuacct", ",", "cpu"));
  assert_true (list_has ("cpu,cpuacct", ",", "cpuacct"));
  assert_false (list_has ("cpuacct", ",", "cpu"));
  assert_false (list_has ("", ",", "cpu"));
  assert_false (list_has ("cpu", ",", ""));
  assert_false (list_has (NULL, ",", "cpu"));
  assert_true (list_has ("populated 0\nfrozen 1\n", "\n", "frozen 1"));
}

int main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_nothing),
    cmocka_unit_test (test_absent_controller),
    cmocka_unit_test (test_memory_limits),
    cmocka_unit_test (test_memory_others),
    cmocka_unit_test (test_memory_check_before_update),
    cmocka_unit_test (test_cpu_shares),
    cmocka_unit_test (test_cpu),
    cmocka_unit_test (test_cpu_period_alone),
    cmocka_unit_test (test_cpuset),
    cmocka_unit_test (test_pids),
    cmocka_unit_test (test_block_io),
    cmocka_unit_test (test_hugetlb),
    cmocka_unit_test (test_network),
    cmocka_unit_test (test_rdma),
    cmocka_unit_test (test_unified),
    cmocka_unit_test (test_mixed_layout),
    cmocka_unit_test (test_hierarchies),
    cmocka_unit_test (test_hierarchies_modes),
    cmocka_unit_test (test_list_has),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
