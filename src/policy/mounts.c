/* SPDX-License-Identifier: Apache-2.0 */
/* Mount entries together with their parsed options and the facts about their sources, for the rules
   of rule_mount*.c.  Pure code.  */
#include <errno.h>
#include <linux/mount.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "policy/internal.h"

static int view_mount (struct evaluation *ev, size_t index, struct mount_view *ret)
{
  struct oci_mount *mount = &ev->config->mounts[index];
  cleanup_free char *normal = path_normalize (mount->destination == NULL ? "" : mount->destination);
  struct mount_view view = {
    .index = index,
    .mount = mount,
    .destination = normal == NULL ? NULL : arena_strdup (ev->arena, normal),
    .pointer = ev_printf (ev, "/mounts/%zu", index),
    .source_pointer = ev_printf (ev, "/mounts/%zu/source", index),
  };

  if (view.destination == NULL || view.pointer == NULL || view.source_pointer == NULL
      || mount_options_parse (mount, ev->arena, &view.options) < 0)
    {
      ev->findings->failed = true;
      return -ENOMEM;
    }
  view.source = fact_source_find (ev->facts, view.source_pointer);
  *ret = view;
  return 0;
}

int mount_views (struct evaluation *ev, struct mount_view **ret, size_t *ret_len)
{
  size_t len = ev->config->mounts_len;
  struct mount_view *views = ev_alloc (ev, len + 1, sizeof *views);

  if (views == NULL)
    return -ENOMEM;
  for (size_t i = 0; i < len; i++)
    {
      int r = view_mount (ev, i, &views[i]);

      if (r < 0)
        return r;
    }
  *ret = views;
  *ret_len = len;
  return 0;
}

int mount_open_binds (struct evaluation *ev, struct mount_view **ret, size_t *ret_len)
{
  struct mount_view *views;
  size_t len, n = 0;
  int r = mount_views (ev, &views, &len);

  if (r < 0)
    return r;
  for (size_t i = 0; i < len; i++)
    {
      const struct fact_source *source = views[i].source;

      if (views[i].options.bind && source != NULL && source->error == NULL && source->path != NULL)
        views[n++] = views[i];
    }
  *ret = views;
  *ret_len = n;
  return 0;
}

bool mount_is_readonly (const struct mount_view *view)
{
  return ((view->options.attr_set | view->options.recursive_set) & MOUNT_ATTR_RDONLY) != 0;
}

void mount_set_options (struct evaluation *ev, struct mount_view *view, char **options, size_t len)
{
  struct oci_mount *mount = view->mount;

  mount->has_options = true;
  mount->options = options;
  mount->options_len = len;
  if (mount_options_parse (mount, ev->arena, &view->options) < 0)
    ev->findings->failed = true;
}
