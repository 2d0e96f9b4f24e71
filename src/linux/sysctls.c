/* SPDX-License-Identifier: Apache-2.0 */
/* Owns: writing kernel parameters.  Runs in init, in its namespaces, as root of them.  */

#include "linux/sysctls.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "linux/procfs.h"

static bool component_valid (const char *start, size_t len)
{
  return len > 0 && !(len == 1 && start[0] == '.')
         && !(len == 2 && start[0] == '.' && start[1] == '.');
}

static bool path_valid (const char *path)
{
  for (const char *at = path;; at++)
    {
      size_t len = strcspn (at, "/");
      if (!component_valid (at, len))
        return false;
      at += len;
      if (*at == '\0')
        return true;
    }
}

char *sysctl_path (const char *name)
{
  const char *first = name + strcspn (name, "./");
  if (*first == '\0' || strpbrk (name, "\n\r") != NULL)
    return NULL;
  cleanup_free char *path = strdup (name);
  if (path == NULL)
    return NULL;
  if (*first == '.')
    for (char *at = path; *at != '\0'; at++)
      *at = *at == '.' ? '/' : *at == '/' ? '.' : *at;
  return path_valid (path) ? steal_ptr (&path) : NULL;
}

int sysctl_set (int procfd, const char *name, const char *value, struct error *err)
{
  char quoted[STR_QUOTE_MAX];
  cleanup_free char *path = sysctl_path (name);
  if (path == NULL)
    return error_set (err, -EINVAL, "linux.sysctl: \"%s\" is not the name of a kernel parameter",
                      str_quote (name, quoted));
  /* The kernel would take the second line of some parameters as a value of its own.  */
  if (strpbrk (value, "\n\r") != NULL)
    return error_set (err, -EINVAL, "linux.sysctl %s: the value has a line end", name);

  char file[512];
  size_t len = strlen (path);
  if (len > sizeof (file) - sizeof ("sys/"))
    return error_set (err, -ENAMETOOLONG, "linux.sysctl: the name \"%s\" is too long",
                      str_quote (name, quoted));
  memcpy (file, "sys/", 4);
  memcpy (file + 4, path, len + 1);
  int r = procfs_write (procfd, file, value, err);
  return r < 0 ? error_context (err, "linux.sysctl %s", name) : 0;
}
