/* SPDX-License-Identifier: Apache-2.0 */
/* Pure code.  */
#include "spec/answers.h"

#include "base/str.h"

bool facts_are_rootless (const struct facts *facts)
{
  const struct fact_host *host = facts->host;

  return host != NULL && host->has_initial_user_namespace && !host->initial_user_namespace;
}

const struct fact_source *fact_source_find (const struct facts *facts, const char *pointer)
{
  for (size_t i = 0; i < facts->sources_len; i++)
    if (str_equal (facts->sources[i].pointer, pointer))
      return &facts->sources[i];
  return NULL;
}

const struct fact_namespace *fact_namespace_find (const struct facts *facts, const char *pointer)
{
  for (size_t i = 0; i < facts->namespaces_len; i++)
    if (str_equal (facts->namespaces[i].pointer, pointer))
      return &facts->namespaces[i];
  return NULL;
}

int fact_namespace_is_host (const struct facts *facts, const struct fact_namespace *ns,
                            const char *type)
{
  const struct fact_host *host = facts->host;
  bool self_seen = false;

  for (size_t i = 0; host != NULL && i < host->namespaces_len; i++)
    {
      const struct fact_host_namespace *h = &host->namespaces[i];

      if (!str_equal (h->type, type) || h->error != NULL || !h->has_ino || !h->has_dev)
        continue;
      self_seen |= str_equal (h->of, "self");
      if (h->ino == ns->ino && h->dev == ns->dev)
        return 1;
    }
  return self_seen ? 0 : -1;
}
