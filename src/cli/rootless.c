/* SPDX-License-Identifier: Apache-2.0 */
/* Ordinary users (cli.md).  Their command runs as root of a user namespace of its own from the
   start, so that everything behind is the same as below an engine that is rootless.  */
#include "cli/rootless.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "linux/procfs.h"
#include "linux/userns_enter.h"

/* Tells the program that is executed again what the ids of its configuration count from.  Whoever
   sets it himself changes the reading of his own mappings and nothing else.  */
#define ENTERED "_AGENTRUN_OWN_USER_NAMESPACE"

int rootless_enter (bool *ret_own, struct error *err)
{
  bool entered = false;
  if (getenv (ENTERED) != NULL)
    {
      unsetenv (ENTERED);
      *ret_own = true;
      return 0;
    }
  int r = userns_enter (&entered, err);
  if (r == 0 && entered && setenv (ENTERED, "1", 1) < 0)
    r = error_errno (err, errno, "remember the user namespace");
  *ret_own = entered;
  return r;
}

/* The whole of RANGE in one range of OUTER.  */
static int translate (struct oci_id_mapping *m, const struct id_range *outer, size_t n,
                      const char *name, size_t index, struct error *err)
{
  for (size_t i = 0; i < n; i++)
    {
      uint32_t offset = m->host_id - outer[i].outside;
      if (m->host_id < outer[i].outside || offset >= outer[i].count
          || m->size > outer[i].count - offset)
        continue;
      m->host_id = outer[i].inside + offset;
      return 0;
    }
  return error_set (err, -EPERM,
                    "linux.%s[%zu]: the ids %u ... %llu of the host are neither the caller's nor "
                    "in one range of his sub-ids",
                    name, index, m->host_id, (unsigned long long)m->host_id + m->size - 1);
}

static int translate_all (int procfd, const char *file, struct oci_id_mapping *maps, size_t n,
                          const char *name, struct error *err)
{
  cleanup_free struct id_range *outer = NULL;
  size_t outer_len = 0;
  int r = n > 0 ? userns_read_map (procfd, file, &outer, &outer_len, err) : 0;
  for (size_t i = 0; r == 0 && i < n; i++)
    r = translate (&maps[i], outer, outer_len, name, i, err);
  return r;
}

int rootless_translate (struct oci_config *config, struct error *err)
{
  struct oci_linux *l = config->linux;
  cleanup_close int procfd = -1;
  if (l == NULL || (l->uid_mappings_len == 0 && l->gid_mappings_len == 0))
    return 0;
  int r = procfs_open (&procfd, err);
  if (r == 0)
    r = translate_all (procfd, "uid_map", l->uid_mappings, l->uid_mappings_len, "uidMappings", err);
  return r < 0 ? r
               : translate_all (procfd, "gid_map", l->gid_mappings, l->gid_mappings_len,
                                "gidMappings", err);
}
