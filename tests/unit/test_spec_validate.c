/* SPDX-License-Identifier: Apache-2.0 */
/* src/spec/validate*.c: each check with one configuration that it refuses and one that it lets
   pass. No privilege needed.  */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "spec/validate.h"

/* A configuration is made of these parts; a case replaces some and leaves the others NULL.  */
struct parts
{
  const char *version, *root, *process, *mounts, *linux_part, *extra;
};

static const struct parts good = {
  .version = "\"1.2.0\"",
  .root = "{\"path\":\"rootfs\"}",
  .process = "{\"args\":[\"sh\"],\"cwd\":\"/\",\"user\":{\"uid\":1000,\"gid\":1000}}",
  .mounts = "[{\"destination\":\"/proc\",\"type\":\"proc\",\"source\":\"proc\"}]",
  .linux_part = "{\"namespaces\":[{\"type\":\"mount\"}]}",
  .extra = "",
};

#define PROCESS(members)   .process = "{\"args\":[\"sh\"],\"cwd\":\"/\"," members "}"
#define MOUNT(members)     .mounts = "[{" members "}]"
#define LINUX(members)     .linux_part = "{\"namespaces\":[{\"type\":\"mount\"}]," members "}"
#define NAMESPACES(list)   .linux_part = "{\"namespaces\":[" list "]}"
#define RESOURCES(members) LINUX ("\"resources\":{" members "}")
#define SYSCTL(more, members)                                                                      \
  .linux_part = "{\"namespaces\":[{\"type\":\"mount\"}" more "],\"sysctl\":{" members "}}"
#define EXTRA(members) .extra = "," members

static char *build (struct arena *arena, const struct parts *p)
{
#define PART(member) (p->member == NULL ? good.member : p->member)
  return arena_printf (
      arena, "{\"ociVersion\":%s,\"root\":%s,\"process\":%s,\"mounts\":%s,\"linux\":%s%s}",
      PART (version), PART (root), PART (process), PART (mounts), PART (linux_part), PART (extra));
#undef PART
}

static struct findings validate (struct arena *arena, const struct parts *p)
{
  struct findings f = { .arena = arena };
  struct oci_report report = { 0 };
  struct oci_config *config = NULL;
  char *text = build (arena, p);

  assert_non_null (text);
  if (oci_config_parse (arena, text, strlen (text), 0, &report, &config) < 0)
    fail_msg ("%s: %s", text, report.errors[0].message);
  spec_validate (config, &f);
  assert_false (f.failed);
  return f;
}

struct refusal
{
  struct parts parts;
  const char *rule, *pointer;
  const char *action; /* NULL: reject */
};

static const struct refusal refused[] = {
  { { .version = "null" }, "json.version", "/ociVersion", NULL },
  { { .version = "\"\"" }, "json.version", "/ociVersion", NULL },
  { { .version = "\"1.0\"" }, "json.version", "/ociVersion", NULL },
  { { .version = "\"1.02.0\"" }, "json.version", "/ociVersion", NULL },
  { { .version = "\"1.0.0-\"" }, "json.version", "/ociVersion", NULL },
  { { .version = "\"1.0.0 \"" }, "json.version", "/ociVersion", NULL },
  { { .version = "\"2.0.0\"" }, "json.version", "/ociVersion", NULL },
  { { .version = "\"10.0.0\"" }, "json.version", "/ociVersion", NULL },
  { { EXTRA ("\"vm\":{}") }, "config.unsupported", "/vm", NULL },
  { { .root = "null" }, "rootfs.path", "/root", NULL },
  { { .root = "{\"path\":\"\"}" }, "rootfs.path", "/root/path", NULL },
  { { .root = "{}" }, "rootfs.path", "/root/path", NULL },
  /* process */
  { { .process = "null" }, "config.invalid", "/process", NULL },
  { { .process = "{\"cwd\":\"/\"}" }, "config.invalid", "/process/args", NULL },
  { { .process = "{\"cwd\":\"/\",\"args\":[]}" }, "config.invalid", "/process/args", NULL },
  { { .process = "{\"cwd\":\"/\",\"args\":[\"\"]}" }, "config.invalid", "/process/args/0", NULL },
  { { .process = "{\"args\":[\"sh\"]}" }, "process.cwd", "/process/cwd", NULL },
  { { .process = "{\"args\":[\"sh\"],\"cwd\":\"tmp\"}" }, "process.cwd", "/process/cwd", NULL },
  { { PROCESS ("\"env\":[\"A=1\",\"B\"]") }, "config.invalid", "/process/env/1", NULL },
  { { PROCESS ("\"env\":[\"=1\"]") }, "config.invalid", "/process/env/0", NULL },
  { { PROCESS ("\"user\":{\"uid\":4294967295}") }, "user.root", "/process/user/uid", NULL },
  { { PROCESS ("\"user\":{\"gid\":4294967295}") }, "config.invalid", "/process/user/gid", NULL },
  { { PROCESS ("\"user\":{\"additionalGids\":[1,4294967295]}") },
    "config.invalid",
    "/process/user/additionalGids/1",
    NULL },
  { { PROCESS ("\"terminal\":true,\"consoleSize\":{\"height\":1}") },
    "config.invalid",
    "/process/consoleSize",
    NULL },
  { { PROCESS ("\"terminal\":true,\"consoleSize\":{\"height\":1,\"width\":65536}") },
    "config.invalid",
    "/process/consoleSize",
    NULL },
  { { PROCESS ("\"capabilities\":{\"bounding\":[\"CAP_NEW\"]}") },
    "config.capability",
    "/process/capabilities/bounding/0",
    "warn" },
  { { PROCESS ("\"capabilities\":{\"effective\":[\"CAP_KILL\"]}") },
    "config.capability",
    "/process/capabilities/effective",
    "warn" },
  { { PROCESS ("\"capabilities\":{\"permitted\":[\"CAP_KILL\"],\"ambient\":[\"CAP_KILL\"]}") },
    "config.capability",
    "/process/capabilities/ambient",
    "warn" },
  { { PROCESS ("\"rlimits\":[{\"type\":\"RLIMIT_X\",\"soft\":1,\"hard\":1}]") },
    "limit.rlimit",
    "/process/rlimits/0",
    NULL },
  { { PROCESS ("\"rlimits\":[{\"type\":\"RLIMIT_CPU\",\"soft\":2,\"hard\":1}]") },
    "limit.rlimit",
    "/process/rlimits/0",
    NULL },
  { { PROCESS ("\"rlimits\":[{\"type\":\"RLIMIT_CPU\",\"soft\":2}]") },
    "limit.rlimit",
    "/process/rlimits/0",
    NULL },
  { { PROCESS ("\"rlimits\":[{\"type\":\"RLIMIT_CPU\",\"soft\":1,\"hard\":1},"
               "{\"type\":\"RLIMIT_CPU\",\"soft\":1,\"hard\":1}]") },
    "limit.rlimit",
    "/process/rlimits/1",
    NULL },
  { { PROCESS ("\"scheduler\":{}") }, "config.invalid", "/process/scheduler", NULL },
  { { PROCESS ("\"scheduler\":{\"policy\":\"SCHED_ISO\"}") },
    "config.invalid",
    "/process/scheduler",
    NULL },
  { { PROCESS ("\"scheduler\":{\"policy\":\"SCHED_OTHER\",\"nice\":20}") },
    "config.invalid",
    "/process/scheduler",
    NULL },
  { { PROCESS ("\"scheduler\":{\"policy\":\"SCHED_IDLE\",\"nice\":1}") },
    "config.invalid",
    "/process/scheduler",
    NULL },
  { { PROCESS ("\"scheduler\":{\"policy\":\"SCHED_OTHER\",\"priority\":1}") },
    "config.invalid",
    "/process/scheduler",
    NULL },
  { { PROCESS ("\"scheduler\":{\"policy\":\"SCHED_FIFO\"}") },
    "config.invalid",
    "/process/scheduler",
    NULL },
  { { PROCESS ("\"scheduler\":{\"policy\":\"SCHED_DEADLINE\"}") },
    "config.invalid",
    "/process/scheduler",
    NULL },
  { { PROCESS ("\"scheduler\":{\"policy\":\"SCHED_OTHER\",\"runtime\":1}") },
    "config.invalid",
    "/process/scheduler",
    NULL },
  { { PROCESS ("\"scheduler\":{\"policy\":\"SCHED_OTHER\",\"flags\":[\"SCHED_FLAG_NONE\"]}") },
    "config.invalid",
    "/process/scheduler/flags/0",
    NULL },
  { { PROCESS ("\"ioPriority\":{\"class\":\"IOPRIO_CLASS_NONE\"}") },
    "config.invalid",
    "/process/ioPriority/class",
    NULL },
  { { PROCESS ("\"ioPriority\":{\"class\":\"IOPRIO_CLASS_BE\",\"priority\":8}") },
    "config.invalid",
    "/process/ioPriority/priority",
    NULL },
  { { PROCESS ("\"execCPUAffinity\":{\"initial\":\"3-1\"}") },
    "config.invalid",
    "/process/execCPUAffinity/initial",
    NULL },
  { { PROCESS ("\"execCPUAffinity\":{\"final\":\"8192\"}") },
    "config.invalid",
    "/process/execCPUAffinity/final",
    NULL },
  /* mounts */
  { { MOUNT ("\"type\":\"proc\"") }, "mount.destination", "/mounts/0/destination", NULL },
  { { MOUNT ("\"type\":\"proc\",\"destination\":\"proc\"") },
    "mount.destination",
    "/mounts/0/destination",
    "warn" },
  { { MOUNT ("\"destination\":\"/x\"") }, "mount.type", "/mounts/0/type", NULL },
  { { MOUNT ("\"destination\":\"//.\",\"type\":\"tmpfs\",\"options\":[\"tmpcopyup\"]") },
    "mount.option",
    "/mounts/0/options",
    NULL },
  { { MOUNT ("\"destination\":\"/x\",\"type\":\"bind\"") },
    "mount.source",
    "/mounts/0/source",
    NULL },
  { { MOUNT ("\"destination\":\"/x\",\"type\":\"tmpfs\",\"options\":[\"rbind\"]") },
    "mount.source",
    "/mounts/0/source",
    NULL },
  { { MOUNT ("\"destination\":\"/x\",\"source\":\"/y\",\"options\":[\"bind\",\"src-nofollow\"]") },
    "config.unsupported",
    "/mounts/0/options",
    NULL },
  { { MOUNT ("\"destination\":\"/x\",\"type\":\"tmpfs\",\"options\":[\"\"]") },
    "mount.option",
    "/mounts/0/options",
    NULL },
  { { MOUNT ("\"destination\":\"/x\",\"source\":\"/y\",\"options\":[\"bind\",\"remount\"]") },
    "mount.option",
    "/mounts/0/options",
    NULL },
  { { MOUNT ("\"destination\":\"/x\",\"source\":\"/y\",\"options\":[\"bind\",\"tmpcopyup\"]") },
    "mount.option",
    "/mounts/0/options",
    NULL },
  { { MOUNT ("\"destination\":\"/x\",\"source\":\"/y\",\"options\":[\"bind\",\"idmap\"]") },
    "config.invalid",
    "/mounts/0/options",
    NULL },
  { { MOUNT ("\"destination\":\"/x\",\"source\":\"/y\",\"options\":[\"bind\"],\"uidMappings\":"
             "[{\"containerID\":0,\"hostID\":1,\"size\":1}]") },
    "config.invalid",
    "/mounts/0/gidMappings",
    NULL },
  { { MOUNT ("\"destination\":\"/x\",\"source\":\"/y\",\"options\":[\"bind\"],"
             "\"uidMappings\":[{\"containerID\":0,\"hostID\":1,\"size\":0}],"
             "\"gidMappings\":[{\"containerID\":0,\"hostID\":1,\"size\":1}]") },
    "config.invalid",
    "/mounts/0/uidMappings/0",
    NULL },
  { { MOUNT ("\"destination\":\"/x\",\"type\":\"tmpfs\","
             "\"uidMappings\":[{\"containerID\":0,\"hostID\":1,\"size\":1}],"
             "\"gidMappings\":[{\"containerID\":0,\"hostID\":1,\"size\":1}]") },
    "config.unsupported",
    "/mounts/0/uidMappings",
    NULL },
  /* names */
  { { EXTRA ("\"hostname\":\"a\"") }, "config.invalid", "/hostname", NULL },
  { { EXTRA ("\"domainname\":\"a\"") }, "config.invalid", "/domainname", NULL },
  { { NAMESPACES ("{\"type\":\"mount\"},{\"type\":\"uts\"}"),
      EXTRA (
          "\"hostname\":\"a234567890123456789012345678901234567890123456789012345678901234x\"") },
    "config.invalid",
    "/hostname",
    NULL },
  { { EXTRA ("\"annotations\":{\"\":\"x\"}") }, "config.invalid", "/annotations", NULL },
  /* hooks */
  { { EXTRA ("\"hooks\":{\"poststop\":[{\"path\":\"bin/x\"}]}") },
    "hook.path",
    "/hooks/poststop/0/path",
    NULL },
  { { EXTRA ("\"hooks\":{\"createContainer\":[{}]}") },
    "hook.path",
    "/hooks/createContainer/0/path",
    NULL },
  { { EXTRA ("\"hooks\":{\"prestart\":[{\"path\":\"/x\",\"timeout\":0}]}") },
    "config.invalid",
    "/hooks/prestart/0/timeout",
    NULL },
  { { EXTRA ("\"hooks\":{\"startContainer\":[{\"path\":\"/x\",\"env\":[\"A\"]}]}") },
    "config.invalid",
    "/hooks/startContainer/0/env/0",
    NULL },
  /* linux */
  { { .linux_part = "null" }, "namespace.host", "/linux/namespaces", NULL },
  { { NAMESPACES ("{\"type\":\"pid\"}") }, "namespace.host", "/linux/namespaces", NULL },
  { { NAMESPACES ("{\"type\":\"mount\"},{\"type\":\"net\"}") },
    "namespace.entry",
    "/linux/namespaces/1",
    NULL },
  { { NAMESPACES ("{\"type\":\"mount\"},{}") }, "namespace.entry", "/linux/namespaces/1", NULL },
  { { NAMESPACES ("{\"type\":\"mount\"},{\"type\":\"pid\"},{\"type\":\"pid\"}") },
    "namespace.entry",
    "/linux/namespaces/2",
    NULL },
  { { NAMESPACES ("{\"type\":\"mount\"},{\"type\":\"pid\",\"path\":\"ns/pid\"}") },
    "namespace.entry",
    "/linux/namespaces/1",
    NULL },
  { { NAMESPACES ("{\"type\":\"mount\",\"path\":\"/proc/1/ns/mnt\"}") },
    "namespace.entry",
    "/linux/namespaces/0",
    NULL },
  { { .linux_part = "{\"namespaces\":[{\"type\":\"mount\"},{\"type\":\"user\"}],"
                    "\"gidMappings\":[{\"containerID\":0,\"hostID\":1,\"size\":1}]}" },
    "config.invalid",
    "/linux/uidMappings",
    NULL },
  { { .linux_part = "{\"namespaces\":[{\"type\":\"mount\"},{\"type\":\"user\",\"path\":\"/x\"}],"
                    "\"gidMappings\":[{\"containerID\":0,\"hostID\":1,\"size\":1}]}" },
    "config.invalid",
    "/linux/uidMappings",
    NULL },
  { { LINUX ("\"uidMappings\":[{\"containerID\":0,\"hostID\":1,\"size\":1}]") },
    "config.invalid",
    "/linux/uidMappings",
    NULL },
  { { LINUX ("\"gidMappings\":[{\"containerID\":0,\"hostID\":1,\"size\":1}]") },
    "config.invalid",
    "/linux/gidMappings",
    NULL },
  { { LINUX ("\"timeOffsets\":{\"boottime\":{\"secs\":1}}") },
    "config.invalid",
    "/linux/timeOffsets",
    NULL },
  { { .linux_part = "{\"namespaces\":[{\"type\":\"mount\"},{\"type\":\"time\"}],"
                    "\"timeOffsets\":{\"realtime\":{\"secs\":1}}}" },
    "config.invalid",
    "/linux/timeOffsets",
    NULL },
  { { .linux_part = "{\"namespaces\":[{\"type\":\"mount\"},{\"type\":\"time\"}],"
                    "\"timeOffsets\":{\"boottime\":{\"nanosecs\":1000000000}}}" },
    "config.invalid",
    "/linux/timeOffsets",
    NULL },
  { { LINUX ("\"netDevices\":{\"eth0\":{}}") }, "config.invalid", "/linux/netDevices", NULL },
  { { .linux_part = "{\"namespaces\":[{\"type\":\"mount\"},{\"type\":\"network\"}],"
                    "\"netDevices\":{\"eth0\":{\"name\":\"a/b\"}}}" },
    "config.invalid",
    "/linux/netDevices",
    NULL },
  { { .linux_part = "{\"namespaces\":[{\"type\":\"mount\"},{\"type\":\"network\"}],"
                    "\"netDevices\":{\"a-name-of-16-char\":{}}}" },
    "config.invalid",
    "/linux/netDevices",
    NULL },
  { { LINUX ("\"intelRdt\":{\"closID\":\"a/b\"}") },
    "config.invalid",
    "/linux/intelRdt/closID",
    NULL },
  { { LINUX ("\"intelRdt\":{\"schemata\":[\"\"]}") },
    "config.invalid",
    "/linux/intelRdt/schemata/0",
    NULL },
  { { LINUX ("\"intelRdt\":{\"memBwSchema\":\"L3:0=f\"}") },
    "config.invalid",
    "/linux/intelRdt/memBwSchema",
    NULL },
  { { LINUX ("\"memoryPolicy\":{}") }, "config.invalid", "/linux/memoryPolicy/mode", NULL },
  { { LINUX ("\"memoryPolicy\":{\"mode\":\"MPOL_BIND\"}") },
    "config.invalid",
    "/linux/memoryPolicy/nodes",
    NULL },
  { { LINUX ("\"memoryPolicy\":{\"mode\":\"MPOL_LOCAL\",\"nodes\":\"0\"}") },
    "config.invalid",
    "/linux/memoryPolicy/nodes",
    NULL },
  { { LINUX ("\"memoryPolicy\":{\"mode\":\"MPOL_BIND\",\"nodes\":\"0,\"}") },
    "config.invalid",
    "/linux/memoryPolicy/nodes",
    NULL },
  { { LINUX (
        "\"memoryPolicy\":{\"mode\":\"MPOL_BIND\",\"nodes\":\"0\",\"flags\":[\"MPOL_F_X\"]}") },
    "config.invalid",
    "/linux/memoryPolicy/flags/0",
    NULL },
  { { LINUX ("\"memoryPolicy\":{\"mode\":\"MPOL_BIND\",\"nodes\":\"0\",\"flags\":[\"MPOL_F_STATIC_"
             "NODES\",\"MPOL_F_RELATIVE_NODES\"]}") },
    "config.invalid",
    "/linux/memoryPolicy/flags",
    NULL },
  { { LINUX ("\"personality\":{}") }, "config.invalid", "/linux/personality/domain", NULL },
  { { LINUX ("\"personality\":{\"domain\":\"LINUX\",\"flags\":[\"X\"]}") },
    "config.unsupported",
    "/linux/personality/flags",
    NULL },
  { { LINUX ("\"devices\":[{\"path\":\"dev/x\",\"type\":\"c\",\"major\":1,\"minor\":3}]") },
    "config.invalid",
    "/linux/devices/0",
    NULL },
  { { LINUX ("\"devices\":[{\"path\":\"/dev/x\",\"type\":\"d\",\"major\":1,\"minor\":3}]") },
    "config.invalid",
    "/linux/devices/0",
    NULL },
  { { LINUX ("\"devices\":[{\"path\":\"/dev/x\",\"type\":\"c\",\"major\":1}]") },
    "config.invalid",
    "/linux/devices/0",
    NULL },
  { { LINUX ("\"devices\":[{\"path\":\"/dev/x\",\"type\":\"c\",\"major\":-1,\"minor\":3}]") },
    "config.invalid",
    "/linux/devices/0",
    NULL },
  { { LINUX ("\"devices\":[{\"path\":\"/dev/x\",\"type\":\"p\",\"fileMode\":65536}]") },
    "config.invalid",
    "/linux/devices/0",
    NULL },
  { { LINUX ("\"devices\":[{\"path\":\"/dev/x\",\"type\":\"p\",\"uid\":4294967295}]") },
    "config.invalid",
    "/linux/devices/0",
    NULL },
  { { LINUX ("\"maskedPaths\":[\"/a\",\"proc/kcore\"]") },
    "config.invalid",
    "/linux/maskedPaths/1",
    NULL },
  { { LINUX ("\"readonlyPaths\":[\"\"]") }, "config.invalid", "/linux/readonlyPaths/0", NULL },
  { { LINUX ("\"cgroupsPath\":\"/a/../b\"") }, "cgroup.path", "/linux/cgroupsPath", NULL },
  { { LINUX ("\"cgroupsPath\":\"..\"") }, "cgroup.path", "/linux/cgroupsPath", NULL },
  { { LINUX ("\"cgroupsPath\":\"a:..:b\"") }, "cgroup.path", "/linux/cgroupsPath", NULL },
  { { LINUX ("\"sysctl\":{\"net..x\":\"1\"}") }, "sysctl.name", "/linux/sysctl/net..x", NULL },
  { { LINUX ("\"sysctl\":{\"net/../x\":\"1\"}") },
    "sysctl.name",
    "/linux/sysctl/net~1..~1x",
    NULL },
  { { SYSCTL ("", "\"net.x\":\"1\"") }, "sysctl.name", "/linux/sysctl/net.x", NULL },
  { { SYSCTL ("", "\"net/x\":\"1\"") }, "sysctl.name", "/linux/sysctl/net~1x", NULL },
  { { SYSCTL ("", "\"fs.mqueue.x\":\"1\"") }, "sysctl.name", "/linux/sysctl/fs.mqueue.x", NULL },
  { { SYSCTL (",{\"type\":\"network\"}", "\"kernel.shmmax\":\"1\"") },
    "sysctl.name",
    "/linux/sysctl/kernel.shmmax",
    NULL },
  { { SYSCTL (",{\"type\":\"uts\"}", "\"kernel.hostname\":\"x\"") },
    "sysctl.name",
    "/linux/sysctl/kernel.hostname",
    NULL },
  { { SYSCTL (",{\"type\":\"ipc\"}", "\"kernel.core_pattern\":\"|x\"") },
    "sysctl.name",
    "/linux/sysctl/kernel.core_pattern",
    NULL },
  { { SYSCTL (",{\"type\":\"ipc\"}", "\"fs.mqueue\":\"1\"") },
    "sysctl.name",
    "/linux/sysctl/fs.mqueue",
    NULL },
  { { LINUX ("\"sysctl\":{\"\":\"1\"}") }, "sysctl.name", "/linux/sysctl/", NULL },
  { { LINUX ("\"sysctl\":{\"net.x\":\"1\\n2\"}") }, "config.invalid", "/linux/sysctl/net.x", NULL },
  { { LINUX ("\"rootfsPropagation\":\"public\"") },
    "rootfs.propagation",
    "/linux/rootfsPropagation",
    NULL },
  /* resources */
  { { RESOURCES ("\"memory\":{\"limit\":-2}") },
    "config.invalid",
    "/linux/resources/memory/limit",
    NULL },
  { { RESOURCES ("\"memory\":{\"swappiness\":101}") },
    "config.invalid",
    "/linux/resources/memory/swappiness",
    NULL },
  { { RESOURCES ("\"memory\":{\"limit\":2,\"swap\":1}") },
    "config.invalid",
    "/linux/resources/memory/swap",
    NULL },
  { { RESOURCES ("\"cpu\":{\"quota\":-2}") },
    "config.invalid",
    "/linux/resources/cpu/quota",
    NULL },
  { { RESOURCES ("\"cpu\":{\"cpus\":\"0-\"}") },
    "config.invalid",
    "/linux/resources/cpu/cpus",
    NULL },
  { { RESOURCES ("\"cpu\":{\"mems\":\"a\"}") },
    "config.invalid",
    "/linux/resources/cpu/mems",
    NULL },
  { { RESOURCES ("\"cpu\":{\"idle\":2}") }, "config.invalid", "/linux/resources/cpu/idle", NULL },
  { { RESOURCES ("\"cpu\":{\"quota\":5,\"burst\":6}") },
    "config.invalid",
    "/linux/resources/cpu/burst",
    NULL },
  { { RESOURCES ("\"pids\":{\"limit\":-2}") },
    "config.invalid",
    "/linux/resources/pids/limit",
    NULL },
  { { RESOURCES ("\"blockIO\":{\"weight\":9}") },
    "config.invalid",
    "/linux/resources/blockIO/weight",
    NULL },
  { { RESOURCES ("\"blockIO\":{\"throttleReadIOPSDevice\":[{\"major\":-1,\"minor\":0,"
                 "\"rate\":1}]}") },
    "config.invalid",
    "/linux/resources/blockIO/throttleReadIOPSDevice/0",
    NULL },
  { { RESOURCES ("\"devices\":[{\"access\":\"rwm\"}]") },
    "config.invalid",
    "/linux/resources/devices/0",
    NULL },
  { { RESOURCES ("\"devices\":[{\"allow\":true,\"type\":\"p\"}]") },
    "config.invalid",
    "/linux/resources/devices/0",
    NULL },
  { { RESOURCES ("\"devices\":[{\"allow\":true,\"major\":-2}]") },
    "config.invalid",
    "/linux/resources/devices/0",
    NULL },
  { { RESOURCES ("\"devices\":[{\"allow\":true,\"access\":\"rwx\"}]") },
    "config.invalid",
    "/linux/resources/devices/0",
    NULL },
  { { RESOURCES ("\"hugepageLimits\":[{\"pageSize\":\"2M\",\"limit\":1}]") },
    "config.invalid",
    "/linux/resources/hugepageLimits/0/pageSize",
    NULL },
  { { RESOURCES ("\"network\":{\"priorities\":[{\"priority\":1}]}") },
    "config.invalid",
    "/linux/resources/network/priorities/0",
    NULL },
  { { RESOURCES ("\"unified\":{\"../cgroup.procs\":\"1\"}") },
    "limit.unified",
    "/linux/resources/unified",
    NULL },
  /* seccomp */
  { { LINUX ("\"seccomp\":{}") }, "config.invalid", "/linux/seccomp/defaultAction", NULL },
  { { LINUX ("\"seccomp\":{\"defaultAction\":\"SCMP_ACT_NOTIFY\"}") },
    "config.invalid",
    "/linux/seccomp/defaultAction",
    NULL },
  { { LINUX ("\"seccomp\":{\"defaultAction\":\"SCMP_ACT_ALLOW\",\"defaultErrnoRet\":1}") },
    "config.invalid",
    "/linux/seccomp/defaultAction",
    NULL },
  { { LINUX ("\"seccomp\":{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"defaultErrnoRet\":4096}") },
    "config.invalid",
    "/linux/seccomp/defaultAction",
    NULL },
#define SECCOMP(members) LINUX ("\"seccomp\":{\"defaultAction\":\"SCMP_ACT_ERRNO\"," members "}")
  { { SECCOMP ("\"listenerPath\":\"x\"") }, "config.invalid", "/linux/seccomp/listenerPath", NULL },
  { { SECCOMP ("\"listenerMetadata\":\"x\"") },
    "config.invalid",
    "/linux/seccomp/listenerMetadata",
    NULL },
  { { SECCOMP ("\"architectures\":[\"SCMP_ARCH_VAX\"]") },
    "config.invalid",
    "/linux/seccomp/architectures/0",
    NULL },
  { { SECCOMP ("\"flags\":[\"SECCOMP_FILTER_FLAG_NEW_LISTENER\"]") },
    "config.invalid",
    "/linux/seccomp/flags/0",
    NULL },
  { { SECCOMP ("\"flags\":[\"SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV\"]") },
    "config.invalid",
    "/linux/seccomp/flags/0",
    NULL },
  { { SECCOMP ("\"syscalls\":[{\"names\":[],\"action\":\"SCMP_ACT_ALLOW\"}]") },
    "config.invalid",
    "/linux/seccomp/syscalls/0",
    NULL },
  { { SECCOMP ("\"syscalls\":[{\"names\":[\"\"],\"action\":\"SCMP_ACT_ALLOW\"}]") },
    "config.invalid",
    "/linux/seccomp/syscalls/0",
    NULL },
  { { SECCOMP ("\"syscalls\":[{\"names\":[\"read\"],\"action\":\"SCMP_ACT_NOTIFY\"}]") },
    "config.invalid",
    "/linux/seccomp/listenerPath",
    NULL },
  { { SECCOMP ("\"syscalls\":[{\"names\":[\"read\"],\"action\":\"SCMP_ACT_LOG\",\"args\":"
               "[{\"index\":6,\"value\":0,\"op\":\"SCMP_CMP_EQ\"}]}]") },
    "config.invalid",
    "/linux/seccomp/syscalls/0/args/0",
    NULL },
  { { SECCOMP ("\"syscalls\":[{\"names\":[\"read\"],\"action\":\"SCMP_ACT_LOG\",\"args\":"
               "[{\"index\":0,\"value\":0,\"op\":\"EQ\"}]}]") },
    "config.invalid",
    "/linux/seccomp/syscalls/0/args/0",
    NULL },
};

static void test_refused (void **state)
{
  (void)state;
  for (size_t i = 0; i < ARRAY_SIZE (refused); i++)
    {
      cleanup_arena struct arena *arena = arena_new ();
      const struct refusal *c = &refused[i];
      struct findings f = validate (arena, &c->parts);
      bool found = false;

      for (size_t k = 0; k < f.len; k++)
        found |= str_equal (f.items[k].rule, c->rule) && str_equal (f.items[k].pointer, c->pointer)
                 && str_equal (f.items[k].action, c->action == NULL ? "reject" : c->action);
      if (!found)
        fail_msg ("%s: no %s at %s", build (arena, &c->parts), c->rule, c->pointer);
      assert_true (findings_reject (&f) == (c->action == NULL));
    }
}

static const struct parts accepted[] = {
  { 0 },
  { .version = "\"1.0.2-dev\"" },
  { .version = "\"1.3.0+build.1\"" },
  { EXTRA ("\"windows\":{\"x\":1},\"solaris\":{},\"freebsd\":{},\"zos\":{}") },
  { PROCESS ("\"env\":[\"A=\",\"PATH=/bin\",\"B=c=d\"]") },
  { PROCESS ("\"user\":{\"uid\":0,\"gid\":0,\"umask\":18,\"additionalGids\":[0,5]}") },
  { PROCESS ("\"terminal\":true,\"consoleSize\":{\"height\":24,\"width\":80}") },
  { PROCESS ("\"consoleSize\":{\"height\":1,\"width\":65536}") },
  { PROCESS ("\"capabilities\":{\"bounding\":[\"CAP_KILL\"],\"effective\":[\"CAP_KILL\"],"
             "\"permitted\":[\"CAP_KILL\"],\"inheritable\":[\"CAP_KILL\"],"
             "\"ambient\":[\"CAP_KILL\"]}") },
  { PROCESS ("\"rlimits\":[{\"type\":\"RLIMIT_NOFILE\",\"soft\":1,\"hard\":1},"
             "{\"type\":\"RLIMIT_CORE\",\"soft\":0,\"hard\":18446744073709551615}]") },
  { PROCESS ("\"noNewPrivileges\":true,\"oomScoreAdj\":-998,\"apparmorProfile\":\"x\","
             "\"selinuxLabel\":\"a:b:c:d\"") },
  { MOUNT ("\"destination\":\"/x\",\"type\":\"bind\",\"source\":\"y\",\"options\":[\"rbind\","
           "\"rro\",\"rprivate\",\"sync\"]") },
  { MOUNT ("\"destination\":\"/x\",\"type\":\"none\",\"source\":\"/y\",\"options\":[\"bind\"]") },
  { MOUNT ("\"destination\":\"/x\",\"type\":\"tmpfs\",\"source\":\"tmpfs\",\"options\":[\"nosuid\","
           "\"tmpcopyup\",\"mode=755\",\"size=64k\",\"lazytime\"]") },
  { MOUNT ("\"destination\":\"/sys/fs/cgroup\",\"type\":\"cgroup2\",\"uidMappings\":[]") },
  { NAMESPACES ("{\"type\":\"mount\"},{\"type\":\"uts\"},{\"type\":\"pid\"},{\"type\":\"ipc\"},"
                "{\"type\":\"cgroup\"},{\"type\":\"network\",\"path\":\"/run/netns/x\"}"),
    EXTRA ("\"hostname\":\"a\",\"domainname\":\"b\"") },
  { EXTRA ("\"hostname\":\"\",\"annotations\":{\"a\":\"\"}") },
  { EXTRA ("\"hooks\":{\"prestart\":[{\"path\":\"/x\",\"args\":[\"x\"],\"env\":[\"A=b\"],"
           "\"timeout\":1}],\"createRuntime\":[],\"poststop\":[{\"path\":\"/y\"}]}") },
  { LINUX ("\"uidMappings\":[],\"timeOffsets\":{},\"netDevices\":{},\"mountLabel\":\"\"") },
  { LINUX ("\"devices\":[{\"path\":\"/dev/fuse\",\"type\":\"c\",\"major\":10,\"minor\":229,"
           "\"fileMode\":8630,\"uid\":0,\"gid\":0},{\"path\":\"/p\",\"type\":\"p\"}]") },
  { LINUX ("\"maskedPaths\":[\"/proc/kcore\"],\"readonlyPaths\":[\"/proc/sys\"]") },
  { LINUX ("\"cgroupsPath\":\"system.slice:docker:abc\"") },
  { LINUX ("\"cgroupsPath\":\"/docker/a..b\",\"rootfsPropagation\":\"rslave\"") },
  { SYSCTL (",{\"type\":\"network\"}",
            "\"net.ipv4.ping_group_range\":\"0 0\",\"net/ipv4/conf/eth0.1/x\":\"1\"") },
  { SYSCTL (",{\"type\":\"ipc\"}", "\"kernel.sem\":\"1\",\"fs/mqueue/msg_max\":\"1\"") },
  { SYSCTL (",{\"type\":\"uts\"}", "\"kernel.domainname\":\"x\"") },
  { RESOURCES ("\"memory\":{\"limit\":-1,\"swap\":-1,\"swappiness\":100,\"kernel\":-1},"
               "\"cpu\":{\"quota\":-1,\"cpus\":\"0-3,7\",\"mems\":\"0\",\"idle\":1,\"shares\":2},"
               "\"pids\":{\"limit\":-1},\"blockIO\":{\"weight\":0}") },
  { RESOURCES ("\"memory\":{\"limit\":1,\"swap\":2},\"cpu\":{\"quota\":6,\"burst\":6,"
               "\"cpus\":\"\"},\"pids\":{\"limit\":0},\"blockIO\":{\"weight\":1000}") },
  { RESOURCES ("\"devices\":[{\"allow\":false,\"access\":\"rwm\"},{\"allow\":true,\"type\":\"c\","
               "\"major\":42,\"minor\":-1,\"access\":\"rmw\"}],\"hugepageLimits\":"
               "[{\"pageSize\":\"64KB\",\"limit\":0}],\"unified\":{\"memory.high\":\"max\"}") },
  { SECCOMP ("\"defaultErrnoRet\":38,\"architectures\":[\"SCMP_ARCH_X86_64\"],\"flags\":"
             "[\"SECCOMP_FILTER_FLAG_LOG\"],\"syscalls\":[{\"names\":[\"read\",\"no_such_call\"],"
             "\"action\":\"SCMP_ACT_ALLOW\",\"args\":[{\"index\":5,\"value\":1,\"valueTwo\":2,"
             "\"op\":\"SCMP_CMP_MASKED_EQ\"}]}]") },
};

static void test_accepted (void **state)
{
  (void)state;
  for (size_t i = 0; i < ARRAY_SIZE (accepted); i++)
    {
      cleanup_arena struct arena *arena = arena_new ();
      struct findings f = validate (arena, &accepted[i]);

      if (f.len > 0)
        fail_msg ("%s: %s", build (arena, &accepted[i]), f.items[0].message);
    }
}

/* All at once, and no value of the environment among them.  */
static void test_all_findings_are_shown (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  const struct parts bad = { .version = "\"2.0.0\"",
                             .process = "{\"env\":[\"secret-value\"],\"cwd\":\"x\"}",
                             .linux_part = "{}" };
  struct findings f = validate (arena, &bad);

  (void)state;
  assert_int_equal (f.len, 5);
  for (size_t i = 0; i < f.len; i++)
    assert_null (strstr (f.items[i].message, "secret-value"));
}

/* A configuration without anything in it, as a fuzzer makes it.  */
static void test_empty_objects (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  struct findings f = { .arena = arena };
  struct oci_config config = { 0 };
  struct oci_process process = { 0 };
  struct oci_mount mount = { 0 };

  (void)state;
  spec_validate (&config, &f);
  assert_true (findings_reject (&f));
  config.process = &process;
  config.has_mounts = true;
  config.mounts = &mount;
  config.mounts_len = 1;
  spec_validate (&config, &f);
  assert_false (f.failed);
}

static void test_container_id (void **state)
{
  static const char *const fine[] = { "a", "_x", "0", "a.b+c-d_e", NULL };
  static const char *const wrong[] = { "",    ".",   "..",  "-a",       "+a",
                                       "a/b", "a b", "a\n", "\xc3\xa4", NULL };
  char id[130];
  struct error err;

  (void)state;
  for (size_t i = 0; fine[i] != NULL; i++)
    assert_int_equal (container_id_check (fine[i], &err), 0);
  for (size_t i = 0; wrong[i] != NULL; i++)
    assert_int_equal (container_id_check (wrong[i], &err), -EINVAL);
  assert_int_equal (container_id_check (NULL, &err), -EINVAL);
  memset (id, 'a', sizeof id);
  id[128] = '\0';
  assert_int_equal (container_id_check (id, &err), 0);
  id[128] = 'a';
  id[129] = '\0';
  assert_int_equal (container_id_check (id, &err), -EINVAL);
}

int main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_refused),
    cmocka_unit_test (test_accepted),
    cmocka_unit_test (test_all_findings_are_shown),
    cmocka_unit_test (test_empty_objects),
    cmocka_unit_test (test_container_id),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
