/* SPDX-License-Identifier: Apache-2.0 */
/* Mount options: words of config.md's `mounts[].options` -> what the new mount API takes.  Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "ocispec.h"

struct mount_options
{
  bool bind;         /* bind or rbind is among the options, or the type is bind or rbind */
  bool recursive;    /* rbind */
  uint64_t attr_set; /* MOUNT_ATTR_*: the last word wins, as in "ro,rw" */
  uint64_t attr_clear;
  uint64_t recursive_set; /* rro, rnosuid … (mount_setattr with AT_RECURSIVE) */
  uint64_t recursive_clear;
  uint64_t propagation; /* MS_SHARED, MS_SLAVE, MS_PRIVATE, MS_UNBINDABLE or 0 */
  bool propagation_recursive;
  bool copy_up; /* tmpcopyup */
  bool idmap, idmap_recursive;
  bool remount;
  char **data; /* the rest in order, for fsconfig(2): "mode=755", "sync" (mount_option_superblock);
                  for a bind only words that are unknown */
  size_t data_len;
  bool mode_given;
  bool explicit_suid, explicit_dev; /* "suid", "dev" were written out */
};

/* Words of one family exclude each other and the last one wins: ro/rw, noatime/relatime/strictatime
   (the three values of MOUNT_ATTR__ATIME, which is in attr_clear when one of the family was given;
   atime, norelatime and nostrictatime mean the kernel's default, relatime).  Never fails on an
   unknown word: it lands in data, and validate decides.  -ENOMEM only.  */
int mount_options_parse (const struct oci_mount *, struct arena *, struct mount_options *ret);

/* Whether WORD is a flag of the file system that every type takes: sync dirsync lazytime mand and
   their opposites.  A bind has no use for them, mount(2) ignores them there.  */
bool mount_option_superblock (const char *word);

/* What `features` lists: every option word known here, NULL-terminated, sorted.  */
const char *const *mount_option_names (void);
