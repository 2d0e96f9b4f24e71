/* SPDX-License-Identifier: Apache-2.0 */
/* linux.resources.unified: files of cgroup v2 by name.  Pure code.  config-linux.md "Unified".  */
#include "cgroup/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"

#define KEY_MAX 100

/* Files of the core that are limits.  The others move, kill or freeze processes or hand controllers
   out, which is agentrun's own business.  */
static const char *const core_files[] = { "cgroup.max.depth", "cgroup.max.descendants" };

static int check_key (const struct planner *p, const char *key, struct error *err)
{
  char quoted[STR_QUOTE_MAX];
  size_t len = strcspn (key, ".");
  char controller[KEY_MAX];

  if (len == 0 || key[len] == '\0' || strlen (key) >= KEY_MAX || strpbrk (key, "/ \t\n") != NULL)
    return error_set (err, -EINVAL,
                      "linux.resources.unified: %s is not the name of a file like memory.high",
                      str_quote (key, quoted));
  for (size_t i = 0; i < ARRAY_SIZE (core_files); i++)
    if (strcmp (key, core_files[i]) == 0)
      return 0;
  memcpy (controller, key, len);
  controller[len] = '\0';
  if (strcmp (controller, "cgroup") == 0)
    return error_set (err, -EINVAL, "linux.resources.unified: %s is not a limit",
                      str_quote (key, quoted));
  if (!list_has (p->layout->v2_controllers, " \n", controller))
    return error_set (err, -ENOENT,
                      "linux.resources.unified: %s needs the controller %s in the cgroup v2 "
                      "hierarchy, which doesn't have it",
                      str_quote (key, quoted), controller);
  return 0;
}

/* The kernel takes one line a write.  */
static int plan_lines (struct planner *p, const char *key, const char *value, struct error *err)
{
  cleanup_free char *copy = strdup (value);
  char field[KEY_MAX + 16];
  char *save = NULL;
  int r = 0;

  if (copy == NULL)
    return error_errno (err, ENOMEM, "linux.resources.unified");
  if (value[strspn (value, "\n")] == '\0')
    return error_set (err, -EINVAL, "linux.resources.unified: %s has an empty value", key);
  snprintf (field, sizeof (field), "unified.%s", key);
  for (char *line = strtok_r (copy, "\n", &save); r >= 0 && line != NULL;
       line = strtok_r (NULL, "\n", &save))
    r = plan_write (p, CONTROLLER_UNIFIED, 0, field, key, line, err);
  return r;
}

int plan_unified (struct planner *p, const struct oci_resources *r, struct error *err)
{
  for (size_t i = 0; i < r->unified.len; i++)
    {
      if (p->layout->v2_controllers == NULL)
        return plan_unsupported ("unified", "the host has no cgroup v2", err);
      int ret = check_key (p, r->unified.keys[i], err);
      if (ret >= 0)
        ret = plan_lines (p, r->unified.keys[i], r->unified.values[i], err);
      if (ret < 0)
        return ret;
    }
  return 0;
}
