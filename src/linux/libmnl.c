/* SPDX-License-Identifier: Apache-2.0 */
/* Owns: the loading of libmnl.  Runs in the parent, in the host's mount namespace: by the absolute
   path that configure found, never by a search.  */

#include "linux/libmnl.h"

#ifdef LIBMNL_PATH
#  include <dlfcn.h>
#  include <errno.h>
#  include <string.h>

int libmnl_load (const struct libmnl **ret, struct error *err)
{
  static struct libmnl library;
  static void *handle;
  if (handle == NULL)
    handle = dlopen (LIBMNL_PATH, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL)
    return error_set (err, -ELIBACC, "linux.netDevices needs libmnl: %s", dlerror ());
#  define LOOK_UP(name)                                                                            \
    {                                                                                              \
      void *function = dlsym (handle, "mnl_" #name);                                               \
      if (function == NULL)                                                                        \
        return error_set (err, -ELIBACC, "%s has no function mnl_" #name, LIBMNL_PATH);            \
      memcpy (&library.name, &function, sizeof function);                                          \
    }
  LIBMNL_FUNCTIONS (LOOK_UP)
#  undef LOOK_UP
  *ret = &library;
  return 0;
}
#endif
