/* SPDX-License-Identifier: Apache-2.0 */
/* What a container uses, in the shape that runc's events have: the members' names are an interface.
   A file that the host's version doesn't have is left out.  Runs in the command's process.  */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/number_list.h"
#include "base/str.h"
#include "cgroup/internal.h"

#define STAT_FILE_MAX  (256UL * 1024)
#define NANOSECS       1000000000ULL
#define NANOSECS_OF_US 1000ULL

/* Allocated, or NULL.  */
static char *read_stat (const struct cgroup_dir *dir, const char *name)
{
  cleanup_close int fd = dir == NULL ? -1 : openat (dir->fd, name, O_RDONLY | O_CLOEXEC);
  char *text = NULL;
  size_t len;

  if (fd < 0 || fd_read_all (fd, STAT_FILE_MAX, name, &text, &len, NULL) < 0)
    return NULL;
  return text;
}

/* A number, or "max", which is the largest.  */
static bool to_number (const char *text, uint64_t *ret)
{
  char digits[24];
  size_t len = strcspn (text, "\n ");

  if (strncmp (text, "max", 3) == 0)
    {
      *ret = UINT64_MAX;
      return true;
    }
  if (len >= sizeof digits)
    return false;
  memcpy (digits, text, len);
  digits[len] = '\0';
  return str_to_u64 (digits, 0, UINT64_MAX, ret) == 0;
}

static bool read_number (const struct cgroup_dir *dir, const char *name, uint64_t *ret)
{
  cleanup_free char *text = read_stat (dir, name);

  return text != NULL && to_number (text, ret);
}

/* The value behind KEY in a file of lines "KEY VALUE"; 0 if there is none.  */
static uint64_t value_of (const char *text, const char *key)
{
  size_t len = strlen (key);
  uint64_t value = 0;

  for (const char *line = text; line != NULL && *line != '\0';)
    {
      if (strncmp (line, key, len) == 0 && line[len] == ' ' && to_number (line + len + 1, &value))
        return value;
      line = strchr (line, '\n');
      line += line != NULL;
    }
  return 0;
}

/* "NAME":VALUE, with a comma behind what is not the first member of its object.  */
static void add_number (struct strbuf *out, const char *name, uint64_t value)
{
  const char *comma = out->len > 0 && out->data[out->len - 1] == '{' ? "" : ",";

  strbuf_printf (out, "%s\"%s\":%" PRIu64, comma, name, value);
}

static void begin (struct strbuf *out, const char *name, char bracket)
{
  const char *comma = out->len > 0 && out->data[out->len - 1] == '{' ? "" : ",";

  strbuf_printf (out, "%s\"%s\":%c", comma, name, bracket);
}

/* ---- cpu ---- */

static void add_list (struct strbuf *out, const char *name, const char *text)
{
  const char *comma = "";
  uint64_t value;

  begin (out, name, '[');
  for (const char *at = text; at != NULL && *at != '\0' && *at != '\n'; comma = ",")
    {
      if (!to_number (at, &value))
        break;
      strbuf_printf (out, "%s%" PRIu64, comma, value);
      at += strcspn (at, " \n");
      at += strspn (at, " ");
    }
  strbuf_add (out, "]");
}

static void cpu_v1 (const struct cgroup_dir *acct, struct strbuf *out)
{
  cleanup_free char *percpu = read_stat (acct, "cpuacct.usage_percpu");
  cleanup_free char *stat = read_stat (acct, "cpuacct.stat");
  uint64_t total = 0, tick = NANOSECS / (uint64_t)sysconf (_SC_CLK_TCK);

  read_number (acct, "cpuacct.usage", &total);
  add_number (out, "total", total);
  if (percpu != NULL)
    add_list (out, "percpu", percpu);
  add_number (out, "kernel", value_of (stat, "system") * tick);
  add_number (out, "user", value_of (stat, "user") * tick);
}

static void add_cpu (const struct cgroup *cg, struct strbuf *out)
{
  const struct cgroup_dir *v1 = group_find_v1 (cg, "cpu"), *acct = group_find_v1 (cg, "cpuacct");
  cleanup_free char *stat = read_stat (v1 != NULL ? v1 : group_find_v2 (cg), "cpu.stat");

  begin (out, "cpu", '{');
  begin (out, "usage", '{');
  if (acct != NULL)
    cpu_v1 (acct, out);
  else
    {
      add_number (out, "total", value_of (stat, "usage_usec") * NANOSECS_OF_US);
      add_number (out, "kernel", value_of (stat, "system_usec") * NANOSECS_OF_US);
      add_number (out, "user", value_of (stat, "user_usec") * NANOSECS_OF_US);
    }
  strbuf_add (out, "}");
  begin (out, "throttling", '{');
  add_number (out, "periods", value_of (stat, "nr_periods"));
  add_number (out, "throttledPeriods", value_of (stat, "nr_throttled"));
  add_number (out, "throttledTime",
              v1 != NULL ? value_of (stat, "throttled_time")
                         : value_of (stat, "throttled_usec") * NANOSECS_OF_US);
  strbuf_add (out, "}}");
}

/* ---- memory ---- */

struct memory_entry
{
  const char *name, *usage, *limit, *max, *failcnt;
};

static const struct memory_entry entries_v1[] = {
  { "usage", "memory.usage_in_bytes", "memory.limit_in_bytes", "memory.max_usage_in_bytes",
    "memory.failcnt" },
  { "swap", "memory.memsw.usage_in_bytes", "memory.memsw.limit_in_bytes",
    "memory.memsw.max_usage_in_bytes", "memory.memsw.failcnt" },
  { "kernel", "memory.kmem.usage_in_bytes", "memory.kmem.limit_in_bytes",
    "memory.kmem.max_usage_in_bytes", "memory.kmem.failcnt" },
  { "kernelTCP", "memory.kmem.tcp.usage_in_bytes", "memory.kmem.tcp.limit_in_bytes",
    "memory.kmem.tcp.max_usage_in_bytes", "memory.kmem.tcp.failcnt" },
};
static const struct memory_entry entries_v2[] = {
  { "usage", "memory.current", "memory.max", "memory.peak", NULL },
  { "swap", "memory.swap.current", "memory.swap.max", "memory.swap.peak", NULL },
};

static void add_entry (const struct cgroup_dir *dir, const struct memory_entry *e,
                       struct strbuf *out)
{
  uint64_t usage, value;

  if (!read_number (dir, e->usage, &usage))
    return;
  begin (out, e->name, '{');
  if (read_number (dir, e->limit, &value))
    add_number (out, "limit", value);
  add_number (out, "usage", usage);
  if (read_number (dir, e->max, &value))
    add_number (out, "max", value);
  if (e->failcnt != NULL && read_number (dir, e->failcnt, &value))
    add_number (out, "failcnt", value);
  strbuf_add (out, "}");
}

/* memory.stat as it is.  */
static void add_raw (char *stat, struct strbuf *out)
{
  uint64_t value;
  char *line;

  begin (out, "raw", '{');
  for (char *at = stat; (line = strsep (&at, "\n")) != NULL;)
    {
      char *blank = strchr (line, ' ');

      if (blank == NULL || !to_number (blank + 1, &value))
        continue;
      *blank = '\0';
      add_number (out, line, value);
    }
  strbuf_add (out, "}");
}

static void add_memory (const struct cgroup *cg, struct strbuf *out)
{
  const struct cgroup_dir *v1 = group_find_v1 (cg, "memory");
  const struct cgroup_dir *dir = v1 != NULL ? v1 : group_find_v2 (cg);
  const struct memory_entry *entries = v1 != NULL ? entries_v1 : entries_v2;
  size_t n = v1 != NULL ? ARRAY_SIZE (entries_v1) : ARRAY_SIZE (entries_v2);
  cleanup_free char *stat = read_stat (dir, "memory.stat");

  begin (out, "memory", '{');
  if (stat != NULL)
    add_number (out, "cache", value_of (stat, v1 != NULL ? "cache" : "file"));
  for (size_t i = 0; i < n; i++)
    add_entry (dir, &entries[i], out);
  if (stat != NULL)
    add_raw (stat, out);
  strbuf_add (out, "}");
}

/* ---- pids, block I/O ---- */

static void add_pids (const struct cgroup *cg, struct strbuf *out)
{
  const struct cgroup_dir *v1 = group_find_v1 (cg, "pids");
  const struct cgroup_dir *dir = v1 != NULL ? v1 : group_find_v2 (cg);
  uint64_t current = 0, max = 0;

  begin (out, "pids", '{');
  if (read_number (dir, "pids.current", &current))
    add_number (out, "current", current);
  /* runc has no word for "no limit" but 0.  */
  if (read_number (dir, "pids.max", &max) && max != UINT64_MAX)
    add_number (out, "limit", max);
  strbuf_add (out, "}");
}

static void add_io (struct strbuf *out, unsigned major, unsigned minor, const char *op,
                    uint64_t value)
{
  const char *comma = out->data[out->len - 1] == '[' ? "" : ",";

  strbuf_printf (out, "%s{\"major\":%u,\"minor\":%u,\"op\":\"%s\",\"value\":%" PRIu64 "}", comma,
                 major, minor, op, value);
}

/* v1: "8:0 Read 4096"; the "Total" line at the end has no device.  */
static void io_v1 (const struct cgroup_dir *dir, const char *file, struct strbuf *out)
{
  cleanup_free char *text = read_stat (dir, file);
  char *line;

  for (char *at = text; (line = strsep (&at, "\n")) != NULL;)
    {
      unsigned major, minor;
      uint64_t value;
      char op[16];

      if (sscanf (line, "%u:%u %15[A-Za-z] %" SCNu64, &major, &minor, op, &value) == 4)
        add_io (out, major, minor, op, value);
    }
}

/* v2: "8:0 rbytes=4096 wbytes=0 rios=1 wios=0 …".  */
static void io_v2 (const struct cgroup_dir *dir, const char *read_key, const char *write_key,
                   struct strbuf *out)
{
  cleanup_free char *text = read_stat (dir, "io.stat");
  char *line, *word;

  for (char *at = text; (line = strsep (&at, "\n")) != NULL;)
    {
      unsigned major, minor;
      uint64_t value;

      if (sscanf (line, "%u:%u", &major, &minor) != 2)
        continue;
      while ((word = strsep (&line, " ")) != NULL)
        if (str_has_prefix (word, read_key) && to_number (word + strlen (read_key), &value))
          add_io (out, major, minor, "Read", value);
        else if (str_has_prefix (word, write_key) && to_number (word + strlen (write_key), &value))
          add_io (out, major, minor, "Write", value);
    }
}

static void add_block_io (const struct cgroup *cg, struct strbuf *out)
{
  const struct cgroup_dir *v1 = group_find_v1 (cg, "blkio");

  begin (out, "blkio", '{');
  begin (out, "ioServiceBytesRecursive", '[');
  if (v1 != NULL)
    io_v1 (v1, "blkio.throttle.io_service_bytes_recursive", out);
  else
    io_v2 (group_find_v2 (cg), "rbytes=", "wbytes=", out);
  strbuf_add (out, "]");
  begin (out, "ioServicedRecursive", '[');
  if (v1 != NULL)
    io_v1 (v1, "blkio.throttle.io_serviced_recursive", out);
  else
    io_v2 (group_find_v2 (cg), "rios=", "wios=", out);
  strbuf_add (out, "]}");
}

/* ---- cpuset, huge pages ---- */

#define CPUS_MAX 8192 /* NR_CPUS of the largest kernels */

/* "0-3,7" as [0,1,2,3,7].  */
static void add_numbers (const struct cgroup_dir *dir, const char *file, const char *name,
                         struct strbuf *out)
{
  unsigned long bits[CPUS_MAX / (8 * sizeof (unsigned long))];
  const size_t width = 8 * sizeof *bits;
  cleanup_free char *text = read_stat (dir, file);
  const char *comma = "";

  if (text == NULL)
    return;
  text[strcspn (text, "\n")] = '\0';
  begin (out, name, '[');
  if (number_list_parse (text, bits, ARRAY_SIZE (bits)) == 0)
    for (size_t i = 0; i < CPUS_MAX; i++)
      if ((bits[i / width] & (1UL << (i % width))) != 0)
        {
          strbuf_printf (out, "%s%zu", comma, i);
          comma = ",";
        }
  strbuf_add (out, "]");
}

static void add_cpuset (const struct cgroup *cg, struct strbuf *out)
{
  static const struct
  {
    const char *name, *file;
  } numbers[] = {
    { "cpu_exclusive", "cpuset.cpu_exclusive" },
    { "mem_hardwall", "cpuset.mem_hardwall" },
    { "mem_exclusive", "cpuset.mem_exclusive" },
    { "memory_migrate", "cpuset.memory_migrate" },
    { "memory_spread_page", "cpuset.memory_spread_page" },
    { "memory_spread_slab", "cpuset.memory_spread_slab" },
    { "memory_pressure", "cpuset.memory_pressure" },
    { "sched_load_balance", "cpuset.sched_load_balance" },
  };
  const struct cgroup_dir *v1 = group_find_v1 (cg, "cpuset");
  uint64_t value;

  begin (out, "cpuset", '{');
  if (v1 != NULL)
    {
      add_numbers (v1, "cpuset.cpus", "cpus", out);
      add_numbers (v1, "cpuset.mems", "mems", out);
    }
  else
    {
      add_numbers (group_find_v2 (cg), "cpuset.cpus.effective", "cpus", out);
      add_numbers (group_find_v2 (cg), "cpuset.mems.effective", "mems", out);
    }
  for (size_t i = 0; v1 != NULL && i < ARRAY_SIZE (numbers); i++)
    if (read_number (v1, numbers[i].file, &value))
      add_number (out, numbers[i].name, value);
  strbuf_add (out, "}");
}

/* One size of page, whose use is in the file "hugetlb.SIZE" and USAGE.  */
static void add_page_size (const struct cgroup_dir *dir, const char *size, size_t len, bool v2,
                           struct strbuf *out)
{
  const struct
  {
    const char *name, *v1, *v2;
  } numbers[] = {
    { "usage", "usage_in_bytes", "current" },
    { "max", "max_usage_in_bytes", NULL },
    { "failcnt", "failcnt", NULL },
  };
  char name[32], file[80];
  uint64_t value;

  snprintf (name, sizeof name, "%.*s", (int)len, size);
  begin (out, name, '{');
  for (size_t i = 0; i < ARRAY_SIZE (numbers); i++)
    {
      const char *last = v2 ? numbers[i].v2 : numbers[i].v1;

      if (last == NULL)
        continue;
      snprintf (file, sizeof file, "hugetlb.%s.%s", name, last);
      if (read_number (dir, file, &value))
        add_number (out, numbers[i].name, value);
    }
  strbuf_add (out, "}");
}

static void add_huge_pages (const struct cgroup *cg, struct strbuf *out)
{
  static const char prefix[] = "hugetlb.";
  const struct cgroup_dir *v1 = group_find_v1 (cg, "hugetlb"), *v2 = group_find_v2 (cg);
  const struct cgroup_dir *dir = v1 != NULL ? v1 : v2;
  const char *usage = v1 != NULL ? ".usage_in_bytes" : ".current";
  int fd = dir == NULL ? -1 : openat (dir->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *files = fd < 0 ? NULL : fdopendir (fd);
  const struct dirent *d;

  begin (out, "hugetlb", '{');
  while (files != NULL && (d = readdir (files)) != NULL)
    {
      const char *size = d->d_name + strlen (prefix);
      size_t len;

      if (!str_has_prefix (d->d_name, prefix))
        continue;
      len = strcspn (size, ".");
      if (len < 16 && str_equal (size + len, usage))
        add_page_size (dir, size, len, v1 == NULL, out);
    }
  strbuf_add (out, "}");
  if (files != NULL)
    closedir (files);
  else if (fd >= 0)
    close (fd);
}

void cgroup_stats (const struct cgroup *cg, struct strbuf *out)
{
  strbuf_add (out, "{");
  add_cpu (cg, out);
  add_memory (cg, out);
  add_pids (cg, out);
  add_block_io (cg, out);
  add_cpuset (cg, out);
  add_huge_pages (cg, out);
  strbuf_add (out, "}");
}
