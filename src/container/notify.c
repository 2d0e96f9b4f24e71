/* SPDX-License-Identifier: Apache-2.0 */
#include "container/notify.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/mount.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "base/str.h"
#include "container/workload.h"
#include "linux/mounts.h"
#include "spec/names.h"

#define SOCKET_NAME "notify.sock"
#define MESSAGE_MAX 4096
#define NOBODY      65534
/* Between two messages that say nothing of use: their sender waits for us, not we for him.  */
#define PAUSE_NS 20000000L

void notify_close (struct notify *notify)
{
  cleanup_closep (&notify->listener);
  cleanup_closep (&notify->tree);
  cleanup_closep (&notify->manager);
  *notify = (struct notify)NOTIFY_NONE;
}

/* ---- made in the parent ---- */

static int connect_manager (const char *address, int *ret, struct error *err)
{
  struct sockaddr_un un = { .sun_family = AF_UNIX };
  size_t len = strlen (address);
  char quoted[STR_QUOTE_MAX];
  cleanup_close int fd = socket (AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (len < 2 || (address[0] != '/' && address[0] != '@') || len >= sizeof un.sun_path)
    return error_set (err, -EINVAL, "NOTIFY_SOCKET %s is no address of a socket",
                      str_quote (address, quoted));
  memcpy (un.sun_path, address, len);
  if (un.sun_path[0] == '@')
    un.sun_path[0] = '\0';
  socklen_t size = (socklen_t)(offsetof (struct sockaddr_un, sun_path) + len);
  if (fd < 0 || connect (fd, (struct sockaddr *)&un, size) < 0)
    return error_errno (err, errno, "connect to NOTIFY_SOCKET %s", str_quote (address, quoted));
  *ret = steal_fd (&fd);
  return 0;
}

/* In the parent the procfs of /proc is the host's.  */
static int make_socket (int tree, const struct plan *plan, int *ret, struct error *err)
{
  const struct plan_user_namespace *user = plan->user_namespace;
  struct sockaddr_un un = { .sun_family = AF_UNIX };
  uid_t uid = plan->process->uid;
  gid_t gid = plan->process->gid;
  cleanup_close int fd = socket (AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (user != NULL)
    {
      uid = id_mapping_outside (user->uid_mappings, user->uid_mappings_len, uid);
      gid = id_mapping_outside (user->gid_mappings, user->gid_mappings_len, gid);
    }
  snprintf (un.sun_path, sizeof un.sun_path, "%s/" SOCKET_NAME, fd_path (tree).path);
  if (fd < 0 || bind (fd, (struct sockaddr *)&un, sizeof un) < 0)
    return error_errno (err, errno, "make the container's notify socket");
  if (fchmodat (tree, SOCKET_NAME, 0600, 0) < 0 || fchownat (tree, SOCKET_NAME, uid, gid, 0) < 0)
    return error_errno (err, errno, "give the notify socket to the process's user");
  *ret = steal_fd (&fd);
  return 0;
}

static int make_tree (const struct plan *plan, struct notify *n, struct error *err)
{
  static char *parameters[] = { (char *)"mode=0755", (char *)"size=4k", (char *)"nr_inodes=4" };
  const uint64_t attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;
  int r = mount_new_fs ("tmpfs", "notify", parameters, ARRAY_SIZE (parameters), attributes,
                        &n->tree, err);
  if (r == 0)
    r = make_socket (n->tree, plan, &n->listener, err);
  return r < 0
             ? r
             : mount_set (n->tree, false, MOUNT_ATTR_RDONLY, 0, MS_PRIVATE, NOTIFY_DIRECTORY, err);
}

int notify_open (const char *address, const struct plan *plan, struct notify *ret,
                 struct error *err)
{
  struct notify n = NOTIFY_NONE;
  int r = connect_manager (address, &n.manager, err);
  if (r == 0)
    r = make_tree (plan, &n, err);
  if (r < 0)
    {
      notify_close (&n);
      return r;
    }
  *ret = n;
  return 0;
}

/* ---- the process that listens ---- */

static bool says_ready (char *message)
{
  char *line;
  while ((line = strsep (&message, "\n")) != NULL)
    if (str_equal (line, "READY=1"))
      return true;
  return false;
}

static bool hear (int listener)
{
  char message[MESSAGE_MAX + 1];
  ssize_t n = recv (listener, message, MESSAGE_MAX, MSG_DONTWAIT);
  if (n <= 0)
    return false;
  message[n] = '\0';
  return says_ready (message);
}

static void listen_until_ready (const struct notify *n, pid_t init, int pidfd)
{
  const struct timespec pause = { .tv_nsec = PAUSE_NS };
  char said[64];
  for (;;)
    {
      struct pollfd fds[] = { { n->listener, POLLIN, 0 }, { pidfd, POLLIN, 0 } };
      if (poll (fds, ARRAY_SIZE (fds), -1) < 0 && errno != EINTR)
        return;
      /* A last word before the end counts.  */
      if ((fds[0].revents & POLLIN) != 0 && hear (n->listener))
        break;
      if (fds[1].revents != 0)
        return;
      nanosleep (&pause, NULL);
    }
  int len = snprintf (said, sizeof said, "READY=1\nMAINPID=%d", (int)init);
  (void)send (n->manager, said, (size_t)len, MSG_NOSIGNAL);
}

/* What listens to a workload has nothing that one could want.  In a user namespace there may be
   nobody else to be.  */
static void drop_everything (const struct notify *n, int pidfd)
{
  int keep[] = { n->listener, n->manager, pidfd };
  struct error ignored;
  int null = open ("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; fd <= 2; fd++)
    if (dup2 (null, fd) < 0)
      _exit (1);
  if (workload_close_descriptors (0, keep, ARRAY_SIZE (keep), &ignored) < 0 || chdir ("/") < 0)
    _exit (1);
  (void)setsid ();
  (void)prctl (PR_SET_NAME, "agentrun-notify");
  (void)prctl (PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L);
  if (setgroups (0, NULL) < 0 || setresgid (NOBODY, NOBODY, NOBODY) < 0
      || setresuid (NOBODY, NOBODY, NOBODY) < 0)
    return;
}

int notify_forward (const struct notify *n, pid_t init, int pidfd, struct error *err)
{
  if (n->listener < 0)
    return 0;
  pid_t pid = fork ();
  if (pid < 0)
    return error_errno (err, errno, "fork to listen to the container's notify socket");
  if (pid > 0)
    return 0;
  drop_everything (n, pidfd);
  listen_until_ready (n, init, pidfd);
  _exit (0);
}
