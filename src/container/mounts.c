/* SPDX-License-Identifier: Apache-2.0 */
/* A child joins the container's mount namespace for it, and nothing else of the container: it holds
   the host's privileges and runs no program.  What it looks up lies below the container's root, by
   descriptor.  Runs in the command's process, with the container locked.  */
#include "container/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "container/idmap.h"
#include "container/init_steps.h"
#include "container/sync.h"
#include "linux/mounts.h"
#include "linux/process.h"
#include "plan/make.h"
#include "state/state.h"

/* What the child does.  */
struct change
{
  const struct container *container;
  int init; /* pidfd */
  int sync;
  int rootfd;
  /* add */
  const struct container_setup *setup;
  size_t first;
  /* remove: indices into the record, in order */
  const size_t *indices;
  size_t n;
};

/* ---- the child ---- */

/* init may have gone on into a mount namespace of its own.  */
static int verify_namespace (const struct container *c, struct error *err)
{
  struct stat st;
  if (fstatat (c->procfd, "self/ns/mnt", &st, 0) < 0)
    return error_errno (err, errno, "look at the mount namespace");
  for (size_t i = 0; i < c->record->namespaces_len; i++)
    {
      const struct record_namespace *ns = &c->record->namespaces[i];
      if (str_equal (ns->type, "mount") && (ns->dev != st.st_dev || ns->ino != st.st_ino))
        return error_set (err, -EXDEV,
                          "the container's first process has left the mount namespace that the "
                          "container was created with");
    }
  return 0;
}

static int enter (struct change *change, struct error *err)
{
  umask (0);
  if (setns (change->init, CLONE_NEWNS) < 0)
    return error_errno (err, errno, "join the container's mount namespace");
  int r = verify_namespace (change->container, err);
  if (r < 0)
    return r;
  change->rootfd = open ("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  return change->rootfd < 0 ? error_errno (err, errno, "open the container's root") : 0;
}

/* "NUMBER PATH": where it is once all links have been followed.  */
static int tell_mount (const struct change *change, const struct plan_mount *m, struct error *err)
{
  char link[40], reached[PATH_MAX];
  cleanup_free char *text = NULL;
  uint64_t id;
  cleanup_close int fd = path_open_in_root (change->rootfd, m->destination, O_PATH, err);
  if (fd < 0)
    return fd;
  snprintf (link, sizeof link, "self/fd/%d", fd);
  ssize_t len = readlinkat (change->container->procfd, link, reached, sizeof reached - 1);
  if (len < 0)
    return error_errno (err, errno, "look at %s", m->destination);
  reached[len] = '\0';
  int r = mount_id (fd, &id, err);
  if (r == 0 && asprintf (&text, "%llu %s", (unsigned long long)id, reached) < 0)
    {
      text = NULL;
      r = error_set (err, -ENOMEM, "out of memory for a mount");
    }
  return r < 0 ? r : sync_send (change->sync, SYNC_PREPARED, text, err);
}

static int add_all (struct change *change, struct error *err)
{
  const struct plan *plan = change->setup->plan;
  struct init init = { .setup = change->setup,
                       .plan = plan,
                       .sync = -1,
                       .procfd = change->container->procfd,
                       .rootfd = change->rootfd,
                       .proc_tree = -1,
                       .sys_tree = -1,
                       .terminal = TERMINAL_INIT };
  for (size_t i = change->first; i < plan->mounts_len; i++)
    {
      int r = init_mount_later (&init, i, err);
      if (r == 0)
        r = tell_mount (change, &plan->mounts[i], err);
      if (r < 0)
        return r;
    }
  return 0;
}

/* No link at any place, and the very mount that was made: a mask or a judged mount of the container
   must not go in its place.  */
static int remove_one (const struct change *change, const struct record_mount *m, struct error *err)
{
  const char *name = strrchr (m->destination, '/') + 1;
  cleanup_free char *dir = strndup (m->destination, (size_t)(name - m->destination));
  uint64_t id;
  if (dir == NULL)
    return error_set (err, -ENOMEM, "out of memory for a mount");
  cleanup_close int parent = path_openat2 (change->rootfd, dir, O_PATH | O_DIRECTORY, 0,
                                           RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);
  cleanup_close int fd =
      parent < 0 ? -1 : path_openat2 (parent, name, O_PATH | O_NOFOLLOW, 0, RESOLVE_NO_SYMLINKS);
  if (fd < 0 || mount_id (fd, &id, err) < 0 || id != m->mount_id)
    return error_set (err, -EPERM, "what is mounted on %s is not what was added there",
                      m->destination);
  if (fchdir (parent) < 0 || umount2 (name, UMOUNT_NOFOLLOW | MNT_DETACH) < 0)
    return error_errno (err, errno, "unmount %s", m->destination);
  return sync_send (change->sync, SYNC_PREPARED, m->destination, err);
}

static int remove_all (struct change *change, struct error *err)
{
  int r = 0;
  for (size_t i = change->n; r == 0 && i > 0; i--)
    r = remove_one (change, &change->container->record->added_mounts[change->indices[i - 1]], err);
  return r;
}

static _Noreturn void child (struct change *change)
{
  struct error err = { 0 };
  int r = enter (change, &err);
  if (r == 0)
    r = change->setup != NULL ? add_all (change, &err) : remove_all (change, &err);
  if (r == 0)
    r = sync_send (change->sync, SYNC_READY, NULL, &err);
  if (r < 0)
    sync_send_error (change->sync, &err);
  _exit (r < 0 ? 1 : 0);
}

/* ---- the parent ---- */

/* SAID gets the text of each mount as it is done; after the last the child says that it is ready.
 */
static int listen_to_child (int sync, size_t n, int (*said) (const char *, void *), void *data,
                            struct error *err)
{
  int r = 0;
  for (size_t i = 0; r == 0 && i < n; i++)
    {
      cleanup_free char *text = NULL;
      r = sync_expect (sync, SYNC_PREPARED, &text, err);
      if (r == 0 && said (text, data) < 0)
        r = error_set (err, -ENOMEM, "out of memory for the record");
    }
  return r < 0 ? r : sync_expect (sync, SYNC_READY, NULL, err);
}

static int run_child (struct change *change, size_t n, int (*said) (const char *, void *),
                      void *data, struct error *err)
{
  const struct container *c = change->container;
  cleanup_close int init = -1;
  int ends[2];
  int r = process_open (c->procfd, c->record->pid, c->record->start_time, &init, err);
  if (r == 0)
    r = process_set_undumpable (err);
  if (r == 0)
    r = sync_pair (ends, err);
  if (r < 0)
    return r;
  change->init = init;
  change->sync = ends[1];
  pid_t pid = fork ();
  if (pid == 0)
    {
      close (ends[0]);
      child (change);
    }
  int saved = errno;
  close (ends[1]);
  r = pid < 0 ? error_errno (err, saved, "fork") : listen_to_child (ends[0], n, said, data, err);
  close (ends[0]);
  while (pid > 0 && waitpid (pid, NULL, 0) < 0 && errno == EINTR)
    ;
  return r;
}

static int check_running (const struct container *c, struct error *err)
{
  enum container_status status;
  int r = container_status (c, &status, err);
  if (r < 0)
    return r;
  if (status != CONTAINER_RUNNING && status != CONTAINER_CREATED && status != CONTAINER_PAUSED)
    return error_set (err, -ESRCH, "container not running: the mounts of \"%s\" can't be changed",
                      c->id);
  return 0;
}

static int record_added (const char *text, void *data)
{
  struct container *c = data;
  struct record *record = c->record;
  unsigned long long id;
  int end = 0;
  if (sscanf (text, "%llu %n", &id, &end) != 1 || end == 0)
    return -EPROTO;
  struct record_mount *m = &record->added_mounts[record->added_mounts_len];
  m->destination = arena_strdup (c->arena, text + end);
  SET_NUMBER (m, mount_id, id);
  if (m->destination == NULL)
    return -ENOMEM;
  record->added_mounts_len++;
  record->has_added_mounts = true;
  return 0;
}

static int make_room (struct container *c, size_t more)
{
  struct record *record = c->record;
  size_t len = record->added_mounts_len;
  struct record_mount *list = arena_alloc_array (c->arena, len + more, sizeof *list);
  for (size_t i = 0; list != NULL && i < len; i++)
    list[i] = record->added_mounts[i];
  if (list != NULL)
    record->added_mounts = list;
  return list == NULL ? -ENOMEM : 0;
}

static int forget (const char *destination, void *data)
{
  struct record *record = ((struct container *)data)->record;
  for (size_t i = record->added_mounts_len; i > 0; i--)
    if (str_equal (record->added_mounts[i - 1].destination, destination))
      {
        memmove (&record->added_mounts[i - 1], &record->added_mounts[i],
                 (record->added_mounts_len - i) * sizeof *record->added_mounts);
        record->added_mounts_len--;
        break;
      }
  return 0;
}

/* Those from FIRST on.  */
static void undo (struct container *c, size_t first)
{
  struct error ignored;
  size_t n = c->record->added_mounts_len - first;
  cleanup_free size_t *indices = calloc (n + 1, sizeof *indices);
  if (indices == NULL)
    return;
  for (size_t i = 0; i < n; i++)
    indices[i] = first + i;
  struct change change = { .container = c, .rootfd = -1, .indices = indices, .n = n };
  (void)run_child (&change, n, forget, c, &ignored);
}

int container_mounts_add (struct container *c, const struct plan *plan, size_t n,
                          const struct resolved *resolved, struct error *err)
{
  const struct container_setup setup = { .plan = plan,
                                         .descriptors = resolved->descriptors,
                                         .descriptors_len = resolved->descriptors_len };
  struct change change = {
    .container = c, .rootfd = -1, .setup = &setup, .first = plan->mounts_len - n
  };
  size_t before = c->record->added_mounts_len;
  int r = check_running (c, err);
  if (r == 0 && make_room (c, n) < 0)
    r = error_set (err, -ENOMEM, "out of memory for the record");
  if (r == 0)
    r = idmap_mounts (&setup, c->procfd, err);
  if (r < 0)
    return r;
  r = run_child (&change, n, record_added, c, err);
  if (r < 0)
    undo (c, before);
  if (r == 0)
    r = state_write (c->dirfd, c->record, err);
  return r;
}

static int find_added (const struct container *c, const char *destination, size_t *ret,
                       struct error *err)
{
  cleanup_free char *normal = path_normalize (destination);
  for (size_t i = c->record->added_mounts_len; i > 0; i--)
    if (str_equal (c->record->added_mounts[i - 1].destination, normal))
      {
        *ret = i - 1;
        return 0;
      }
  return error_set (err, -EPERM, "no mount was added on %s, and others can't be removed",
                    destination);
}

int container_mounts_remove (struct container *c, const char *const *destinations, size_t n,
                             struct error *err)
{
  cleanup_free size_t *indices = calloc (n + 1, sizeof *indices);
  struct change change = { .container = c, .rootfd = -1, .indices = indices, .n = n };
  struct error ignored;
  int r = indices == NULL ? error_set (err, -ENOMEM, "out of memory for the mounts")
                          : check_running (c, err);
  for (size_t i = 0; r == 0 && i < n; i++)
    r = find_added (c, destinations[i], &indices[i], err);
  if (r < 0)
    return r;
  r = run_child (&change, n, forget, c, err);
  /* Also after a failure: some may be gone.  */
  int written = state_write (c->dirfd, c->record, r < 0 ? &ignored : err);
  return r < 0 ? r : written;
}
