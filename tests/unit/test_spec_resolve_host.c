/* SPDX-License-Identifier: Apache-2.0 */
/* src/spec/resolve_namespace.c, resolve_hook.c, resolve_descriptor.c, resolve_host.c.  Needs root.
 */
#include "spec_place.h"

#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#include "base/fd.h"
#include "spec/names.h"

/* ---- namespaces ---- */

static void test_namespace_by_magic_link (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  cleanup_resolved struct resolved r = { 0 };
  const struct fact_namespace *n;
  struct stat st, own;

  ROOT_ONLY ();
  n = ask (arena, &r,
           "{'namespaces':[{'pointer':'/linux/namespaces/0','type':'network',"
           "'path':'/proc/self/ns/net'},{'type':'pid','path':'/proc/self/ns/uts'}]}")
          ->namespaces;
  assert_null (n[0].error);
  assert_true (n[0].nsfs);
  assert_string_equal (n[0].kind, "network");
  assert_int_equal (stat ("/proc/self/ns/net", &st), 0);
  assert_int_equal (n[0].ino, st.st_ino);
  assert_int_equal (n[0].dev, st.st_dev);
  assert_int_equal (fstat (r.descriptors[n[0].descriptor], &own), 0);
  assert_int_equal (own.st_ino, st.st_ino);
  assert_int_equal (fcntl (r.descriptors[n[0].descriptor], F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  /* Of another type than asked for: told, not judged.  */
  assert_string_equal (n[1].kind, "uts");
  assert_string_equal (n[1].type, "pid");
}

static void test_namespace_by_file (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  cleanup_resolved struct resolved r = { 0 };
  const struct fact_namespace *n;

  ROOT_ONLY ();
  make_dir ("netns");
  make_file ("netns/a", "");
  assert_int_equal (mount ("/proc/self/ns/net", "netns/a", NULL, MS_BIND, NULL), 0);
  n = ask (arena, &r, "{'namespaces':[{'type':'network','path':'@/netns/a'}]}")->namespaces;
  assert_true (n->nsfs);
  assert_string_equal (n->kind, "network");
  assert_true (str_has_suffix (n->canonical, "/netns/a"));
  assert_int_equal (n->chain_len, 4);
  assert_true (str_has_suffix (n->chain[3].path, "/netns"));
}

static void test_no_namespace_is_never_opened (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  cleanup_resolved struct resolved r = { 0 };
  const struct fact_namespace *n;

  ROOT_ONLY ();
  assert_int_equal (mkfifo ("nsfifo", 0600), 0);
  make_file ("nsfile", "");
  alarm (10);
  n = ask (arena, &r,
           "{'namespaces':[{'type':'pid','path':'@/nsfifo'},{'type':'pid','path':"
           "'@/nsfile'},{'type':'pid','path':'@/nsnone'},{'type':'pid'}]}")
          ->namespaces;
  alarm (0);
  for (int i = 0; i < 2; i++)
    {
      assert_null (n[i].error);
      assert_true (n[i].has_nsfs && !n[i].nsfs);
      assert_int_equal (n[i].descriptor, -1);
    }
  assert_string_equal (n[2].error, "ENOENT");
  assert_non_null (n[3].error);
  assert_int_equal (r.descriptors_len, 0);
}

static void test_host_namespaces (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  cleanup_resolved struct resolved r = { 0 };
  const struct fact_host *h;
  char path[64];
  struct stat st;
  int own = 0, init = 0;

  ROOT_ONLY ();
  h = ask (arena, &r, "{'hostNamespaces':true}")->host;
  for (size_t i = 0; i < h->namespaces_len; i++)
    {
      const struct fact_host_namespace *n = &h->namespaces[i];

      if (str_equal (n->of, "init"))
        {
          /* Whoever may not look gets a reason.  */
          assert_true (n->has_ino || n->error != NULL);
          init++;
          continue;
        }
      snprintf (path, sizeof path, "/proc/self/ns/%s", namespace_proc_name (n->type));
      assert_int_equal (stat (path, &st), 0);
      assert_int_equal (n->ino, st.st_ino);
      own++;
    }
  assert_int_equal (own, 8);
  assert_int_equal (init, 8);
  resolved_free (&r);
  assert_int_equal (ask (arena, &r, "{}")->host->namespaces_len, 0);
}

/* ---- hooks ---- */

static void test_hook_by_process (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  cleanup_resolved struct resolved r = { 0 };
  const struct fact_hook *h;
  char own[4096], text[256];
  ssize_t len = readlink ("/proc/self/exe", own, sizeof own - 1);
  pid_t gone;

  ROOT_ONLY ();
  own[len] = '\0';
  gone = fork ();
  if (gone == 0)
    _exit (0);
  waitpid (gone, NULL, 0);
  snprintf (text, sizeof text,
            "{'hooks':[{'pointer':'/hooks/prestart/0','path':'/proc/%d/exe'},"
            "{'path':'/proc/%d/exe'}]}",
            getpid (), gone);
  h = ask (arena, &r, text)->hooks;
  assert_null (h[0].error);
  assert_int_equal (h[0].pid, getpid ());
  assert_string_equal (h[0].link, own);
  assert_string_equal (h[0].kind, "file");
  assert_true (h[0].descriptor >= 0);
  assert_string_equal (h[1].error, "ESRCH");
  assert_int_equal (h[1].descriptor, -1);
}

static void test_hook_by_path (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  cleanup_resolved struct resolved r = { 0 };
  const struct fact_hook *h;
  char text[4] = "";

  ROOT_ONLY ();
  make_file ("hook", "abc");
  assert_int_equal (chmod ("hook", 04711), 0);
  assert_int_equal (symlink ("hook", "hooklink"), 0);
  assert_int_equal (mkfifo ("hookfifo", 0755), 0);
  alarm (10);
  h = ask (arena, &r,
           "{'hooks':[{'path':'@/hooklink','digest':true},{'path':'@/hook'},"
           "{'path':'@/hookfifo','digest':true},{'path':'@/nohook'},{'path':'hook'},"
           "{'path':'/proc/self/exe'},{}]}")
          ->hooks;
  alarm (0);
  assert_string_equal (h[0].digest,
                       "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  assert_true (str_has_suffix (h[0].canonical, "/hook"));
  assert_int_equal (h[0].mode, 04711);
  assert_null (h[0].link);
  /* From its start, though it was read for the digest.  */
  assert_int_equal (read (r.descriptors[h[0].descriptor], text, sizeof text), 3);
  assert_string_equal (text, "abc");
  assert_null (h[1].digest);
  assert_string_equal (h[2].kind, "fifo");
  assert_null (h[2].error);
  assert_int_equal (h[2].descriptor, -1);
  assert_string_equal (h[3].error, "ENOENT");
  assert_string_equal (h[4].error, "EINVAL");
  assert_string_equal (h[5].error, "ELOOP");
  assert_string_equal (h[6].error, "EINVAL");
}

/* ---- descriptors ---- */

struct descriptor_case
{
  int fd;
  const char *kind, *access, *family;
  bool mount;
};

static const struct fact_descriptor *look_at (struct arena *arena, struct resolved *r, int fd)
{
  char text[64];

  snprintf (text, sizeof text, "{'descriptors':[%d]}", fd);
  return ask (arena, r, text)->descriptors;
}

static void test_descriptors (void **state)
{
  int pipes[2], pair[2];

  ROOT_ONLY ();
  assert_int_equal (pipe2 (pipes, O_CLOEXEC), 0);
  assert_int_equal (socketpair (AF_UNIX, SOCK_STREAM, 0, pair), 0);
  make_file ("plainfile", "");
  make_dir ("adir");
  const struct descriptor_case cases[] = {
    { pipes[0], "fifo", "read", NULL, false },
    { pipes[1], "fifo", "write", NULL, false },
    { pair[0], "socket", "both", "unix", false },
    { socket (AF_INET, SOCK_DGRAM, 0), "socket", "both", "inet", false },
    { open ("plainfile", O_RDONLY), "file", "read", NULL, false },
    { open ("plainfile", O_RDWR), "file", "both", NULL, false },
    { open ("plainfile", O_PATH), "path", "path", NULL, false },
    { open ("adir", O_RDONLY), "directory", "read", NULL, false },
    { open ("/dev/null", O_WRONLY), "char", "write", NULL, false },
    { memfd_create ("x", 0), "memfd", "both", NULL, false },
    { eventfd (0, 0), "anon:[eventfd]", "both", NULL, false },
    { open ("/proc/self/ns/net", O_RDONLY), "nsfs", "read", NULL, false },
    { fd_pidfd_open (getpid ()), "pidfd", "both", NULL, false },
    { (int)syscall (SYS_open_tree, AT_FDCWD, "adir", OPEN_TREE_CLONE), "path", "path", NULL, true },
  };
  for (size_t i = 0; i < ARRAY_SIZE (cases); i++)
    {
      cleanup_arena struct arena *arena = arena_new ();
      cleanup_resolved struct resolved r = { 0 };
      const struct fact_descriptor *f;

      assert_true (cases[i].fd >= 0);
      f = look_at (arena, &r, cases[i].fd);
      assert_null (f->error);
      assert_int_equal (f->number, cases[i].fd);
      assert_string_equal (f->kind, cases[i].kind);
      assert_string_equal (f->access, cases[i].access);
      assert_true (str_equal (f->family, cases[i].family));
      assert_int_equal (f->mount, cases[i].mount);
      close (cases[i].fd);
    }
  close (pair[1]);
}

static void test_closed_descriptor (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  cleanup_resolved struct resolved r = { 0 };

  ROOT_ONLY ();
  assert_string_equal (look_at (arena, &r, 1000)->error, "EBADF");
}

/* ---- the host ---- */

static void test_identity (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  cleanup_resolved struct resolved r = { 0 };
  const struct fact_host *h;
  struct utsname names;

  ROOT_ONLY ();
  h = ask (arena, &r, "{'groups':['root','nosuchgroup']}")->host;
  assert_int_equal (h->uid, 0);
  assert_int_equal (uname (&names), 0);
  assert_string_equal (h->kernel, names.release);
  assert_true (h->has_landlock_abi && h->has_initial_user_namespace);
  assert_int_equal (h->groups_len, 1);
  assert_string_equal (h->groups[0].name, "root");
  assert_int_equal (h->groups[0].gid, 0);
  assert_null (h->groups_error);
}

static const struct fact_never *never_at (const struct fact_host *h, const char *suffix)
{
  for (size_t i = 0; i < h->never_len; i++)
    if (str_has_suffix (h->never[i].entry, suffix))
      return &h->never[i];
  return NULL;
}

static void test_never_objects (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  cleanup_resolved struct resolved r = { 0 };
  const struct fact_host *h;
  struct stat st;

  ROOT_ONLY ();
  make_file ("ctl", "");
  assert_int_equal (symlink ("ctl", "ctl.link"), 0);
  assert_int_equal (symlink ("turn", "turn"), 0);
  h = ask (arena, &r, "{'never':['@/ctl.link','@/missing','@/turn','@/ctl/x','/']}")->host;
  assert_null (h->never_error);
  assert_int_equal (h->never_len, 2);
  assert_true (str_has_suffix (never_at (h, "/ctl.link")->path, "/ctl"));
  assert_int_equal (stat ("ctl", &st), 0);
  assert_int_equal (never_at (h, "/ctl.link")->ino, st.st_ino);
  assert_int_equal (never_at (h, "/ctl.link")->dev, st.st_dev);
  assert_string_equal (never_at (h, "/ctl.link")->kind, "file");
}

/* The account's own passwd file takes the place of the host's for the while.  */
static void test_homes (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  cleanup_resolved struct resolved r = { 0 };
  const struct fact_host *h;
  char text[256];

  ROOT_ONLY ();
  make_dir ("home");
  make_dir ("home/.ssh");
  make_dir ("home/.config");
  make_dir ("home/.config/gcloud");
  snprintf (text, sizeof text,
            "a:x:1:1::%s/home:/bin/sh\nb:x:2:2::%s/home:/bin/sh\nc:x:3:3::/nonexistent:\n"
            "d:x:4:4:::/bin/sh\n",
            place, place);
  make_file ("passwd", text);
  assert_int_equal (mount ("passwd", "/etc/passwd", NULL, MS_BIND, NULL), 0);
  h = ask (arena, &r, "{'homes':true,'homeNames':['.ssh','.config/gcloud','.aws']}")->host;
  assert_int_equal (umount2 ("/etc/passwd", 0), 0);
  assert_null (h->never_error);
  assert_int_equal (h->never_len, 3);
  assert_non_null (never_at (h, "/home"));
  assert_non_null (never_at (h, "/home/.ssh"));
  assert_non_null (never_at (h, "/home/.config/gcloud"));
}

static void test_engine_roots (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  cleanup_resolved struct resolved r = { 0 };
  const struct fact_host *h;

  ROOT_ONLY ();
  make_dir ("docker");
  make_file ("notadir", "");
  assert_int_equal (symlink ("docker", "docker.link"), 0);
  h = ask (arena, &r, "{'engineRoots':['@/docker.link','@/missing','@/notadir']}")->host;
  assert_int_equal (h->engine_roots_len, 1);
  assert_true (str_has_suffix (h->engine_roots[0], "/docker"));
}

int main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_namespace_by_magic_link),
    cmocka_unit_test (test_namespace_by_file),
    cmocka_unit_test (test_no_namespace_is_never_opened),
    cmocka_unit_test (test_host_namespaces),
    cmocka_unit_test (test_hook_by_process),
    cmocka_unit_test (test_hook_by_path),
    cmocka_unit_test (test_descriptors),
    cmocka_unit_test (test_closed_descriptor),
    cmocka_unit_test (test_identity),
    cmocka_unit_test (test_never_objects),
    cmocka_unit_test (test_homes),
    cmocka_unit_test (test_engine_roots),
  };
  return cmocka_run_group_tests (tests, place_setup, place_teardown);
}
