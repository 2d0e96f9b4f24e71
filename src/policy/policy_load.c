/* SPDX-License-Identifier: Apache-2.0 */
/* Where the policy comes from, and whether that place can be trusted.  The one file of policy/ that
   makes system calls: it opens the policy file, once, by a walk over descriptors.  Runs in the
   parent, needs no privilege.  */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/utc.h"
#include "policy/internal.h"

#define POLICY_MAX  (1024 * 1024)
#define OVERFLOW_ID 65534
#define POLICY_DIR  "/etc/agentrun"

/* ---- a file that only root can have written ---- */

/* In a user namespace, the host's root shows as the overflow id, and so does every other unmapped
   user; what tells them apart is that the caller can't write it, which the modes say.  */
static bool in_initial_user_namespace (void)
{
  cleanup_close int fd = open ("/proc/self/uid_map", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  char text[64] = { 0 };
  unsigned first, host, count;

  if (fd < 0 || read (fd, text, sizeof text - 1) <= 0)
    return true;
  return sscanf (text, "%u %u %u", &first, &host, &count) == 3 && first == 0 && host == 0
         && count == UINT32_MAX;
}

/* OWNER: who may own it beside root.  */
static int check_owner (int fd, uid_t owner, const char *path, bool last, struct error *err)
{
  struct stat st;

  if (fstat (fd, &st) < 0)
    return error_errno (err, errno, "policy %s: fstat", path);
  if (last && !S_ISREG (st.st_mode))
    return error_set (err, -EINVAL, "policy %s: not a regular file", path);
  if (st.st_uid != 0 && st.st_uid != owner
      && !(st.st_uid == OVERFLOW_ID && !in_initial_user_namespace ()))
    return error_set (err, -EPERM, "policy %s: %s belongs to uid %u, not to root", path,
                      last ? "the file" : "a directory above it", st.st_uid);
  if ((st.st_mode & 0022) != 0)
    return error_set (err, -EPERM,
                      "policy %s: %s is writable by group or others (mode %04o); chmod go-w it",
                      path, last ? "the file" : "a directory above it", st.st_mode & 07777U);
  return 0;
}

/* One component below *DIR, which becomes the new *DIR.  */
static int step (int *dir, const char *name, uid_t owner, bool last, const char *path,
                 struct error *err)
{
  int flags = last ? O_RDONLY | O_NONBLOCK | O_NOCTTY : O_PATH | O_DIRECTORY;
  cleanup_close int next = openat (*dir, name, flags | O_NOFOLLOW | O_CLOEXEC);

  if (next < 0 && (errno == ELOOP || errno == ENOTDIR))
    return error_set (err, -errno, "policy %s: %s is a symbolic link or not a directory", path,
                      name);
  if (next < 0)
    return error_errno (err, errno, "policy %s: open %s", path, name);
  int r = check_owner (next, owner, path, last, err);
  if (r < 0)
    return r;
  close (*dir);
  *dir = steal_fd (&next);
  return 0;
}

/* PATH from the root of the file system on.  Allocated; NULL with errno set.  */
static char *absolute_path (const char *path)
{
  cleanup_free char *cwd = NULL;
  char *made = NULL;

  if (path[0] == '/')
    return strdup (path);
  cwd = getcwd (NULL, 0);
  if (cwd == NULL || asprintf (&made, "%s/%s", cwd, path) < 0)
    return NULL;
  return made;
}

/* No link is followed and nothing is looked up twice, so that what was checked is what is read.  */
static int open_trusted (const char *path, uid_t owner, int *ret, struct error *err)
{
  cleanup_free char *copy = absolute_path (path);
  cleanup_close int fd = open ("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  char *save = NULL, *name, *following;

  if (copy == NULL)
    return error_errno (err, errno, "policy %s: make the path absolute", path);
  if (fd < 0)
    return error_errno (err, errno, "policy %s: open /", path);
  name = strtok_r (copy, "/", &save);
  if (name == NULL)
    return error_set (err, -EINVAL, "policy %s: not a regular file", path);
  for (int r = check_owner (fd, owner, path, false, err); name != NULL; name = following)
    {
      following = strtok_r (NULL, "/", &save);
      if (r == 0 && str_equal (name, ".") && following != NULL)
        continue;
      if (r == 0 && str_equal (name, ".."))
        r = error_set (err, -EINVAL, "policy %s: the path must be without ..", path);
      if (r == 0)
        r = step (&fd, name, owner, following == NULL, path, err);
      if (r < 0)
        return r;
    }
  *ret = steal_fd (&fd);
  return 0;
}

/* ---- the policy ---- */

static struct policy *policy_new (const char *name)
{
  struct policy *policy = calloc (1, sizeof *policy);

  if (policy == NULL)
    return NULL;
  policy->arena = arena_new ();
  policy->name = policy->arena == NULL ? NULL : arena_strdup (policy->arena, name);
  if (policy->name == NULL)
    {
      policy_free (policy);
      return NULL;
    }
  utc_date (time (NULL), policy->today);
  return policy;
}

void policy_free (struct policy *policy)
{
  if (policy == NULL)
    return;
  arena_free (policy->arena);
  free (policy);
}

static void policy_freep (struct policy **policy) { policy_free (*policy); }
#define cleanup_policy __attribute__ ((cleanup (policy_freep)))

static int parse_into (struct policy *policy, const char *bytes, size_t len, struct error *err)
{
  struct problems problems = { .arena = policy->arena };
  int r = policy_parse (policy, policy->name, bytes, len, &problems);

  if (r == 0)
    r = policy_finish (policy);
  if (r == -EINVAL && problems.len > 0)
    return error_set (err, r, "policy %s%s", problems.lines[0],
                      problems.len > 1 ? " (agentrun policy validate shows more)" : "");
  if (r < 0)
    return error_errno (err, -r, "policy %s: read it", policy->name);
  return 0;
}

static int load_builtin (const char *name, struct policy **ret, struct error *err)
{
  cleanup_policy struct policy *policy = policy_new (name);
  int r;

  if (policy == NULL)
    return error_set (err, -ENOMEM, "policy %s: out of memory", name);
  if (builtin_settings (name, policy) < 0)
    return error_set (err, -ENOENT,
                      "policy %s: there is no such profile (builtin:default, builtin:strict, "
                      "builtin:permissive)",
                      name);
  r = parse_into (policy, NULL, 0, err);
  if (r < 0)
    return r;
  *ret = steal_ptr (&policy);
  return 0;
}

static int load_file (const char *path, struct policy **ret, struct error *err)
{
  cleanup_policy struct policy *policy = policy_new (path);
  cleanup_close int fd = -1;
  cleanup_free char *bytes = NULL;
  size_t len = 0;

  if (policy == NULL)
    return error_set (err, -ENOMEM, "policy %s: out of memory", path);
  policy->file = policy->name;
  int r = open_trusted (path, 0, &fd, err);
  if (r == 0)
    r = fd_read_all (fd, POLICY_MAX, path, &bytes, &len, err);
  if (r == 0)
    r = parse_into (policy, bytes, len, err);
  if (r < 0)
    return r;
  *ret = steal_ptr (&policy);
  return 0;
}

static int load_named (const char *name, struct policy **ret, struct error *err)
{
  if (str_has_prefix (name, "builtin:"))
    return load_builtin (name, ret, err);
  return load_file (name, ret, err);
}

/* Only a file that is not there at all means the default: one that can't be read is an error.  */
static int load_system (struct policy **ret, struct error *err)
{
  int r = load_file (POLICY_DIR "/policy.json", ret, err);

  if (r == -ENOENT)
    return load_builtin ("builtin:default", ret, err);
  return r;
}

/* ---- the user's own ---- */

/* $XDG_CONFIG_HOME/agentrun/policy.json, or below ~/.config; NULL without either.  Allocated.  */
static char *user_file (void)
{
  const char *config = getenv ("XDG_CONFIG_HOME"), *home = getenv ("HOME");
  char *path = NULL;
  int n = -1;

  if (config != NULL && config[0] == '/')
    n = asprintf (&path, "%s/agentrun/policy.json", config);
  else if (home != NULL && home[0] == '/')
    n = asprintf (&path, "%s/.config/agentrun/policy.json", home);
  return n < 0 ? NULL : path;
}

/* Rootless: what the user wants forbidden beside what the host does.  A file that is not there is
   none; anything else that is wrong with it is an error.  */
static int tighten_by_user (struct policy *policy, struct error *err)
{
  bool root = geteuid () == 0 && in_initial_user_namespace ();
  cleanup_free char *path = root ? NULL : user_file ();
  cleanup_free char *bytes = NULL;
  cleanup_close int fd = -1;
  struct problems problems = { .arena = policy->arena };
  size_t len = 0;

  if (path == NULL)
    return 0;
  int r = open_trusted (path, geteuid (), &fd, err);
  if (r == -ENOENT)
    return 0;
  if (r == 0)
    r = fd_read_all (fd, POLICY_MAX, path, &bytes, &len, err);
  if (r < 0)
    return r;
  r = policy_tighten (policy, path, bytes, len, &problems);
  if (r == 0)
    r = policy_finish (policy);
  if (r == -EINVAL && problems.len > 0)
    return error_set (err, r, "policy %s", problems.lines[0]);
  return r < 0 ? error_errno (err, -r, "policy %s: read it", path) : 0;
}

/* `locked` of the system's policy counts for an engine's --policy.  A system policy that is broken
   locks as well: nobody can say that it doesn't.  */
static int check_unlocked (const char *arg, struct error *err)
{
  cleanup_policy struct policy *policy = NULL;
  int r = load_system (&policy, err);

  if (r < 0)
    return r;
  if (policy->locked)
    return error_set (err, -EPERM, "--policy %s: refused, " POLICY_DIR "/policy.json is locked",
                      arg);
  return 0;
}

static int load_for_program (const char *program, struct policy **ret, struct error *err)
{
  char path[256];

  if (program == NULL || str_equal (program, "agentrun"))
    return load_system (ret, err);
  if (strchr (program, '/') != NULL
      || (size_t)snprintf (path, sizeof path, POLICY_DIR "/%s.json", program) >= sizeof path)
    return error_set (err, -EINVAL, "the program name %s can't name a policy", program);
  int r = load_file (path, ret, err);
  return r < 0 ? error_context (err, "a runtime called %s needs a policy of its own", program) : 0;
}

int policy_load (const char *arg, const char *program, bool engine_command, struct policy **ret,
                 struct error *err)
{
  cleanup_policy struct policy *policy = NULL;
  int r;

  if (arg != NULL)
    {
      r = engine_command ? check_unlocked (arg, err) : 0;
      return r < 0 ? r : load_named (arg, ret, err);
    }
  r = load_for_program (program, &policy, err);
  if (r == 0)
    r = tighten_by_user (policy, err);
  if (r == 0)
    *ret = steal_ptr (&policy);
  return r;
}

int policy_validate_file (const char *path, struct arena *arena, char ***ret, size_t *ret_len,
                          struct error *err)
{
  cleanup_policy struct policy *policy = policy_new (path);
  struct problems problems = { .arena = arena };
  cleanup_close int fd = -1;
  cleanup_free char *bytes = NULL;
  size_t len = 0;

  if (policy == NULL)
    return error_set (err, -ENOMEM, "policy %s: out of memory", path);
  int r = open_trusted (path, 0, &fd, err);
  if (r == 0)
    r = fd_read_all (fd, POLICY_MAX, path, &bytes, &len, err);
  if (r < 0)
    {
      problem_add (&problems, "%s", err->message);
      r = -EINVAL;
    }
  else
    r = policy_parse (policy, path, bytes, len, &problems);
  for (size_t i = 0; r == 0 && i < policy->effective->grants_len; i++)
    {
      const struct policy_grant *g = &policy->effective->grants[i];
      struct policy_text text = { path, bytes, len };
      char pointer[64];

      snprintf (pointer, sizeof pointer, "/grants/%zu/expires", i);
      if (g->expires != NULL && strcmp (policy->today, g->expires) > 0)
        policy_problem (&text, &problems, pointer, "expired on %s", g->expires);
    }
  if (problems.failed || r == -ENOMEM)
    return error_set (err, -ENOMEM, "policy %s: out of memory", path);
  *ret = problems.lines;
  *ret_len = problems.len;
  if (r == 0 && problems.len == 0)
    return 0;
  return error_set (err, -EINVAL, "policy %s: not valid", path);
}

/* ---- questions about it ---- */

const char *policy_name (const struct policy *policy) { return policy->name; }

const char *policy_digest (const struct policy *policy) { return policy->digest; }

bool policy_audit_mode (const struct policy *policy) { return policy->audit; }
