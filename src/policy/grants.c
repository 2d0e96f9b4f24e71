/* SPDX-License-Identifier: Apache-2.0 */
/* Which grant covers what was found.  Pure: grants expire against the day of the policy's load.  */
#include <string.h>

#include "policy/internal.h"

typedef bool grant_matches (const struct policy_grant *, const struct grant_query *);

static bool match_source (const struct policy_grant *grant, const struct grant_query *query)
{
  return grant->source != NULL && query->path != NULL
         && path_glob_covers (grant->source, query->path);
}

static bool match_path (const struct policy_grant *grant, const struct grant_query *query)
{
  return str_equal (grant->path, query->path);
}

static bool match_name (const struct policy_grant *grant, const struct grant_query *query)
{
  return str_equal (grant->name, query->name);
}

static bool match_uid (const struct policy_grant *grant, const struct grant_query *query)
{
  return grant->has_uid && grant->uid == query->uid;
}

static const struct
{
  const char *kind;
  grant_matches *matches;
} kinds[] = {
  { "mount", match_source }, { "socket", match_source },   { "device", match_path },
  { "hook", match_path },    { "capability", match_name }, { "syscall", match_name },
  { "sysctl", match_name },  { "namespace", match_name },  { "annotation", match_name },
  { "user", match_uid },
};

/* ISO dates compare as text.  A grant holds until the end of its last day.  */
static bool is_expired (const struct policy *policy, const struct policy_grant *grant)
{
  return grant->expires != NULL && strcmp (policy->today, grant->expires) > 0;
}

static bool grant_covers (const struct policy_grant *grant, const struct grant_query *query)
{
  if (!str_equal (grant->kind, query->kind))
    return false;
  for (size_t i = 0; i < ARRAY_SIZE (kinds); i++)
    if (str_equal (kinds[i].kind, query->kind))
      return kinds[i].matches (grant, query);
  return false;
}

static const struct policy_grant *find (const struct policy *policy,
                                        const struct grant_query *query,
                                        const struct policy_grant *after, bool expired)
{
  const struct policy_file *file = policy->effective;
  size_t first = after == NULL ? 0 : (size_t)(after - file->grants) + 1;

  for (size_t i = first; i < file->grants_len; i++)
    if (grant_covers (&file->grants[i], query) && is_expired (policy, &file->grants[i]) == expired)
      return &file->grants[i];
  return NULL;
}

const struct policy_grant *grant_next (const struct policy *policy, const struct grant_query *query,
                                       const struct policy_grant *after)
{
  return find (policy, query, after, false);
}

const struct policy_grant *grant_expired (const struct policy *policy,
                                          const struct grant_query *query)
{
  return find (policy, query, NULL, true);
}
