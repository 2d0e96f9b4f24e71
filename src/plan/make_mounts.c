/* SPDX-License-Identifier: Apache-2.0 */
/* Root file system and mounts, in the order of the configuration.  Pure code.  */
#include <errno.h>
#include <linux/mount.h>
#include <string.h>
#include <sys/mount.h>

#include "base/path.h"
#include "base/str.h"
#include "plan/make.h"
#include "spec/answers.h"
#include "spec/mount_options.h"

static int set_bind_source (const struct plan_input *in, struct arena *arena, size_t index,
                            struct plan_mount *mount, const struct fact_source **ret_source,
                            struct error *err)
{
  char quoted[STR_QUOTE_MAX];
  const char *pointer = pointer_printf (arena, "/mounts/%zu/source", index);
  const struct fact_source *source = pointer ? fact_source_find (in->facts, pointer) : NULL;
  if (source == NULL || source->error != NULL || !source->has_descriptor || source->descriptor < 0)
    return error_set (err, -ENOENT, "mount source %s of %s can't be opened: %s",
                      str_quote (mount->source, quoted), mount->destination,
                      source && source->error ? source->error : "it was never looked at");
  mount->has_descriptor = true;
  mount->descriptor = source->descriptor;
  SET_NUMBER (mount, dev, source->dev);
  SET_NUMBER (mount, ino, source->ino);
  *ret_source = source;
  return 0;
}

static void set_options (struct plan_mount *mount, const struct mount_options *o)
{
  SET_NUMBER (mount, recursive, o->recursive);
  SET_NUMBER (mount, attr_set, o->attr_set);
  SET_NUMBER (mount, attr_clear, o->attr_clear);
  SET_NUMBER (mount, recursive_set, o->recursive_set);
  SET_NUMBER (mount, recursive_clear, o->recursive_clear);
  SET_NUMBER (mount, propagation, o->propagation);
  SET_NUMBER (mount, propagation_recursive, o->propagation_recursive);
  SET_NUMBER (mount, copy_up, o->copy_up);
  SET_NUMBER (mount, mode_given, o->mode_given && !o->bind);
  if (o->bind || o->data_len == 0)
    return; /* validate has warned of the data of a bind */
  mount->has_data = true;
  mount->data = o->data;
  mount->data_len = o->data_len;
}

/* Whether SOURCE belongs to the engine: below the bundle or one of the engines' data roots.  */
static bool is_engines (const struct plan_input *in, const char *source)
{
  const struct fact_host *host = in->facts->host;
  if (source == NULL)
    return false;
  if (in->facts->bundle != NULL && path_is_within (source, in->facts->bundle))
    return true;
  for (size_t i = 0; host != NULL && i < host->engine_roots_len; i++)
    if (path_is_within (source, host->engine_roots[i]))
      return true;
  return false;
}

/* Podman binds a directory of its own read-only on /run/secrets and then each secret on a name
   below it that it leaves to be made.  In anybody else's directory nothing is made: the policy
   judged that it stays as it is.  */
static bool is_readonly_last (const struct plan_input *in, size_t index,
                              const struct mount_options *options, const char *source)
{
  const struct oci_config *config = in->admission->config;
  if (!options->bind || (options->attr_set & MOUNT_ATTR_RDONLY) == 0 || !is_engines (in, source))
    return false;
  for (size_t i = index + 1; i < config->mounts_len; i++)
    if (path_is_within (config->mounts[i].destination, config->mounts[index].destination))
      return true;
  return false;
}

/* config.md: without maps of its own a mount with idmap gets those of the container; validation has
   seen to it that there are some.  */
static void set_idmap (const struct oci_config *config, const struct oci_mount *m,
                       const struct mount_options *o, struct plan_mount *mount)
{
  const struct oci_linux *l = config->linux;
  bool own = m->uid_mappings_len > 0;
  if (!own && !o->idmap)
    return;
  mount->has_uid_mappings = mount->has_gid_mappings = true;
  mount->uid_mappings = own ? m->uid_mappings : l->uid_mappings;
  mount->uid_mappings_len = own ? m->uid_mappings_len : l->uid_mappings_len;
  mount->gid_mappings = own ? m->gid_mappings : l->gid_mappings;
  mount->gid_mappings_len = own ? m->gid_mappings_len : l->gid_mappings_len;
  SET_NUMBER (mount, idmap_recursive, o->idmap_recursive);
}

static struct plan_protected *find_protected (const struct plan_mount *mount, const char *path,
                                              size_t len)
{
  for (size_t i = 0; i < mount->protected_len; i++)
    if (strlen (mount->protected[i].path) == len
        && strncmp (mount->protected[i].path, path, len) == 0)
      return &mount->protected[i];
  return NULL;
}

/* The first LEN bytes of what is protected: a directory above, or the whole, which may have been
   added as one above another.  */
static int add_protected (const struct protected_path *p, size_t len, struct arena *arena,
                          struct plan_mount *mount)
{
  size_t have = mount->protected_len;
  struct plan_protected *entry = find_protected (mount, p->path, len);
  if (entry == NULL)
    {
      struct plan_protected *list =
          arena_grow (arena, mount->protected, have * sizeof *list, (have + 1) * sizeof *list);
      if (list == NULL)
        return -ENOMEM;
      entry = &list[have];
      *entry = (struct plan_protected){ .path = arena_printf (arena, "%.*s", (int)len, p->path) };
      mount->protected = list;
      mount->protected_len++;
      mount->has_protected = true;
    }
  if (p->path[len] == '\0')
    {
      SET_NUMBER (entry, readonly, true);
      SET_NUMBER (entry, dev, p->dev);
      SET_NUMBER (entry, ino, p->ino);
    }
  return entry->path == NULL ? -ENOMEM : 0;
}

/* Each with the directories above it, first.  */
static int set_protected (const struct plan_input *in, size_t index, struct arena *arena,
                          struct plan_mount *mount)
{
  const struct admission *a = in->admission;
  for (size_t i = 0; i < a->protected_len; i++)
    {
      const char *path = a->protected[i].path;
      size_t len = 0;
      if (a->protected[i].mount != index)
        continue;
      do
        {
          len += (len > 0) + strcspn (path + len + (len > 0), "/");
          if (add_protected (&a->protected[i], len, arena, mount) < 0)
            return -ENOMEM;
        }
      while (path[len] != '\0');
    }
  return 0;
}

static int make_mount (const struct plan_input *in, struct arena *arena, size_t index,
                       struct plan_mount *mount, struct error *err)
{
  const struct oci_mount *m = &in->admission->config->mounts[index];
  struct mount_options options = { 0 };
  if (mount_options_parse (m, arena, &options) < 0)
    return error_set (err, -ENOMEM, "out of memory while planning mounts");
  mount->pointer = pointer_printf (arena, "/mounts/%zu", index);
  mount->destination = m->destination;
  mount->source = m->source;
  mount->kind = options.bind ? arena_strdup (arena, "bind") : m->type;
  if (mount->pointer == NULL || mount->kind == NULL)
    return error_set (err, -ENOMEM, "out of memory while planning mounts");
  set_options (mount, &options);
  if (!options.bind)
    return 0;
  set_idmap (in->admission->config, m, &options, mount);
  if (set_protected (in, index, arena, mount) < 0)
    return error_set (err, -ENOMEM, "out of memory while planning mounts");
  const struct fact_source *fact = NULL;
  int r = set_bind_source (in, arena, index, mount, &fact, err);
  if (r == 0)
    SET_NUMBER (mount, readonly_last, is_readonly_last (in, index, &options, fact->path));
  return r;
}

static uint64_t propagation_flag (const char *word)
{
  static const struct
  {
    const char *word;
    uint64_t flag;
  } table[] = {
    { "shared", MS_SHARED },         { "rshared", MS_SHARED },         { "slave", MS_SLAVE },
    { "rslave", MS_SLAVE },          { "private", MS_PRIVATE },        { "rprivate", MS_PRIVATE },
    { "unbindable", MS_UNBINDABLE }, { "runbindable", MS_UNBINDABLE },
  };
  for (size_t i = 0; i < ARRAY_SIZE (table); i++)
    if (str_equal (word, table[i].word))
      return table[i].flag;
  return MS_PRIVATE;
}

static int make_rootfs (const struct plan_input *in, struct arena *arena, struct plan *plan,
                        struct error *err)
{
  const struct oci_config *config = in->admission->config;
  const struct fact_source *facts = in->facts->rootfs;
  char quoted[STR_QUOTE_MAX];
  if (facts == NULL || facts->error != NULL || !facts->has_descriptor || facts->descriptor < 0)
    return error_set (err, -ENOENT, "root file system %s can't be opened: %s",
                      str_quote (config->root ? config->root->path : NULL, quoted),
                      facts && facts->error ? facts->error : "it was never looked at");
  if (!str_equal (facts->kind, "directory"))
    return error_set (err, -ENOTDIR, "root.path: %s is no directory",
                      str_quote (config->root->path, quoted));
  struct plan_rootfs *rootfs = arena_alloc (arena, sizeof *rootfs);
  if (rootfs == NULL)
    return error_set (err, -ENOMEM, "out of memory while planning");
  rootfs->path = facts->path;
  SET_NUMBER (rootfs, descriptor, facts->descriptor);
  SET_NUMBER (rootfs, readonly, config->root->has_readonly && config->root->readonly);
  SET_NUMBER (rootfs, propagation,
              propagation_flag (config->linux ? config->linux->rootfs_propagation : NULL));
  SET_NUMBER (rootfs, attr_set,
              (in->admission->rootfs_nosuid ? MOUNT_ATTR_NOSUID : 0)
                  | (in->admission->rootfs_nodev ? MOUNT_ATTR_NODEV : 0));
  plan->rootfs = rootfs;
  return 0;
}

int plan_make_mounts (const struct plan_input *in, struct arena *arena, struct plan *plan,
                      struct error *err)
{
  const struct oci_config *config = in->admission->config;
  int r = make_rootfs (in, arena, plan, err);
  if (r < 0)
    return r;
  plan->mounts = arena_alloc (arena, (config->mounts_len + 1) * sizeof *plan->mounts);
  if (plan->mounts == NULL)
    return error_set (err, -ENOMEM, "out of memory while planning mounts");
  for (size_t i = 0; i < config->mounts_len; i++)
    {
      r = make_mount (in, arena, i, &plan->mounts[i], err);
      if (r < 0)
        return r;
    }
  plan->mounts_len = config->mounts_len;
  plan->has_mounts = true;
  return 0;
}
