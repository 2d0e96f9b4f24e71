/* SPDX-License-Identifier: Apache-2.0 */
/* Owns: the way of an ordinary user into namespaces in which he may mount.  Runs in the command's
   process, which has one thread and nothing open yet; needs no privilege.  The helper is a child
   that stays outside, for newuidmap(1) has to be executed there.  */

#include "linux/userns_enter.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/str.h"
#include "linux/procfs.h"

#define SUB_IDS_MAX 32
#define FILE_MAX    (4 * 1024 * 1024)
#define NEWUIDMAP   "/usr/bin/newuidmap"
#define NEWGIDMAP   "/usr/bin/newgidmap"

struct map
{
  struct id_range ranges[SUB_IDS_MAX + 1];
  size_t len;
};

/* ---- sub-ids ---- */

/* The caller's account name, or NULL; no name service is asked.  */
static char *account_name (uid_t uid)
{
  cleanup_file FILE *file = fopen ("/etc/passwd", "re");
  struct passwd *p;
  while (file != NULL && (p = fgetpwent (file)) != NULL)
    if (p->pw_uid == uid)
      return strdup (p->pw_name);
  return NULL;
}

/* A line "OWNER:FIRST:COUNT" of subuid(5); what is not of this shape is nobody's.  */
static void add_line (struct map *map, char *line, const char *name, const char *number)
{
  char *rest = line;
  const char *owner = strsep (&rest, ":");
  const char *first = strsep (&rest, ":");
  uint64_t start, count;
  if ((!str_equal (owner, name) && !str_equal (owner, number)) || rest == NULL
      || map->len > SUB_IDS_MAX || str_to_u64 (first, 1, UINT32_MAX - 1, &start) < 0
      || str_to_u64 (rest, 1, UINT32_MAX - start, &count) < 0)
    return;
  const struct id_range *last = &map->ranges[map->len - 1];
  map->ranges[map->len++] =
      (struct id_range){ last->inside + last->count, (uint32_t)start, (uint32_t)count };
}

/* Id 0 is OWN, then come the sub-ids in FILE.  */
static void make_map (const char *file, uid_t uid, uint32_t own, struct map *map)
{
  cleanup_free char *name = account_name (uid);
  cleanup_free char *text = NULL;
  cleanup_close int fd = open (file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  char number[16], *line;
  size_t len;
  map->ranges[0] = (struct id_range){ 0, own, 1 };
  map->len = 1;
  snprintf (number, sizeof number, "%u", uid);
  if (fd < 0 || fd_read_all (fd, FILE_MAX, file, &text, &len, NULL) < 0)
    return;
  for (char *at = text; (line = strsep (&at, "\n")) != NULL;)
    add_line (map, line, name, number);
}

/* ---- the helper ---- */

/* PROGRAM PID INSIDE OUTSIDE COUNT ...  */
static int run_program (const char *program, pid_t pid, const struct map *map)
{
  char numbers[3 * (SUB_IDS_MAX + 1) + 1][16];
  char *argv[3 * (SUB_IDS_MAX + 1) + 3] = { (char *)program };
  char *const no_environment[] = { NULL };
  size_t n = 0;
  pid_t child;
  int status;
  snprintf (numbers[n++], sizeof *numbers, "%d", (int)pid);
  for (size_t i = 0; i < map->len; i++)
    {
      snprintf (numbers[n++], sizeof *numbers, "%u", map->ranges[i].inside);
      snprintf (numbers[n++], sizeof *numbers, "%u", map->ranges[i].outside);
      snprintf (numbers[n++], sizeof *numbers, "%u", map->ranges[i].count);
    }
  for (size_t i = 0; i < n; i++)
    argv[i + 1] = numbers[i];
  if (posix_spawn (&child, program, NULL, NULL, argv, no_environment) != 0)
    return -1;
  while (waitpid (child, &status, 0) < 0)
    if (errno != EINTR)
      return -1;
  return status == 0 ? 0 : -1;
}

/* Outside, until the parent says that it is inside.  */
static _Noreturn void helper (int sock, pid_t parent, const struct map *uids,
                              const struct map *gids)
{
  char byte;
  ssize_t n;
  do
    n = read (sock, &byte, 1);
  while (n < 0 && errno == EINTR);
  if (n != 1)
    _exit (1);
  if (run_program (NEWUIDMAP, parent, uids) < 0)
    _exit (2);
  _exit (run_program (NEWGIDMAP, parent, gids) < 0 ? 3 : 0);
}

static int wait_for_helper (pid_t pid, struct error *err)
{
  int status;
  while (waitpid (pid, &status, 0) < 0)
    if (errno != EINTR)
      return error_errno (err, errno, "wait for the helper that maps ids");
  if (status == 0)
    return 0;
  return error_set (err, -EPERM, "%s refused the sub-ids of %s",
                    WIFEXITED (status) && WEXITSTATUS (status) == 2 ? NEWUIDMAP : NEWGIDMAP,
                    WIFEXITED (status) && WEXITSTATUS (status) == 2 ? "/etc/subuid"
                                                                    : "/etc/subgid");
}

static int unshare_user (struct error *err)
{
  if (unshare (CLONE_NEWUSER) < 0)
    return error_errno (err, errno,
                        "make a user namespace as an ordinary user (see sysctl "
                        "user.max_user_namespaces and what the distribution adds to it)");
  return 0;
}

static int enter_with_helper (const struct map *uids, const struct map *gids, struct error *err)
{
  int ends[2];
  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
    return error_errno (err, errno, "make a socket pair");
  cleanup_close int ours = ends[0];
  cleanup_close int theirs = ends[1];
  pid_t self = getpid ();
  pid_t pid = fork ();
  if (pid < 0)
    return error_errno (err, errno, "fork the helper that maps ids");
  if (pid == 0)
    {
      close (steal_fd (&ours));
      helper (theirs, self, uids, gids);
    }
  int r = unshare_user (err);
  if (r == 0 && write (ours, "", 1) != 1)
    r = error_errno (err, errno, "tell the helper that maps ids");
  close (steal_fd (&ours)); /* without a word it ends */
  int waited = wait_for_helper (pid, r < 0 ? NULL : err);
  return r < 0 ? r : waited;
}

/* The kernel lets everybody map his own id, if he gives up setgroups(2) for the gid.  */
static int enter_alone (const struct map *uids, const struct map *gids, int procfd,
                        struct error *err)
{
  cleanup_free char *uid_map = NULL;
  cleanup_free char *gid_map = NULL;
  int r = userns_map_text (uids->ranges, 1, "the caller's uid", &uid_map, err);
  if (r == 0)
    r = userns_map_text (gids->ranges, 1, "the caller's gid", &gid_map, err);
  if (r == 0)
    r = unshare_user (err);
  if (r == 0)
    r = procfs_write (procfd, "self/setgroups", "deny", err);
  if (r == 0)
    r = procfs_write (procfd, "self/uid_map", uid_map, err);
  return r < 0 ? r : procfs_write (procfd, "self/gid_map", gid_map, err);
}

int userns_enter (bool *ret_entered, struct error *err)
{
  static struct map uids, gids;
  cleanup_close int procfd = -1;
  if (geteuid () == 0)
    return 0;
  make_map ("/etc/subuid", geteuid (), geteuid (), &uids);
  make_map ("/etc/subgid", geteuid (), getegid (), &gids);
  bool helpers = uids.len > 1 && gids.len > 1 && access (NEWUIDMAP, X_OK) == 0
                 && access (NEWGIDMAP, X_OK) == 0;
  int r = procfs_open (&procfd, err);
  if (r == 0)
    r = helpers ? enter_with_helper (&uids, &gids, err) : enter_alone (&uids, &gids, procfd, err);
  if (r == 0)
    r = userns_become (0, 0, procfd, err);
  if (r < 0)
    return r;
  if (unshare (CLONE_NEWNS) < 0)
    return error_errno (err, errno, "make a mount namespace in the own user namespace");
  *ret_entered = true;
  return 0;
}

/* ---- the other way ---- */

static int parse_line (const char *line, struct id_range *ret)
{
  return sscanf (line, "%u %u %u", &ret->inside, &ret->outside, &ret->count) == 3 ? 0 : -EBADMSG;
}

int userns_read_map (int procfd, const char *file, struct id_range **ret, size_t *ret_len,
                     struct error *err)
{
  cleanup_free struct id_range *ranges = calloc (USERNS_RANGES_MAX, sizeof *ranges);
  cleanup_free char *text = NULL;
  char path[32], *line;
  size_t len, n = 0;
  snprintf (path, sizeof path, "self/%s", file);
  if (ranges == NULL)
    return error_errno (err, ENOMEM, "read %s", file);
  int r = procfs_read (procfd, path, FILE_MAX, &text, &len, err);
  if (r < 0)
    return r;
  for (char *at = text; (line = strsep (&at, "\n")) != NULL;)
    if (line[0] != '\0' && (n == USERNS_RANGES_MAX || parse_line (line, &ranges[n++]) < 0))
      return error_set (err, -EBADMSG, "%s in procfs is malformed", file);
  *ret = steal_ptr (&ranges);
  *ret_len = n;
  return 0;
}
