/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the grants of a policy file: a grant that can't mean what its author thinks is refused.
   Pure code.  */
#include <stdio.h>
#include <string.h>

#include "policy/internal.h"
#include "spec/names.h"

enum
{
  SOURCE = 1,
  MODE = 2,
  PROTECT = 4,
  NAME = 8,
  PATH = 16,
  ACCESS = 32,
  TO = 64,
  SHA256 = 128,
  UID = 256,
  OF = 512,
  SCAN = 1024
};

/* What each kind needs and may have, beside reason and expires.  */
static const struct
{
  const char *kind;
  unsigned required, optional;
  bool built;
} kinds[] = {
  { "mount", SOURCE | MODE, SCAN | PROTECT, true },
  { "socket", SOURCE, 0, true },
  { "capability", NAME, 0, true },
  { "syscall", NAME, 0, true },
  { "device", PATH | ACCESS, 0, true },
  { "hook", PATH, SHA256, true },
  { "user", UID, 0, true },
  { "sysctl", NAME, 0, true },
  { "namespace", NAME | OF, 0, true },
  { "annotation", NAME, 0, true },
  { "egress", 0, ~0U, false },
  { "checkpoint", 0, ~0U, false },
};

/* Groups of the baseline filter that a grant may open.  Those that hand out the kernel itself (bpf,
   kexec, module loading, open_by_handle_at) are not among them.  */
static const char *const syscall_groups[] = { "io_uring",     "keyctl",      "perf_event_open",
                                              "ptrace_other", "userfaultfd", "userns" };

struct context
{
  const struct policy_text *text;
  struct problems *problems;
  size_t index;
};

static void bad (const struct context *c, const char *member, const char *what)
{
  char pointer[64];

  snprintf (pointer, sizeof pointer, "/grants/%zu%s", c->index, member);
  policy_problem (c->text, c->problems, pointer, "%s", what);
}

/* ---- single values ---- */

static const char *source_problem (const char *source)
{
  const char *any = strstr (source, "**");

  if (source[0] != '/')
    return "must be an absolute path";
  if (strstr (source, "//") != NULL || strstr (source, "/../") != NULL
      || strstr (source, "/./") != NULL || str_has_suffix (source, "/..")
      || str_has_suffix (source, "/."))
    return "must be a canonical path: without //, . and ..";
  if (source[1] == '\0' || str_has_suffix (source, "/"))
    return source[1] == '\0' ? "can't be the whole file system" : "must not end in a slash";
  if (any != NULL && (any[2] != '\0' || any[-1] != '/'))
    return "has ** elsewhere than as its last component";
  return NULL;
}

static const char *mode_problem (const char *mode)
{
  return str_equal (mode, "ro") || str_equal (mode, "rw") ? NULL : "must be \"ro\" or \"rw\"";
}

static const char *access_problem (const char *access)
{
  return *access != '\0' && strspn (access, "rwm") == strlen (access) ? NULL
                                                                      : "must be made of r, w, m";
}

static const char *sha256_problem (const char *digest)
{
  return strlen (digest) == 64 && strspn (digest, "0123456789abcdef") == 64
             ? NULL
             : "must be 64 lower-case hexadecimal digits";
}

static const char *of_problem (const char *of)
{
  return str_equal (of, "host") || (str_has_prefix (of, "container:") && strlen (of) > 10)
             ? NULL
             : "must be \"host\" or \"container:ID\"";
}

static const char *path_problem (const char *path)
{
  return path[0] == '/' ? NULL : "must be an absolute path";
}

static const char *name_problem (const char *kind, const char *name)
{
  if (str_equal (kind, "capability"))
    return capability_number (name) >= 0 ? NULL : "is not a capability (CAP_...)";
  if (str_equal (kind, "namespace"))
    return namespace_flag (name) != 0 ? NULL : "is not a namespace type";
  if (!str_equal (kind, "syscall"))
    return *name != '\0' ? NULL : "is empty";
  for (size_t i = 0; i < ARRAY_SIZE (syscall_groups); i++)
    if (str_equal (name, syscall_groups[i]))
      return NULL;
  return "is not a group that can be granted (userns, io_uring, perf_event_open, keyctl, "
         "ptrace_other, userfaultfd)";
}

static bool is_digits (const char *s, size_t len) { return strspn (s, "0123456789") >= len; }

static const char *date_problem (const char *date)
{
  uint64_t month = 0, day = 0;
  char part[3] = { 0 };

  if (strlen (date) != 10 || date[4] != '-' || date[7] != '-' || !is_digits (date, 4)
      || !is_digits (date + 5, 2) || !is_digits (date + 8, 2))
    return "must be a date, YYYY-MM-DD";
  memcpy (part, date + 5, 2);
  (void)str_to_u64 (part, 0, 99, &month);
  memcpy (part, date + 8, 2);
  (void)str_to_u64 (part, 0, 99, &day);
  return month >= 1 && month <= 12 && day >= 1 && day <= 31 ? NULL : "is not a date";
}

/* ---- one grant ---- */

static unsigned members_of (const struct policy_grant *g)
{
  return (g->source != NULL ? SOURCE : 0) | (g->mode != NULL ? MODE : 0)
         | (g->has_protect || g->protect_missing != NULL ? PROTECT : 0)
         | (g->name != NULL ? NAME : 0) | (g->path != NULL ? PATH : 0)
         | (g->access != NULL ? ACCESS : 0) | (g->to != NULL || g->has_ports ? TO : 0)
         | (g->sha256 != NULL ? SHA256 : 0) | (g->has_uid ? UID : 0) | (g->of != NULL ? OF : 0)
         | (g->has_scan ? SCAN : 0);
}

static const struct
{
  unsigned bit;
  const char *member;
} member_names[] = {
  { SOURCE, "/source" }, { MODE, "/mode" }, { NAME, "/name" },       { PATH, "/path" },
  { ACCESS, "/access" }, { TO, "/to" },     { SHA256, "/sha256" },   { UID, "/uid" },
  { OF, "/of" },         { SCAN, "/scan" }, { PROTECT, "/protect" },
};

static void check_members (const struct context *c, const struct policy_grant *g, size_t kind)
{
  unsigned present = members_of (g);

  for (size_t i = 0; i < ARRAY_SIZE (member_names); i++)
    {
      unsigned bit = member_names[i].bit;

      if ((kinds[kind].required & bit) != 0 && (present & bit) == 0)
        bad (c, member_names[i].member, "is missing");
      if (((kinds[kind].required | kinds[kind].optional) & bit) == 0 && (present & bit) != 0)
        bad (c, member_names[i].member, "means nothing in a grant of this kind");
    }
}

static void check_value (const struct context *c, const char *member, const char *value,
                         const char *(*problem) (const char *))
{
  const char *what = value == NULL ? NULL : problem (value);

  if (what != NULL)
    bad (c, member, what);
}

static const char *protect_problem (const char *name)
{
  return name[0] == '\0' || name[0] == '/' || str_has_suffix (name, "/")
                 || strstr (name, "//") != NULL || strpbrk (name, "*") != NULL
                 || strcmp (name, ".") == 0 || str_has_prefix (name, "./")
                 || strstr (name, "/./") != NULL || str_has_suffix (name, "/.")
                 || strcmp (name, "..") == 0 || str_has_prefix (name, "../")
                 || strstr (name, "/../") != NULL || str_has_suffix (name, "/..")
             ? "must be a path below the source: relative, canonical, without *"
             : NULL;
}

static const char *protect_missing_problem (const char *value)
{
  return str_equal (value, "reject") || str_equal (value, "warn") ? NULL : "must be reject or warn";
}

static void check_protect (const struct context *c, const struct policy_grant *g)
{
  char member[32];

  check_value (c, "/protect_missing", g->protect_missing, protect_missing_problem);
  if (g->has_protect && str_equal (g->mode, "ro"))
    bad (c, "/protect", "means nothing in a read-only grant");
  if (g->has_protect && g->source != NULL && str_has_suffix (g->source, "/**"))
    bad (c, "/protect", "needs a source that names the directory it is below: without **");
  if (g->protect_missing != NULL && !g->has_protect)
    bad (c, "/protect_missing", "means nothing without protect");
  for (size_t i = 0; i < g->protect_len; i++)
    {
      snprintf (member, sizeof member, "/protect/%zu", i);
      check_value (c, member, g->protect[i], protect_problem);
    }
}

static void check_values (const struct context *c, const struct policy_grant *g)
{
  check_protect (c, g);
  check_value (c, "/source", g->source, source_problem);
  check_value (c, "/mode", g->mode, mode_problem);
  check_value (c, "/access", g->access, access_problem);
  check_value (c, "/sha256", g->sha256, sha256_problem);
  check_value (c, "/of", g->of, of_problem);
  check_value (c, "/path", g->path, path_problem);
  check_value (c, "/expires", g->expires, date_problem);
  if (g->name != NULL && name_problem (g->kind, g->name) != NULL)
    bad (c, "/name", name_problem (g->kind, g->name));
  if (g->reason == NULL || *g->reason == '\0')
    bad (c, "/reason", "is missing: who grants says why");
}

/* A grant that the never list takes back would only look like one.  */
static void check_reach (const struct context *c, const struct policy *policy,
                         const struct policy_grant *g)
{
  struct never_hit hit;
  char pointer[64];

  if (g->source == NULL || source_problem (g->source) != NULL || strchr (g->source, '*') != NULL
      || !never_find_text (policy, g->source, &hit))
    return;
  snprintf (pointer, sizeof pointer, "/grants/%zu/source", c->index);
  policy_problem (c->text, c->problems, pointer, "%s %s: %s, which no grant opens", hit.how,
                  hit.entry, hit.what);
}

void policy_check_grants (const struct policy *policy, const struct policy_text *text,
                          const struct policy_file *file, struct problems *problems)
{
  struct context c = { .text = text, .problems = problems };

  for (; c.index < file->grants_len; c.index++)
    {
      const struct policy_grant *g = &file->grants[c.index];
      size_t kind = 0;

      while (kind < ARRAY_SIZE (kinds) && !str_equal (kinds[kind].kind, g->kind))
        kind++;
      if (g->kind == NULL || kind == ARRAY_SIZE (kinds))
        bad (&c, "/kind", g->kind == NULL ? "is missing" : "is not a kind of grant");
      else if (!kinds[kind].built)
        bad (&c, "/kind", "not supported by this build");
      else
        {
          check_members (&c, g, kind);
          check_values (&c, g);
          check_reach (&c, policy, g);
        }
    }
}
