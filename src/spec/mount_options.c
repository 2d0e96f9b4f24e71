/* SPDX-License-Identifier: Apache-2.0 */
/* Owns the table of mount option words (config.md, "Linux mount options").  One list makes both the
   table that parsing reads and the names that `features` shows, so that neither can lag behind.
   Pure code, runs in any process, needs no privilege.  */
#include "spec/mount_options.h"

#include <errno.h>
#include <linux/mount.h>
#include <string.h>

#include "base/str.h"

#ifndef MOUNT_ATTR_NOSYMFOLLOW
#  define MOUNT_ATTR_NOSYMFOLLOW 0x00200000
#endif

typedef void option_apply (struct mount_options *, uint64_t value);

static void apply_set (struct mount_options *o, uint64_t value)
{
  o->attr_set |= value;
  o->attr_clear &= ~value;
}

static void apply_clear (struct mount_options *o, uint64_t value)
{
  o->attr_set &= ~value;
  o->attr_clear |= value;
  o->explicit_suid |= value == MOUNT_ATTR_NOSUID;
  o->explicit_dev |= value == MOUNT_ATTR_NODEV;
}

/* The atime modes are values of one field, not bits: mount_setattr(2) wants the whole field cleared
   whenever a mode is set.  */
static void apply_atime (struct mount_options *o, uint64_t value)
{
  o->attr_clear |= MOUNT_ATTR__ATIME;
  o->attr_set = (o->attr_set & ~(uint64_t)MOUNT_ATTR__ATIME) | value;
}

static void apply_recursive_set (struct mount_options *o, uint64_t value)
{
  o->recursive_set |= value;
  o->recursive_clear &= ~value;
}

static void apply_recursive_clear (struct mount_options *o, uint64_t value)
{
  o->recursive_set &= ~value;
  o->recursive_clear |= value;
  o->explicit_suid |= value == MOUNT_ATTR_NOSUID;
  o->explicit_dev |= value == MOUNT_ATTR_NODEV;
}

static void apply_recursive_atime (struct mount_options *o, uint64_t value)
{
  o->recursive_clear |= MOUNT_ATTR__ATIME;
  o->recursive_set = (o->recursive_set & ~(uint64_t)MOUNT_ATTR__ATIME) | value;
}

static void apply_propagation (struct mount_options *o, uint64_t value)
{
  o->propagation = value & ~(uint64_t)MS_REC;
  o->propagation_recursive = (value & MS_REC) != 0;
}

static void apply_bind (struct mount_options *o, uint64_t value)
{
  o->bind = true;
  o->recursive |= value != 0;
}

static void apply_idmap (struct mount_options *o, uint64_t value)
{
  o->idmap = true;
  o->idmap_recursive |= value != 0;
}

static void apply_remount (struct mount_options *o, uint64_t value)
{
  (void)value;
  o->remount = true;
}

static void apply_copy_up (struct mount_options *o, uint64_t value)
{
  (void)value;
  o->copy_up = true;
}

/* Words that ask for what is so anyway: the new mount API never prints to the kernel log (silent,
   loud), and the file systems that agentrun makes keep an inode version or don't, whatever is said.
 */
static void apply_nothing (struct mount_options *o, uint64_t value)
{
  (void)o;
  (void)value;
}

/* Only a mark: option_add hands on the word itself.  */
#define apply_superblock apply_nothing

enum
{
  FLAG_SUPERBLOCK = 1
};

/* Sorted by name: mount_option_names promises it.  X (word, function, value, flags)  */
#define MOUNT_OPTIONS(X)                                                                           \
  X ("async", superblock, 0, FLAG_SUPERBLOCK)                                                      \
  X ("atime", atime, MOUNT_ATTR_RELATIME, 0)                                                       \
  X ("bind", bind, 0, 0)                                                                           \
  X ("defaults", nothing, 0, 0)                                                                    \
  X ("dev", clear, MOUNT_ATTR_NODEV, 0)                                                            \
  X ("diratime", clear, MOUNT_ATTR_NODIRATIME, 0)                                                  \
  X ("dirsync", superblock, 0, FLAG_SUPERBLOCK)                                                    \
  X ("exec", clear, MOUNT_ATTR_NOEXEC, 0)                                                          \
  X ("idmap", idmap, 0, 0)                                                                         \
  X ("iversion", nothing, 0, 0)                                                                    \
  X ("lazytime", superblock, 0, FLAG_SUPERBLOCK)                                                   \
  X ("loud", nothing, 0, 0)                                                                        \
  X ("mand", superblock, 0, FLAG_SUPERBLOCK)                                                       \
  X ("noatime", atime, MOUNT_ATTR_NOATIME, 0)                                                      \
  X ("nodev", set, MOUNT_ATTR_NODEV, 0)                                                            \
  X ("nodiratime", set, MOUNT_ATTR_NODIRATIME, 0)                                                  \
  X ("noexec", set, MOUNT_ATTR_NOEXEC, 0)                                                          \
  X ("noiversion", nothing, 0, 0)                                                                  \
  X ("nolazytime", superblock, 0, FLAG_SUPERBLOCK)                                                 \
  X ("nomand", superblock, 0, FLAG_SUPERBLOCK)                                                     \
  X ("norelatime", atime, MOUNT_ATTR_RELATIME, 0)                                                  \
  X ("nostrictatime", atime, MOUNT_ATTR_RELATIME, 0)                                               \
  X ("nosuid", set, MOUNT_ATTR_NOSUID, 0)                                                          \
  X ("nosymfollow", set, MOUNT_ATTR_NOSYMFOLLOW, 0)                                                \
  X ("private", propagation, MS_PRIVATE, 0)                                                        \
  X ("ratime", recursive_atime, MOUNT_ATTR_RELATIME, 0)                                            \
  X ("rbind", bind, 1, 0)                                                                          \
  X ("rdev", recursive_clear, MOUNT_ATTR_NODEV, 0)                                                 \
  X ("rdiratime", recursive_clear, MOUNT_ATTR_NODIRATIME, 0)                                       \
  X ("relatime", atime, MOUNT_ATTR_RELATIME, 0)                                                    \
  X ("remount", remount, 0, 0)                                                                     \
  X ("rexec", recursive_clear, MOUNT_ATTR_NOEXEC, 0)                                               \
  X ("ridmap", idmap, 1, 0)                                                                        \
  X ("rnoatime", recursive_atime, MOUNT_ATTR_NOATIME, 0)                                           \
  X ("rnodev", recursive_set, MOUNT_ATTR_NODEV, 0)                                                 \
  X ("rnodiratime", recursive_set, MOUNT_ATTR_NODIRATIME, 0)                                       \
  X ("rnoexec", recursive_set, MOUNT_ATTR_NOEXEC, 0)                                               \
  X ("rnorelatime", recursive_atime, MOUNT_ATTR_RELATIME, 0)                                       \
  X ("rnostrictatime", recursive_atime, MOUNT_ATTR_RELATIME, 0)                                    \
  X ("rnosuid", recursive_set, MOUNT_ATTR_NOSUID, 0)                                               \
  X ("rnosymfollow", recursive_set, MOUNT_ATTR_NOSYMFOLLOW, 0)                                     \
  X ("ro", set, MOUNT_ATTR_RDONLY, 0)                                                              \
  X ("rprivate", propagation, MS_PRIVATE | MS_REC, 0)                                              \
  X ("rrelatime", recursive_atime, MOUNT_ATTR_RELATIME, 0)                                         \
  X ("rro", recursive_set, MOUNT_ATTR_RDONLY, 0)                                                   \
  X ("rrw", recursive_clear, MOUNT_ATTR_RDONLY, 0)                                                 \
  X ("rshared", propagation, MS_SHARED | MS_REC, 0)                                                \
  X ("rslave", propagation, MS_SLAVE | MS_REC, 0)                                                  \
  X ("rstrictatime", recursive_atime, MOUNT_ATTR_STRICTATIME, 0)                                   \
  X ("rsuid", recursive_clear, MOUNT_ATTR_NOSUID, 0)                                               \
  X ("rsymfollow", recursive_clear, MOUNT_ATTR_NOSYMFOLLOW, 0)                                     \
  X ("runbindable", propagation, MS_UNBINDABLE | MS_REC, 0)                                        \
  X ("rw", clear, MOUNT_ATTR_RDONLY, 0)                                                            \
  X ("shared", propagation, MS_SHARED, 0)                                                          \
  X ("silent", nothing, 0, 0)                                                                      \
  X ("slave", propagation, MS_SLAVE, 0)                                                            \
  X ("strictatime", atime, MOUNT_ATTR_STRICTATIME, 0)                                              \
  X ("suid", clear, MOUNT_ATTR_NOSUID, 0)                                                          \
  X ("symfollow", clear, MOUNT_ATTR_NOSYMFOLLOW, 0)                                                \
  X ("sync", superblock, 0, FLAG_SUPERBLOCK)                                                       \
  X ("tmpcopyup", copy_up, 0, 0)                                                                   \
  X ("unbindable", propagation, MS_UNBINDABLE, 0)

struct option
{
  const char *name;
  option_apply *apply;
  uint64_t value;
  unsigned flags;
};

#define OPTION_ROW(word, function, value, flags)  { word, apply_##function, value, flags },
#define OPTION_NAME(word, function, value, flags) word,

static const struct option options[] = { MOUNT_OPTIONS (OPTION_ROW) };
static const char *const names[] = { MOUNT_OPTIONS (OPTION_NAME) NULL };

const char *const *mount_option_names (void) { return names; }

static const struct option *option_find (const char *word)
{
  for (size_t i = 0; i < ARRAY_SIZE (options); i++)
    if (strcmp (options[i].name, word) == 0)
      return &options[i];
  return NULL;
}

bool mount_option_superblock (const char *word)
{
  const struct option *found = word == NULL ? NULL : option_find (word);

  return found != NULL && (found->flags & FLAG_SUPERBLOCK) != 0;
}

static void option_add (struct mount_options *o, char *word)
{
  const struct option *found = option_find (word);

  if (found != NULL && (found->flags & FLAG_SUPERBLOCK) == 0)
    found->apply (o, found->value);
  else if (found == NULL || !o->bind)
    {
      o->data[o->data_len++] = word;
      o->mode_given |= str_has_prefix (word, "mode=");
    }
}

/* config.md names the options alone, but engines and other runtimes take the type for it, too: what
   is a bind for any of them must be judged as one.  Before the other words, which depend on it.  */
static void find_bind (const struct oci_mount *mount, struct mount_options *o)
{
  o->recursive = str_equal (mount->type, "rbind");
  o->bind = o->recursive || str_equal (mount->type, "bind");
  for (size_t i = 0; i < mount->options_len; i++)
    o->bind |= str_equal (mount->options[i], "bind") || str_equal (mount->options[i], "rbind");
}

int mount_options_parse (const struct oci_mount *mount, struct arena *arena,
                         struct mount_options *ret)
{
  struct mount_options made = { 0 };

  made.data = arena_alloc_array (arena, mount->options_len, sizeof *made.data);
  if (made.data == NULL)
    return -ENOMEM;
  find_bind (mount, &made);
  for (size_t i = 0; i < mount->options_len; i++)
    if (mount->options[i] != NULL)
      option_add (&made, mount->options[i]);
  *ret = made;
  return 0;
}
