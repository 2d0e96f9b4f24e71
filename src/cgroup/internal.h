/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of cgroup/ share: the set of groups, the hierarchies of the host, the list of
   writes that resources turn into.  Nothing outside this directory and its unit tests includes it.
 */
#pragma once

#include "cgroup/cgroup.h"

/* ---- group.c */

struct cgroup
{
  enum cgroup_mode mode;
  struct cgroup_dir *dirs; /* strings and descriptors are owned */
  size_t len;
  int *doors; /* v1: the file that who writes to it enters by, or -1; for each of dirs */
};

/* An empty set with room for N groups, or NULL.  */
struct cgroup *group_new (size_t n);
/* Takes FD over, copies the strings.  */
int group_add (struct cgroup *cg, const char *controllers, const char *path, int fd, unsigned made,
               struct error *err);
/* The first group whose hierarchy has the v1 controller NAME ("memory", "name=systemd"), or NULL.
 */
const struct cgroup_dir *group_find_v1 (const struct cgroup *cg, const char *name);
/* The group in the cgroup2 hierarchy, or NULL.  */
const struct cgroup_dir *group_find_v2 (const struct cgroup *cg);

/* Takes away again what cgroup_create made of each group, as far as it is empty.  (create.c)  */
void group_undo (const struct cgroup *cg);
/* The same once the groups themselves are gone.  */
void group_undo_parents (const struct cgroup *cg);

/* Whether the list WORDS, separated by any of SEPARATORS, has WORD as a whole.  */
bool list_has (const char *words, const char *separators, const char *word);

/* ---- hierarchy.c */

/* How many descriptors are closed by one call.  */
#define HIERARCHIES_AT_ONCE 32

struct hierarchy
{
  char *controllers; /* as in /proc/self/cgroup */
  char *mountpoint;
  int fd; /* of the mount's root directory, -1 before hierarchies_open */
};

struct hierarchies
{
  enum cgroup_mode mode;
  struct hierarchy *list;
  size_t len;
};

/* Pure: matches the text of /proc/self/cgroup and of /proc/self/mountinfo.  A hierarchy that isn't
   mounted is left out; of several mounts one that shows the hierarchy's root wins.  */
int hierarchies_parse (const char *cgroup, const char *mountinfo, struct hierarchies *ret,
                       struct error *err);
/* The same for this host, each opened and verified to be a cgroup file system.  -ENOENT when there
   is none.  */
int hierarchies_find (struct hierarchies *ret, struct error *err);
void hierarchies_free (struct hierarchies *h);
#define cleanup_hierarchies __attribute__ ((cleanup (hierarchies_free)))

/* ---- plan.c: resources -> writes; pure */

enum controller
{
  CONTROLLER_CPU,
  CONTROLLER_CPUSET,
  CONTROLLER_MEMORY,
  CONTROLLER_PIDS,
  CONTROLLER_BLKIO,
  CONTROLLER_HUGETLB,
  CONTROLLER_NET_CLS,
  CONTROLLER_NET_PRIO,
  CONTROLLER_RDMA,
  CONTROLLER_UNIFIED, /* the cgroup2 directory, for whatever controller */
  CONTROLLER_COUNT
};

enum controller_version
{
  CONTROLLER_ABSENT,
  CONTROLLER_V1,
  CONTROLLER_V2
};

/* Where each controller is.  A hybrid host may have some here and some there.  */
struct cgroup_layout
{
  enum controller_version version[CONTROLLER_COUNT];
  char *v2_controllers; /* content of cgroup.controllers, or NULL without cgroup2; owned */
};

enum
{
  WRITE_DEFER = 1,       /* EINVAL may come from the order: try again after the others */
  WRITE_CHECK_USAGE = 2, /* memory.current must not be above the value */
  WRITE_KEEP_QUOTA = 4,  /* cpu.max: put the present quota in front */
  WRITE_NO_SWAP = 8,     /* a missing file is right when the host has no swap */
  WRITE_IF_PRESENT = 16  /* a missing file is right: the value is what holds without it */
};

struct cgroup_write
{
  enum controller controller;
  unsigned flags;
  char *field; /* "memory.limit": below linux.resources */
  char *file;
  char *value;
  char *other_file; /* tried when FILE is missing; or NULL */
  char *other_value;
};

struct cgroup_writes
{
  struct cgroup_write *list;
  size_t len;
  size_t size;
};
void cgroup_writes_free (struct cgroup_writes *w);
#define cleanup_writes __attribute__ ((cleanup (cgroup_writes_free)))

/* Converts RESOURCES to what has to be written on a host with LAYOUT, in order.  -EOPNOTSUPP names
   a field that the host's version has nothing for, -EINVAL one whose value makes no sense, -ENOENT
   one whose controller isn't there.  */
int cgroup_plan_writes (const struct cgroup_layout *layout, const struct oci_resources *resources,
                        struct cgroup_writes *ret, struct error *err);

/* What a planner of one resource gets.  */
struct planner
{
  const struct cgroup_layout *layout;
  struct cgroup_writes *writes;
};

/* Adds one write.  FIELD, FILE and VALUE are copied.  -ENOENT when no hierarchy has the controller.
 */
int plan_write (struct planner *p, enum controller controller, unsigned flags, const char *field,
                const char *file, const char *value, struct error *err);
/* Adds an alternative to the last write.  */
int plan_write_other (struct planner *p, const char *file, const char *value, struct error *err);
enum controller_version plan_version (const struct planner *p, enum controller controller);
int plan_unsupported (const char *field, const char *why, struct error *err);

enum number_kind
{
  NUMBER_LIMIT, /* int64_t; -1 is unlimited: "-1" on v1, "max" on v2 */
  NUMBER_I64,
  NUMBER_U64
};

enum
{
  NUMBER_ZERO_LEAVES = 1 /* 0 means: leave it as it is */
};

/* A member that becomes one write of its decimal value.  */
struct plan_number
{
  const char *field;
  const char *v1; /* file names; NULL: that version has nothing like it */
  const char *v2;
  size_t has;
  size_t value;
  enum number_kind kind;
  unsigned number_flags;
  unsigned write_flags;
};
int plan_numbers (struct planner *p, enum controller controller, const void *object,
                  const struct plan_number *table, size_t n, struct error *err);

#define PLAN_VALUE_MAX 128

/* One file each: memory.c, cpu.c, cpuset.c, …  */
int plan_memory (struct planner *p, const struct oci_resources *r, struct error *err);
int plan_cpu (struct planner *p, const struct oci_resources *r, struct error *err);
int plan_cpuset (struct planner *p, const struct oci_resources *r, struct error *err);
int plan_pids (struct planner *p, const struct oci_resources *r, struct error *err);
int plan_block_io (struct planner *p, const struct oci_resources *r, struct error *err);
int plan_hugetlb (struct planner *p, const struct oci_resources *r, struct error *err);
int plan_network (struct planner *p, const struct oci_resources *r, struct error *err);
int plan_rdma (struct planner *p, const struct oci_resources *r, struct error *err);
int plan_unified (struct planner *p, const struct oci_resources *r, struct error *err);

/* cpu.shares (2 to 262144, default 1024) to cpu.weight (1 to 10000, default 100), so that the three
   meet: log10 (weight) = (l * l + 125 * l) / 612 - 7 / 34 with l = log2 (shares), rounded up.  */
uint64_t cpu_weight_of_shares (uint64_t shares);

/* ---- layout.c */

extern const char *const controller_v1_names[CONTROLLER_COUNT];
extern const char *const controller_v2_names[CONTROLLER_COUNT];

/* Adds what the directory FD of the hierarchy with CONTROLLERS offers.  */
int layout_add (struct cgroup_layout *layout, const char *controllers, int fd, struct error *err);
int layout_of (const struct cgroup *cg, struct cgroup_layout *ret, struct error *err);
void layout_free (struct cgroup_layout *layout);
#define cleanup_layout __attribute__ ((cleanup (layout_free)))

/* Whether one of WRITES is for the cgroup2 controller NAME, or for a v1 hierarchy with CONTROLLERS.
 */
bool writes_need_v2 (const struct cgroup_layout *layout, const struct cgroup_writes *writes,
                     const char *name);
bool writes_need_v1 (const struct cgroup_layout *layout, const struct cgroup_writes *writes,
                     const char *controllers);

/* ---- walk.c */

/* Calls ENTER on the directory DIRFD and every group below it, LEAVE (with the parent's descriptor)
   behind each group below it; either may be NULL.  A group that vanishes meanwhile is left out.  */
struct walk_calls
{
  int (*enter) (int dirfd, void *data, struct error *err);
  int (*leave) (int parent, const char *name, void *data, struct error *err);
  void *data;
};
int walk_groups (int dirfd, const struct walk_calls *calls, struct error *err);

/* ---- wait.c */

/* Sleeps for *MS milliseconds, then doubles it up to 100.  */
void wait_and_double (unsigned *ms);
int64_t monotonic_ms (void);

/* ---- device_rules.c */

enum
{
  DEVICE_READ = 2, /* the bits of BPF_DEVCG_ACC_* */
  DEVICE_WRITE = 4,
  DEVICE_MKNOD = 1,
  DEVICE_ALL_ACCESS = 7
};
#define DEVICE_ANY (-1)
/* Also what the verifier takes: it follows at most 8192 jumps in a row, a rule has up to four.  */
#define DEVICE_RULES_MAX 1024

struct device_rule
{
  bool allow;
  char type;     /* 'a', 'b', 'c' */
  int32_t major; /* or DEVICE_ANY */
  int32_t minor;
  unsigned access;
};

/* *RET has N elements, malloc'ed.  */
int device_rules_read (const struct oci_device_cgroup *rules, size_t n, struct device_rule **ret,
                       struct error *err);
/* "c 1:3 rwm"; BUF as large as DEVICE_LINE_MAX.  */
#define DEVICE_LINE_MAX 64
const char *device_rule_line (const struct device_rule *rule, char buf[DEVICE_LINE_MAX]);

/* The v1 devices controller has a default and a list of exceptions, not an ordered list: this is
   what RULES come to, types 'b' and 'c' only.  -EOPNOTSUPP for a rule that takes a part out of an
   earlier wildcard, which the controller can't express.  */
struct device_exceptions
{
  bool default_allow;
  struct device_rule *list;
  size_t len;
};
int device_rules_flatten (const struct device_rule *rules, size_t n, struct device_exceptions *ret,
                          struct error *err);

/* ---- devices_v1.c, devices_bpf.c */

int devices_v1_apply (const struct cgroup_dir *dir, const struct device_rule *rules, size_t n,
                      struct error *err);

struct bpf_insn;
/* Assembles the program for RULES: each access bit is decided by the last rule that speaks of it,
   what no rule speaks of is denied.  *RET is malloc'ed.  */
int devices_bpf_assemble (const struct device_rule *rules, size_t n, struct bpf_insn **ret,
                          size_t *ret_len, struct error *err);
int devices_bpf_load (const struct bpf_insn *insns, size_t len, int *ret_fd, struct error *err);
int devices_bpf_apply (const struct cgroup_dir *dir, const struct device_rule *rules, size_t n,
                       struct error *err);
