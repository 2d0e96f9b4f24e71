/* SPDX-License-Identifier: Apache-2.0 */
/* Where the containers' state lies.  */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "linux/userns.h"

#define DEFAULT_ROOT "/run/agentrun"

/* An ordinary user's own runtime directory, also when he is root of a user namespace, as in an
   engine that is rootless; for the host's root the environment is not asked: whoever set it must
   not choose where root keeps state.  */
const char *state_root_path (const struct global_options *global)
{
  static char path[4096];
  const char *runtime =
      geteuid () != 0 || !userns_is_initial () ? getenv ("XDG_RUNTIME_DIR") : NULL;
  if (global->root != NULL && global->root[0] != '/' && getcwd (path, sizeof path / 2) != NULL)
    {
      size_t n = strlen (path);
      snprintf (path + n, sizeof path - n, "/%s", global->root);
      return path;
    }
  if (global->root != NULL)
    return global->root;
  if (runtime == NULL || runtime[0] != '/')
    return DEFAULT_ROOT;
  snprintf (path, sizeof path, "%s/agentrun", runtime);
  return path;
}
