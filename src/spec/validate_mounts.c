/* SPDX-License-Identifier: Apache-2.0 */
/* Owns the checks of `mounts` (config.md, "Mounts").  Pure, needs no privilege.  */
#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "spec/mount_options.h"
#include "spec/validate_checks.h"

/* What one mount's checks look at.  */
struct mount_check
{
  const struct oci_mount *mount;
  const struct oci_linux *linux;
  struct mount_options options;
  size_t index;
  struct findings *findings;
};

static char *at (const struct mount_check *c, const char *member)
{
  return pointer_printf (c->findings->arena, "/mounts/%zu/%s", c->index, member);
}

/* config.md allows a relative destination, deprecated, and demands that it is taken as relative to
   "/": so it is a warning, and whoever compares destinations normalises them first.  */
static void check_destination (const struct mount_check *c)
{
  char quoted[STR_QUOTE_MAX];

  if (is_empty (c->mount->destination))
    reject (c->findings, "mount.destination", at (c, "destination"), "mount %zu has no destination",
            c->index);
  else if (!is_absolute (c->mount->destination))
    finding_add (c->findings, "mount.destination", "warn", at (c, "destination"),
                 "destination \"%s\" is relative, which is deprecated: it is taken from /",
                 str_quote (c->mount->destination, quoted));
}

/* Which types an agent may have is the policy's to say (mount.type); for a bind it is a dummy.  */
static void check_type (const struct mount_check *c)
{
  if (!c->options.bind && is_empty (c->mount->type))
    reject (c->findings, "mount.type", at (c, "type"),
            "mount %zu has no type and is no bind mount either", c->index);
}

static void check_source (const struct mount_check *c)
{
  if (c->options.bind && is_empty (c->mount->source))
    reject (c->findings, "mount.source", at (c, "source"), "bind mount %zu has no source",
            c->index);
}

/* Words of crun's that name another object than the path does: to leave one out would mount what
   was not meant.  */
static bool names_another_object (const char *word)
{
  static const char *const words[] = { "copy-symlink", "src-nofollow", "dest-nofollow", NULL };
  return word_in (word, words);
}

static void check_options (const struct mount_check *c)
{
  const struct mount_options *o = &c->options;
  char *pointer = at (c, "options");
  char quoted[STR_QUOTE_MAX];

  for (size_t i = 0; i < o->data_len; i++)
    if (o->bind && names_another_object (o->data[i]))
      reject (c->findings, "config.unsupported", pointer,
              "option \"%s\" is an extension of another runtime's that this one does not have",
              o->data[i]);
    else if (o->data[i][0] == '\0')
      reject (c->findings, "mount.option", pointer, "option \"\" means nothing for a mount");
    else if (o->bind) /* as with mount(2), which has no use for them */
      finding_add (c->findings, "mount.option", "warn", pointer,
                   "option \"%s\" means nothing for a bind mount and is left out",
                   str_quote (o->data[i], quoted));
  if (o->remount)
    reject (c->findings, "mount.option", pointer,
            "option \"remount\" changes a mount that is there already: not done by this runtime");
  if (o->copy_up && (o->bind || !str_equal (c->mount->type, "tmpfs")))
    reject (c->findings, "mount.option", pointer, "option \"tmpcopyup\" is for a tmpfs only");
  if (o->copy_up && !is_empty (c->mount->destination)
      && strspn (c->mount->destination, "/.") == strlen (c->mount->destination))
    reject (c->findings, "mount.option", pointer,
            "option \"tmpcopyup\" would copy the whole root file system into memory");
}

static void check_idmap (const struct mount_check *c)
{
  const struct oci_mount *m = c->mount;
  bool own = m->uid_mappings_len > 0 || m->gid_mappings_len > 0;
  const char *word = c->options.idmap_recursive ? "ridmap" : "idmap";

  if (!own && !c->options.idmap)
    return;
  if (!c->options.bind)
    reject (c->findings, "config.unsupported", at (c, "uidMappings"),
            "only a bind mount can be id-mapped");
  if (own)
    {
      validate_id_ranges (at (c, "uidMappings"), m->uid_mappings, m->uid_mappings_len, c->findings);
      validate_id_ranges (at (c, "gidMappings"), m->gid_mappings, m->gid_mappings_len, c->findings);
    }
  else if (c->linux == NULL || c->linux->uid_mappings_len == 0 || c->linux->gid_mappings_len == 0)
    reject (c->findings, "config.invalid", at (c, "options"),
            "option \"%s\" needs maps: the mount's own or those of a new user namespace", word);
}

void validate_mounts (const struct oci_config *config, struct findings *findings)
{
  static void (*const mount_checks[]) (const struct mount_check *) = { check_destination,
                                                                       check_type, check_source,
                                                                       check_options, check_idmap };
  struct mount_check c = { .linux = config->linux, .findings = findings };

  for (c.index = 0; c.index < config->mounts_len; c.index++)
    {
      c.mount = &config->mounts[c.index];
      if (mount_options_parse (c.mount, findings->arena, &c.options) < 0)
        {
          findings->failed = true;
          return;
        }
      for (size_t i = 0; i < ARRAY_SIZE (mount_checks); i++)
        mount_checks[i](&c);
    }
}
