/* SPDX-License-Identifier: Apache-2.0 */
/* spec: a config.json to begin with, one that builtin:default admits as it is.  What the policy
   would tighten anyway is written out, so that a reader sees what will hold; but for the seccomp
   profile, which is built in.  */
#include <errno.h>
#include <unistd.h>

#include "base/str.h"
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
    "for an ordinary user, who maps himself" },
  { NULL, 0, OPTION_FLAG, 0, NULL, NULL },
};

/* clang-format off */
static const char first_part[] =
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
      "      \"mode=0620\"";

/* What the group of terminals, the cgroup mount and the limits are is root's business.  */
static const char root_group[] = ", \"gid=5\"";

static const char second_part[] =
      "]\n"
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
      "    },\n";

static const char root_cgroup[] =
      "    {\n"
      "      \"destination\": \"/sys/fs/cgroup\", \"type\": \"cgroup\", \"source\": \"cgroup\",\n"
      "      \"options\": [\"nosuid\", \"noexec\", \"nodev\", \"relatime\", \"ro\"]\n"
      "    },\n";

static const char third_part[] =
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
      "      { \"type\": \"cgroup\" }";

static const char user_maps[] =
      ",\n"
      "      { \"type\": \"user\" }\n"
      "    ],\n"
      "    \"uidMappings\": [{ \"containerID\": 1000, \"hostID\": %u, \"size\": 1 }],\n"
      "    \"gidMappings\": [{ \"containerID\": 1000, \"hostID\": %u, \"size\": 1 }],\n";

static const char root_limits[] =
      "\n"
      "    ],\n"
      "    \"resources\": {\n"
      "      \"devices\": [\n"
      "        { \"allow\": false, \"access\": \"rwm\" }\n"
      "      ],\n"
      "      \"memory\": { \"limit\": 2147483648, \"swap\": 2147483648 },\n"
      "      \"cpu\": { \"quota\": 200000, \"period\": 100000 },\n"
      "      \"pids\": { \"limit\": 512 }\n"
      "    },\n";

static const char last_part[] =
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

/* An ordinary user is himself in the container, under another number.  His limits are those of a
   delegated cgroup, if he has one: what is written out would have to be enforced.  */
static void write_rootless (struct strbuf *text)
{
  strbuf_add (text, first_part);
  strbuf_add (text, second_part);
  strbuf_add (text, third_part);
  strbuf_printf (text, user_maps, (unsigned)getuid (), (unsigned)getgid ());
  strbuf_add (text, last_part);
}

static void write_root (struct strbuf *text)
{
  strbuf_add (text, first_part);
  strbuf_add (text, root_group);
  strbuf_add (text, second_part);
  strbuf_add (text, root_cgroup);
  strbuf_add (text, third_part);
  strbuf_add (text, root_limits);
  strbuf_add (text, last_part);
}

static int run_spec (const struct invocation *in, struct error *err)
{
  const struct spec_options *o = in->values;
  cleanup_strbuf struct strbuf text = { 0 };

  if (o->rootless)
    write_rootless (&text);
  else
    write_root (&text);
  if (text.failed)
    return error_set (err, -ENOMEM, "out of memory for the configuration");
  return document_create (o->bundle, "config.json", text.data, err);
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
