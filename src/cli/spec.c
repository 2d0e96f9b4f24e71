/* SPDX-License-Identifier: Apache-2.0 */
/* spec: a config.json to begin with, one that builtin:default admits as it is.  What the policy
   would tighten anyway is written out, so that a reader sees what will hold; but for the seccomp
   profile, which is built in.  */
#include <errno.h>

#include "cli/command.h"
#include "spec/load.h"

struct spec_options
{
  const char *bundle;
  bool rootless;
};

static const struct option_row rows[] = {
  { "bundle", 'b', OPTION_STRING, offsetof (struct spec_options, bundle), "DIR",
    "where to write it (working directory)" },
  { "rootless", 0, OPTION_FLAG, offsetof (struct spec_options, rootless), NULL,
    "refused: not supported by this build" },
  { NULL, 0, OPTION_FLAG, 0, NULL, NULL },
};

/* clang-format off */
static const char first_config[] =
      "{\n"
      "  \"ociVersion\": \"1.2.0\",\n"
      "  \"process\": {\n"
      "    \"terminal\": false,\n"
      "    \"user\": { \"uid\": 1000, \"gid\": 1000, \"umask\": 18 },\n"
      "    \"args\": [\"sh\"],\n"
      "    \"env\": [\n"
      "      \"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\",\n"
      "      \"HOME=/tmp\"\n"
      "    ],\n"
      "    \"cwd\": \"/\",\n"
      "    \"capabilities\": {\n"
      "      \"bounding\": [], \"effective\": [], \"inheritable\": [], \"permitted\": [],\n"
      "      \"ambient\": []\n"
      "    },\n"
      "    \"rlimits\": [\n"
      "      { \"type\": \"RLIMIT_CORE\", \"soft\": 1, \"hard\": 1 },\n"
      "      { \"type\": \"RLIMIT_NOFILE\", \"soft\": 1024, \"hard\": 1024 }\n"
      "    ],\n"
      "    \"noNewPrivileges\": true\n"
      "  },\n"
      "  \"root\": { \"path\": \"rootfs\", \"readonly\": true },\n"
      "  \"hostname\": \"sandbox\",\n"
      "  \"mounts\": [\n"
      "    {\n"
      "      \"destination\": \"/proc\", \"type\": \"proc\", \"source\": \"proc\",\n"
      "      \"options\": [\"nosuid\", \"noexec\", \"nodev\"]\n"
      "    },\n"
      "    {\n"
      "      \"destination\": \"/dev\", \"type\": \"tmpfs\", \"source\": \"tmpfs\",\n"
      "      \"options\": [\"nosuid\", \"noexec\", \"strictatime\", \"mode=755\", \"size=64k\"]\n"
      "    },\n"
      "    {\n"
      "      \"destination\": \"/dev/pts\", \"type\": \"devpts\", \"source\": \"devpts\",\n"
      "      \"options\": [\"nosuid\", \"noexec\", \"newinstance\", \"ptmxmode=0666\",\n"
      "      \"mode=0620\", \"gid=5\"]\n"
      "    },\n"
      "    {\n"
      "      \"destination\": \"/dev/shm\", \"type\": \"tmpfs\", \"source\": \"shm\",\n"
      "      \"options\": [\"nosuid\", \"noexec\", \"nodev\", \"mode=1777\", \"size=64m\"]\n"
      "    },\n"
      "    {\n"
      "      \"destination\": \"/dev/mqueue\", \"type\": \"mqueue\", \"source\": \"mqueue\",\n"
      "      \"options\": [\"nosuid\", \"noexec\", \"nodev\"]\n"
      "    },\n"
      "    {\n"
      "      \"destination\": \"/sys\", \"type\": \"sysfs\", \"source\": \"sysfs\",\n"
      "      \"options\": [\"nosuid\", \"noexec\", \"nodev\", \"ro\"]\n"
      "    },\n"
      "    {\n"
      "      \"destination\": \"/sys/fs/cgroup\", \"type\": \"cgroup\", \"source\": \"cgroup\",\n"
      "      \"options\": [\"nosuid\", \"noexec\", \"nodev\", \"relatime\", \"ro\"]\n"
      "    },\n"
      "    {\n"
      "      \"destination\": \"/tmp\", \"type\": \"tmpfs\", \"source\": \"tmpfs\",\n"
      "      \"options\": [\"nosuid\", \"nodev\", \"mode=1777\", \"size=256m\"]\n"
      "    }\n"
      "  ],\n"
      "  \"linux\": {\n"
      "    \"namespaces\": [\n"
      "      { \"type\": \"pid\" },\n"
      "      { \"type\": \"network\" },\n"
      "      { \"type\": \"ipc\" },\n"
      "      { \"type\": \"uts\" },\n"
      "      { \"type\": \"mount\" },\n"
      "      { \"type\": \"cgroup\" }\n"
      "    ],\n"
      "    \"resources\": {\n"
      "      \"devices\": [\n"
      "        { \"allow\": false, \"access\": \"rwm\" }\n"
      "      ],\n"
      "      \"memory\": { \"limit\": 2147483648, \"swap\": 2147483648 },\n"
      "      \"cpu\": { \"quota\": 200000, \"period\": 100000 },\n"
      "      \"pids\": { \"limit\": 512 }\n"
      "    },\n"
      "    \"maskedPaths\": [\n"
      "      \"/proc/acpi\", \"/proc/asound\", \"/proc/kcore\", \"/proc/keys\",\n"
      "      \"/proc/latency_stats\",\n"
      "      \"/proc/timer_list\", \"/proc/timer_stats\", \"/proc/sched_debug\",\n"
      "      \"/proc/scsi\", \"/sys/firmware\"\n"
      "    ],\n"
      "    \"readonlyPaths\": [\n"
      "      \"/proc/bus\", \"/proc/fs\", \"/proc/irq\", \"/proc/sys\", \"/proc/sysrq-trigger\"\n"
      "    ]\n"
      "  }\n"
      "}\n";
/* clang-format on */

static int run_spec (const struct invocation *in, struct error *err)
{
  const struct spec_options *o = in->values;

  if (o->rootless)
    return error_set (err, -ENOTSUP, "spec: --rootless is not supported by this build");
  return document_create (o->bundle, "config.json", first_config, err);
}

const struct command command_spec = {
  .name = "spec",
  .arguments = "",
  .summary = "write a config.json to begin with",
  .options = rows,
  .values_size = sizeof (struct spec_options),
  .failure = 1,
  .run = run_spec,
};
