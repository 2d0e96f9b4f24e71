/* SPDX-License-Identifier: Apache-2.0 */
/* Owns the question which ids a user namespace maps (user_namespaces(7)).  The kernel shows that of
   processes only, and a namespace file may have none, or one that somebody else is meanwhile: so a
   child of ours goes in, does nothing there, and is looked at from here.  Runs in the parent; needs
   CAP_SYS_ADMIN over the namespace, as joining it does.  */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "spec/resolver.h"

/* Undumpable before it goes in: nobody inside may trace a copy of the runtime.  Returns never.  */
static _Noreturn void visit (int namespace, int answer)
{
  int result = 0;

  prctl (PR_SET_PDEATHSIG, SIGKILL);
  if (prctl (PR_SET_DUMPABLE, 0L, 0L, 0L, 0L) < 0 || setns (namespace, CLONE_NEWUSER) < 0)
    result = errno;
  if (write (answer, &result, sizeof result) != (ssize_t)sizeof result || result != 0)
    _exit (1);
  for (;;)
    pause ();
}

static void end_visitor (pid_t pid)
{
  kill (pid, SIGKILL);
  while (waitpid (pid, NULL, 0) < 0 && errno == EINTR)
    ;
}

/* 340 lines at most, so an answer that is longer is none.  */
static int read_map (struct resolver *r, pid_t pid, const char *name, struct fact_id_range **ret,
                     size_t *ret_len)
{
  char path[48];
  struct fact_id_range *list = NULL;
  unsigned long long inside, outside, count;
  size_t len = 0;
  int got;

  snprintf (path, sizeof path, "/proc/%d/%s", (int)pid, name);
  cleanup_file FILE *file = fopen (path, "re");
  if (file == NULL)
    return -errno;
  while ((got = fscanf (file, "%llu %llu %llu", &inside, &outside, &count)) == 3)
    {
      if (inside > UINT32_MAX || outside > UINT32_MAX || count > UINT32_MAX)
        return -ERANGE;
      list = arena_grow (r->arena, list, len * sizeof *list, (len + 1) * sizeof *list);
      if (list == NULL)
        return -ENOMEM;
      SET_FACT (&list[len], inside, (uint32_t)inside);
      SET_FACT (&list[len], outside, (uint32_t)outside);
      SET_FACT (&list[len], count, (uint32_t)count);
      len++;
    }
  *ret = list;
  *ret_len = len;
  return got == EOF && !ferror (file) ? 0 : -EBADMSG;
}

int resolver_user_namespace (struct resolver *r, int namespace, struct fact_namespace *f)
{
  int ends[2];
  int answer = EIO;
  int result;

  if (pipe2 (ends, O_CLOEXEC) < 0)
    return -errno;
  cleanup_close int from = ends[0], to = ends[1];
  pid_t pid = fork ();
  if (pid < 0)
    return -errno;
  if (pid == 0)
    visit (namespace, to);
  cleanup_closep (&to);
  if (read (from, &answer, sizeof answer) != (ssize_t)sizeof answer)
    answer = EIO;
  result = -answer;
  if (result == 0)
    result = read_map (r, pid, "uid_map", &f->uid_map, &f->uid_map_len);
  if (result == 0)
    result = read_map (r, pid, "gid_map", &f->gid_map, &f->gid_map_len);
  end_visitor (pid);
  f->has_uid_map = f->has_gid_map = result == 0;
  return result;
}
