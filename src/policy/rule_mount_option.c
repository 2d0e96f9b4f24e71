/* SPDX-License-Identifier: Apache-2.0 */
/* Rules mount.pseudo, mount.option and mount.hardening: the options of a mount.  Pure code.  */
#include <linux/mount.h>
#include <string.h>

#include "policy/internal.h"

/* The options of the view's mount with ADDED behind them.  */
static char **with_options (struct evaluation *ev, const struct oci_mount *mount,
                            const char *const *added, size_t added_len)
{
  char **options = ev_alloc (ev, mount->options_len + added_len + 1, sizeof *options);

  if (options == NULL)
    return NULL;
  for (size_t i = 0; i < mount->options_len; i++)
    options[i] = mount->options[i];
  for (size_t i = 0; i < added_len; i++)
    options[mount->options_len + i] = (char *)added[i];
  return options;
}

static void add_options (struct evaluation *ev, struct mount_view *view, enum rule_id rule,
                         const char *const *added, size_t added_len, const char *message,
                         const char *fix)
{
  struct oci_mount *mount = view->mount;
  char **options = with_options (ev, mount, added, added_len);
  size_t len = mount->options_len + added_len;

  if (options == NULL)
    return;
  struct tightening t = {
    .rule = rule,
    .pointer = ev_printf (ev, "%s/options", view->pointer),
    .old = ev_json_strings (ev, mount->options, mount->options_len),
    .new = ev_json_strings (ev, options, len),
    .fix = fix,
  };
  if (ev_tighten (ev, &t, "%s", message))
    mount_set_options (ev, view, options, len);
}

static bool is_type (const struct mount_view *view, const char *type)
{
  return !view->options.bind && str_equal (view->mount->type, type);
}

/* ---- mount.pseudo ---- */

#define RAW_FIX "remove --privileged, or the entry for it"

static void check_proc (struct evaluation *ev, const struct mount_view *views, size_t len)
{
  const struct mount_view *seen = NULL;

  for (size_t i = 0; i < len; i++)
    {
      struct finding *f = NULL;

      if (!is_type (&views[i], "proc"))
        continue;
      if (!str_equal (views[i].destination, "/proc"))
        f = ev_report (ev, RULE_MOUNT_PSEUDO, ACTION_REJECT, views[i].pointer,
                       "a procfs elsewhere than on /proc has no masked paths");
      else if (seen != NULL)
        f = ev_report (ev, RULE_MOUNT_PSEUDO, ACTION_REJECT, views[i].pointer,
                       "procfs is mounted twice on /proc");
      else
        seen = &views[i];
      ev_fix (ev, f, RAW_FIX);
    }
  if (seen == NULL)
    ev_report (ev, RULE_MOUNT_PSEUDO, ACTION_REJECT, "/mounts",
               "no procfs on /proc: the image's own /proc would be taken for it");
}

static void check_sysfs (struct evaluation *ev, const struct mount_view *view)
{
  struct finding *f = NULL;

  if (!is_type (view, "sysfs"))
    return;
  if (!str_equal (view->destination, "/sys"))
    f = ev_report (ev, RULE_MOUNT_PSEUDO, ACTION_REJECT, view->pointer,
                   "a sysfs elsewhere than on /sys has no masked paths");
  else if (!mount_is_readonly (view))
    f = ev_report (ev, RULE_MOUNT_PSEUDO, ACTION_REJECT, view->pointer, "sysfs is writable");
  ev_fix (ev, f, RAW_FIX);
}

/* Engines send it writable with a remapped root, so it is made read-only rather than refused.  */
static void check_cgroup (struct evaluation *ev, struct mount_view *view)
{
  static const char *const ro[] = { "ro" };
  struct finding *f;

  if (!is_type (view, "cgroup") && !is_type (view, "cgroup2"))
    return;
  if (!str_equal (view->destination, "/sys/fs/cgroup"))
    {
      f = ev_report (ev, RULE_MOUNT_PSEUDO, ACTION_REJECT, view->pointer,
                     "a cgroup file system elsewhere than on /sys/fs/cgroup");
      ev_fix (ev, f, RAW_FIX);
    }
  else if (!mount_is_readonly (view))
    add_options (ev, view, RULE_MOUNT_PSEUDO, ro, 1, "the cgroup file system is writable",
                 "mount /sys/fs/cgroup read-only (podman: --systemd=false)");
}

void check_mount_pseudo (struct evaluation *ev)
{
  struct mount_view *views;
  size_t len;

  if (mount_views (ev, &views, &len) < 0)
    return;
  check_proc (ev, views, len);
  for (size_t i = 0; i < len; i++)
    {
      check_sysfs (ev, &views[i]);
      check_cgroup (ev, &views[i]);
    }
}

/* ---- mount.option ---- */

/* Parameters that each file system may be given (proc(5), tmpfs(5), devpts in mount(8)).  */
static const struct
{
  const char *type;
  const char *names[10];
} parameters[] = {
  { "proc", { "hidepid", "subset", NULL } },
  { "sysfs", { NULL } },
  { "tmpfs", { "size", "mode", "uid", "gid", "nr_inodes", "nr_blocks", "huge", NULL } },
  { "devpts", { "newinstance", "ptmxmode", "mode", "gid", "uid", "max", NULL } },
  { "mqueue", { NULL } },
  { "cgroup", { NULL } },
  { "cgroup2", { NULL } },
};

static bool is_parameter (const char *type, const char *option)
{
  size_t len = strcspn (option, "=");

  for (size_t t = 0; t < ARRAY_SIZE (parameters); t++)
    for (size_t n = 0; str_equal (parameters[t].type, type) && parameters[t].names[n] != NULL; n++)
      if (strlen (parameters[t].names[n]) == len
          && strncmp (parameters[t].names[n], option, len) == 0)
        return true;
  return false;
}

static bool is_known_type (const char *type)
{
  for (size_t t = 0; t < ARRAY_SIZE (parameters); t++)
    if (str_equal (parameters[t].type, type))
      return true;
  return false;
}

/* tmpfs(5): 0 means without limit.  */
static bool is_zero_size (const char *option)
{
  static const char *const names[] = { "size=", "nr_blocks=", "nr_inodes=" };

  for (size_t i = 0; i < ARRAY_SIZE (names); i++)
    {
      const char *value = option + strlen (names[i]);

      if (str_has_prefix (option, names[i]))
        return *value == '\0' || strspn (value, "0") == strcspn (value, "kKmMgGtTpPeE%");
    }
  return false;
}

/* What is wrong with one word of the data, or NULL.  */
static const char *data_problem (const struct mount_view *view, const char *option)
{
  bool bind = view->options.bind;

  if (strchr (option, ',') != NULL)
    return "has a comma inside, which makes two of it";
  if (bind || !is_parameter (view->mount->type, option))
    return bind ? "is unknown for a bind mount" : "is unknown for this type";
  if (is_zero_size (option))
    return "lets the file system grow without limit";
  return NULL;
}

static void check_option_data (struct evaluation *ev, const struct mount_view *view,
                               const char *pointer)
{
  char quoted[STR_QUOTE_MAX];
  size_t sizes = 0;

  for (size_t i = 0; i < view->options.data_len; i++)
    {
      const char *option = view->options.data[i];
      const char *problem = data_problem (view, option);

      sizes += str_has_prefix (option, "size=") || str_has_prefix (option, "nr_blocks=");
      if (problem != NULL)
        ev_report (ev, RULE_MOUNT_OPTION, ACTION_REJECT, pointer,
                   "the option %s of the mount on %s",
                   ev_printf (ev, "%s %s", str_quote (option, quoted), problem), view->destination);
    }
  if (sizes > 1)
    ev_report (ev, RULE_MOUNT_OPTION, ACTION_REJECT, pointer,
               "the size of the mount on %s is given more than once", view->destination);
}

static void check_option (struct evaluation *ev, const struct mount_view *view)
{
  char *pointer = ev_printf (ev, "%s/options", view->pointer);
  struct finding *f = NULL;

  if (view->options.remount)
    ev_report (ev, RULE_MOUNT_OPTION, ACTION_REJECT, pointer,
               "the mount on %s changes another one (remount)", view->destination);
  if (view->options.explicit_suid)
    f = ev_report (ev, RULE_MOUNT_OPTION, ACTION_REJECT, pointer,
                   "the mount on %s asks for set-id programs (suid)", view->destination);
  ev_fix (ev, f, "remove the option suid");
  f = NULL;
  if (view->options.explicit_dev)
    f = ev_report (ev, RULE_MOUNT_OPTION, ACTION_REJECT, pointer,
                   "the mount on %s asks for device nodes (dev)", view->destination);
  ev_fix (ev, f, "remove the option dev");
  if (view->options.bind || is_known_type (view->mount->type))
    check_option_data (ev, view, pointer); /* of another type mount.type says enough */
}

void check_mount_options (struct evaluation *ev)
{
  struct mount_view *views;
  size_t len;

  if (mount_views (ev, &views, &len) < 0)
    return;
  for (size_t i = 0; i < len; i++)
    check_option (ev, &views[i]);
}

/* ---- mount.hardening ---- */

static bool needs_devices (const struct mount_view *view)
{
  return str_equal (view->destination, "/dev") || str_equal (view->destination, "/dev/pts")
         || (view->source != NULL && str_equal (view->source->kind, "char"));
}

/* File capabilities and set-id bits become inert, so that an execve with emptied capability sets
   can't fail on them; device nodes of the source stay dead.  `nosuid` alone is for the top mount,
   so the mounts that an rbind takes along get the recursive words.  */
static void harden (struct evaluation *ev, struct mount_view *view)
{
  const struct mount_options *o = &view->options;
  bool nested = o->recursive && view->source != NULL && view->source->nested_len > 0;
  const char *added[6];
  size_t len = 0;

  if (((o->attr_set | o->recursive_set) & MOUNT_ATTR_NOSUID) == 0)
    added[len++] = "nosuid";
  if (((o->attr_set | o->recursive_set) & MOUNT_ATTR_NODEV) == 0 && !needs_devices (view))
    added[len++] = "nodev";
  if (nested && (o->recursive_set & MOUNT_ATTR_NOSUID) == 0)
    added[len++] = "rnosuid";
  if (nested && (o->recursive_set & MOUNT_ATTR_NODEV) == 0)
    added[len++] = "rnodev";
  if (nested && (o->attr_set & MOUNT_ATTR_RDONLY) != 0
      && (o->recursive_set & MOUNT_ATTR_RDONLY) == 0)
    added[len++] = "rro";
  if (len > 0)
    add_options (ev, view, RULE_MOUNT_HARDENING, added, len,
                 "set-id programs and device nodes of the mount would count",
                 "add nosuid and nodev to the mount's options");
}

static void harden_root (struct evaluation *ev, bool has_dev)
{
  struct admission *admission = ev->admission;
  struct tightening t = {
    .rule = RULE_MOUNT_HARDENING,
    .pointer = "/root",
    .old = "[]",
    .new = has_dev ? "[\"nosuid\", \"nodev\"]" : "[\"nosuid\"]",
    .fix = "leave mount.hardening at tighten: config.json has no field for it",
  };

  if (admission->rootfs_nosuid)
    return;
  if (!ev_tighten (ev, &t, "set-id programs and device nodes of the image would count"))
    return;
  admission->rootfs_nosuid = true;
  /* Without a mount on /dev the runtime's own nodes lie on the root file system.  */
  admission->rootfs_nodev = has_dev;
}

void check_mount_hardening (struct evaluation *ev)
{
  struct mount_view *views;
  bool has_dev = false;
  size_t len;

  if (mount_views (ev, &views, &len) < 0)
    return;
  for (size_t i = 0; i < len; i++)
    {
      has_dev |= str_equal (views[i].destination, "/dev");
      harden (ev, &views[i]);
    }
  harden_root (ev, has_dev);
}
