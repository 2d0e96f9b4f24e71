/* SPDX-License-Identifier: Apache-2.0 */
/* src/spec/walk*.c: what is found in a directory, and how a walk that can't end is ended.  Needs
 * root.  */
#include "spec_place.h"

#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

#include "spec/walk.h"

static void test_credential_names (void **state)
{
  static const char *const yes[] = { ".env",       ".env.production", ".ssh",   "id_rsa",
                                     "server.pem", "github_token",    ".npmrc", "a.key" };
  static const char *const no[] = { ".env.example", ".envelope",  "tokenizer.py",
                                    "tokens.css",   "id_rsa.pub", "env",
                                    "keys",         "pem",        "README" };

  (void)state;
  for (size_t i = 0; i < ARRAY_SIZE (yes); i++)
    assert_true (is_credential_name (yes[i]));
  for (size_t i = 0; i < ARRAY_SIZE (no); i++)
    assert_false (is_credential_name (no[i]));
}

static void test_sockets_and_the_like (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  cleanup_resolved struct resolved r = { 0 };
  const struct fact_walk *w;
  int stream, datagram, sequence;

  ROOT_ONLY ();
  make_dir ("things");
  make_dir ("things/a");
  make_dir ("things/a/b");
  stream = make_socket ("things/a/b/stream", SOCK_STREAM);
  datagram = make_socket ("things/a/datagram", SOCK_DGRAM);
  sequence = make_socket ("things/sequence", SOCK_SEQPACKET);
  close (make_socket ("things/dead", SOCK_STREAM));
  assert_int_equal (chown ("things/dead", 1000, 1000), 0);
  assert_int_equal (mkfifo ("things/a/fifo", 0600), 0);
  assert_int_equal (mknod ("things/a/null", S_IFCHR | 0600, 0x103), 0);
  assert_int_equal (mknod ("things/a/disk", S_IFBLK | 0600, 0x700), 0);
  assert_int_equal (symlink ("a/b/stream", "things/link"), 0);
  assert_int_equal (symlink ("/run", "things/run"), 0);
  make_file ("things/file", "");
  for (int recursive = 0; recursive < 2; recursive++)
    {
      w = ask (arena, &r,
               recursive ? "{'sources':[{'path':'@/things','walk':true,'recursive':true}]}"
                         : "{'sources':[{'path':'@/things','walk':true}]}")
              ->sources->walk;
      assert_true (w->complete);
      assert_null (w->reason);
      assert_int_equal (w->entries, 12);
      assert_int_equal (w->found_len, 7);
      assert_true (found_at (w, "a/b/stream", "socket")->live);
      assert_true (found_at (w, "a/datagram", "socket")->live);
      assert_true (found_at (w, "sequence", "socket")->live);
      assert_true (found_at (w, "dead", "socket")->has_live);
      assert_false (found_at (w, "dead", "socket")->live);
      assert_int_equal (found_at (w, "dead", "socket")->uid, 1000);
      assert_non_null (found_at (w, "a/fifo", "fifo"));
      assert_non_null (found_at (w, "a/null", "char"));
      assert_non_null (found_at (w, "a/disk", "block"));
      resolved_free (&r);
    }
  /* The server never learned of it.  */
  assert_int_equal (poll (&(struct pollfd){ .fd = stream, .events = POLLIN }, 1, 0), 0);
  close (stream);
  close (datagram);
  close (sequence);
}

/* A server in another network namespace, as every container engine's in a container is.  */
static void in_another_network (void)
{
  struct arena *arena = arena_new ();
  struct resolved r = { 0 };
  const struct fact_walk *w;

  CHILD_CHECK (unshare (CLONE_NEWNET) == 0);
  w = ask (arena, &r, "{'sources':[{'path':'@/far','walk':true}]}")->sources->walk;
  CHILD_CHECK (w->found_len == 1 && w->found[0].has_live && w->found[0].live);
}

static void test_live_in_another_network_namespace (void **state)
{
  int fd;

  ROOT_ONLY ();
  make_dir ("far");
  fd = make_socket ("far/sock", SOCK_STREAM);
  in_child (in_another_network);
  close (fd);
}

static void test_never_objects_by_inode (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  cleanup_resolved struct resolved r = { 0 };
  const struct fact_source *s;

  ROOT_ONLY ();
  make_dir ("secret");
  make_file ("secret/key", "");
  make_dir ("secret/dir");
  make_dir ("mine");
  make_dir ("mine/x");
  make_dir ("mine/bound");
  assert_int_equal (link ("secret/key", "mine/x/innocent"), 0);
  assert_int_equal (mount ("secret/dir", "mine/bound", NULL, MS_BIND, NULL), 0);
  s = ask (arena, &r,
           "{'never':['@/secret/key','@/secret/dir','@/none'],'sources':["
           "{'path':'@/mine','walk':true,'recursive':true},{'path':'@/mine','walk':true}]}")
          ->sources;
  assert_int_equal (r.facts->host->never_len, 2);
  assert_string_equal (found_at (s[0].walk, "x/innocent", "never")->entry,
                       r.facts->host->never[0].entry);
  assert_string_equal (found_at (s[0].walk, "bound", "never")->entry,
                       r.facts->host->never[1].entry);
  /* Without the mounts below, `bound` is the empty directory under them.  */
  assert_non_null (found_at (s[1].walk, "x/innocent", "never"));
  assert_null (found_at (s[1].walk, "bound", "never"));
}

/* The same number on another file system is another object.  */
static void test_never_objects_by_device (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  cleanup_resolved struct resolved r = { 0 };
  const struct fact_walk *w;
  struct stat one, other;

  ROOT_ONLY ();
  make_dir ("one");
  make_dir ("other");
  assert_int_equal (mount ("tmpfs", "one", "tmpfs", 0, NULL), 0);
  assert_int_equal (mount ("tmpfs", "other", "tmpfs", 0, NULL), 0);
  make_file ("one/x", "");
  make_file ("other/x", "");
  assert_int_equal (stat ("one/x", &one), 0);
  assert_int_equal (stat ("other/x", &other), 0);
  assert_int_equal (one.st_ino, other.st_ino);
  w = ask (arena, &r, "{'never':['@/one/x'],'sources':[{'path':'@/other','walk':true}]}")
          ->sources->walk;
  assert_int_equal (w->found_len, 0);
}

static void test_credentials_to_depth_two (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  cleanup_resolved struct resolved r = { 0 };
  const struct fact_walk *w;

  ROOT_ONLY ();
  make_dir ("creds");
  make_dir ("creds/.ssh");
  make_dir ("creds/sub");
  make_dir ("creds/sub/sub");
  make_file ("creds/.env", "");
  make_file ("creds/sub/.npmrc", "");
  make_file ("creds/sub/sub/.netrc", "");
  assert_int_equal (symlink ("/nothing", "creds/id_rsa"), 0);
  w = ask (arena, &r, "{'sources':[{'path':'@/creds','walk':true}]}")->sources->walk;
  assert_int_equal (w->found_len, 3);
  assert_non_null (found_at (w, ".ssh", "credential"));
  assert_non_null (found_at (w, ".env", "credential"));
  assert_non_null (found_at (w, "sub/.npmrc", "credential"));
}

static void test_budget_of_entries_is_shared (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  cleanup_resolved struct resolved r = { 0 };
  const struct fact_source *s;
  char name[32];

  ROOT_ONLY ();
  make_dir ("many");
  for (int i = 0; i < 100; i++)
    {
      snprintf (name, sizeof name, "many/%d", i);
      make_file (name, "");
    }
  s = ask (arena, &r,
           "{'scanEntries':150,'sources':[{'path':'@/many','walk':true},"
           "{'path':'@/many','walk':true},{'path':'@/many'}]}")
          ->sources;
  assert_true (s[0].walk->complete);
  assert_int_equal (s[0].walk->entries, 100);
  assert_false (s[1].walk->complete);
  assert_string_equal (s[1].walk->reason, "entries");
  assert_int_equal (s[1].walk->entries, 50);
  assert_non_null (s[1].walk->at);
  assert_null (s[2].walk);
}

static void test_too_many_objects (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  cleanup_resolved struct resolved r = { 0 };
  const struct fact_walk *w;
  char name[32];

  ROOT_ONLY ();
  make_dir ("fifos");
  for (int i = 0; i < 4200; i++)
    {
      snprintf (name, sizeof name, "fifos/%d", i);
      assert_int_equal (mkfifo (name, 0600), 0);
    }
  w = ask (arena, &r, "{'sources':[{'path':'@/fifos','walk':true}]}")->sources->walk;
  assert_false (w->complete);
  assert_string_equal (w->reason, "objects");
}

static void test_no_time_at_all (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  cleanup_resolved struct resolved r = { 0 };
  const struct fact_walk *w;

  ROOT_ONLY ();
  make_dir ("late");
  make_file ("late/x", "");
  w = ask (arena, &r, "{'scanSeconds':0,'sources':[{'path':'@/late','walk':true}]}")->sources->walk;
  assert_false (w->complete);
  assert_string_equal (w->reason, "seconds");
}

/* A path that no system call takes any more: the walk says so instead of passing over it.  */
static void test_too_deep (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  cleanup_resolved struct resolved r = { 0 };
  const struct fact_walk *w;
  char name[201];

  ROOT_ONLY ();
  memset (name, 'd', 200);
  name[200] = '\0';
  make_dir ("deep");
  assert_int_equal (chdir ("deep"), 0);
  for (int i = 0; i < 25; i++)
    {
      make_dir (name);
      assert_int_equal (chdir (name), 0);
    }
  assert_int_equal (mkfifo ("hidden", 0600), 0);
  assert_int_equal (chdir (place), 0);
  w = ask (arena, &r, "{'sources':[{'path':'@/deep','walk':true}]}")->sources->walk;
  assert_false (w->complete);
  assert_string_equal (w->reason, "ENAMETOOLONG");
}

/* A server that never answers, mounted below the source: the walk ends at its deadline.  */
static void test_a_file_system_that_hangs (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  cleanup_resolved struct resolved r = { 0 };
  const struct fact_source *s;
  struct timespec before, after;
  char options[64];
  int fuse;

  ROOT_ONLY ();
  fuse = open ("/dev/fuse", O_RDWR | O_CLOEXEC);
  if (fuse < 0)
    {
      print_message ("no /dev/fuse: skipped\n");
      skip ();
    }
  make_dir ("hang");
  make_dir ("hang/mount");
  snprintf (options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0", fuse);
  assert_int_equal (mount ("none", "hang/mount", "fuse", 0, options), 0);
  clock_gettime (CLOCK_MONOTONIC, &before);
  alarm (20);
  s = ask (arena, &r,
           "{'scanSeconds':1,'sources':[{'path':'@/hang','walk':true,'recursive':true}]}")
          ->sources;
  alarm (0);
  clock_gettime (CLOCK_MONOTONIC, &after);
  assert_int_equal (s->nested_len, 1);
  assert_string_equal (s->nested[0].fs_type, "fuse");
  assert_false (s->walk->complete);
  assert_string_equal (s->walk->reason, "seconds");
  assert_true (after.tv_sec - before.tv_sec < 10);
  close (fuse);
  umount2 ("hang/mount", MNT_DETACH);
}

/* CAP_SYS_ADMIN to clone, and nothing that passes over modes.  */
static void with_one_capability (void)
{
  struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
  struct __user_cap_data_struct data[2] = { { 0 } };
  struct arena *arena = arena_new ();
  struct resolved r = { 0 };
  const struct fact_walk *w;

  CHILD_CHECK (prctl (PR_SET_KEEPCAPS, 1) == 0 && setgid (65534) == 0 && setuid (65534) == 0);
  data[0].effective = data[0].permitted = 1U << CAP_SYS_ADMIN;
  CHILD_CHECK (syscall (SYS_capset, &header, data) == 0);
  w = ask (arena, &r, "{'sources':[{'path':'@/half','walk':true}]}")->sources->walk;
  CHILD_CHECK (w != NULL && !w->complete);
  CHILD_CHECK (str_equal (w->reason, "EACCES") && str_has_prefix (w->at, "shut"));
  /* The rest was looked at all the same.  No right to connect: nothing is said about the socket. */
  CHILD_CHECK (found_at (w, "open/fifo", "fifo") != NULL);
  CHILD_CHECK (found_at (w, "sock", "socket") != NULL && !found_at (w, "sock", "socket")->has_live);
}

static void test_what_cannot_be_read (void **state)
{
  ROOT_ONLY ();
  make_dir ("half");
  make_dir ("half/shut");
  make_dir ("half/open");
  assert_int_equal (mkfifo ("half/open/fifo", 0600), 0);
  close (make_socket ("half/sock", SOCK_STREAM));
  assert_int_equal (chmod ("half/sock", 0600), 0);
  assert_int_equal (chmod ("half/shut", 0700), 0);
  in_child (with_one_capability);
}

/* Engines may leave SIGCHLD ignored: children then vanish without a status.  */
static void with_sigchld_ignored (void)
{
  struct arena *arena = arena_new ();
  struct resolved r = { 0 };

  signal (SIGCHLD, SIG_IGN);
  CHILD_CHECK (
      ask (arena, &r, "{'sources':[{'path':'@/late','walk':true}]}")->sources->walk->complete);
}

static void test_sigchld_ignored (void **state)
{
  ROOT_ONLY ();
  in_child (with_sigchld_ignored);
}

int main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_credential_names),
    cmocka_unit_test (test_sockets_and_the_like),
    cmocka_unit_test (test_live_in_another_network_namespace),
    cmocka_unit_test (test_never_objects_by_inode),
    cmocka_unit_test (test_never_objects_by_device),
    cmocka_unit_test (test_credentials_to_depth_two),
    cmocka_unit_test (test_budget_of_entries_is_shared),
    cmocka_unit_test (test_too_many_objects),
    cmocka_unit_test (test_no_time_at_all),
    cmocka_unit_test (test_too_deep),
    cmocka_unit_test (test_a_file_system_that_hangs),
    cmocka_unit_test (test_what_cannot_be_read),
    cmocka_unit_test (test_sigchld_ignored),
  };
  return cmocka_run_group_tests (tests, place_setup, place_teardown);
}
