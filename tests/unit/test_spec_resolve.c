/* SPDX-License-Identifier: Apache-2.0 */
/* src/spec/resolve_source.c: bind sources and the root file system.  Needs root.  */
#include "spec_place.h"

static void test_facts_of_a_directory (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  cleanup_resolved struct resolved r = { 0 };
  const struct fact_source *s;
  struct stat st;

  ROOT_ONLY ();
  make_dir ("facts");
  make_dir ("facts/work");
  assert_int_equal (chmod ("facts", 01770), 0);
  assert_int_equal (chown ("facts/work", 1000, 1001), 0);
  assert_int_equal (chmod ("facts/work", 02750), 0);
  assert_int_equal (symlink ("facts/work", "link"), 0);
  assert_int_equal (stat ("facts/work", &st), 0);
  s = ask (arena, &r, "{'sources':[{'pointer':'/mounts/0/source','path':'@/link'}]}")->sources;
  assert_null (s->error);
  assert_string_equal (s->pointer, "/mounts/0/source");
  assert_true (str_has_suffix (s->source, "/link"));
  assert_true (str_has_suffix (s->path, "/facts/work"));
  assert_string_equal (s->kind, "directory");
  assert_int_equal (s->dev, st.st_dev);
  assert_int_equal (s->ino, st.st_ino);
  assert_int_equal (s->uid, 1000);
  assert_int_equal (s->gid, 1001);
  assert_int_equal (s->mode, 02750);
  assert_string_equal (s->fs_type, "tmpfs");
  assert_string_equal (s->mount_root, "/");
  assert_false (s->mount_point);
  assert_int_equal (s->mount_dev, st.st_dev);
  assert_int_equal (s->chain_len, 4);
  assert_string_equal (s->chain[0].path, "/");
  assert_string_equal (s->chain[1].path, "/tmp");
  assert_string_equal (s->chain[2].path, place);
  assert_true (str_has_suffix (s->chain[3].path, "/facts"));
  assert_int_equal (s->chain[3].mode, 01770);
  assert_null (s->walk);
}

static void test_root_and_mount_point (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  cleanup_resolved struct resolved r = { 0 };
  const struct fact_source *s;
  struct stat st;

  ROOT_ONLY ();
  s = ask (arena, &r, "{'sources':[{'path':'/'},{'path':'@'}]}")->sources;
  assert_string_equal (s[0].path, "/");
  assert_int_equal (s[0].chain_len, 0);
  assert_true (s[0].mount_point);
  assert_int_equal (stat ("/tmp", &st), 0);
  assert_true (s[1].mount_point);
  assert_int_equal (s[1].mount_dev, st.st_dev);
  assert_true (s[1].dev != s[1].mount_dev);
}

static void test_mount_root_of_a_bind (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  cleanup_resolved struct resolved r = { 0 };
  const struct fact_source *s;

  ROOT_ONLY ();
  make_dir ("with space");
  make_dir ("with space/in");
  make_dir ("bound");
  assert_int_equal (mount ("with space", "bound", NULL, MS_BIND, NULL), 0);
  s = ask (arena, &r, "{'sources':[{'path':'@/bound/in'}]}")->sources;
  assert_string_equal (s->mount_root, "/with space");
  assert_true (str_has_suffix (s->path, "/bound/in"));
}

static void test_what_cannot_be_opened (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  cleanup_resolved struct resolved r = { 0 };
  const struct fact_source *s;

  ROOT_ONLY ();
  make_file ("plain", "");
  assert_int_equal (symlink ("loop", "loop"), 0);
  s = ask (arena, &r,
           "{'sources':[{'path':'@/none'},{'path':'@/plain/x'},{'path':'@/loop'},"
           "{'path':'/proc/self/root/etc'},{'path':''},{},{'path':'rel'}]}")
          ->sources;
  assert_string_equal (s[0].error, "ENOENT");
  assert_string_equal (s[0].step, "open");
  assert_int_equal (s[0].descriptor, -1);
  assert_null (s[0].path);
  assert_string_equal (s[1].error, "ENOTDIR");
  assert_string_equal (s[2].error, "ELOOP");
  assert_string_equal (s[3].error, "ELOOP");
  for (int i = 4; i < 7; i++)
    assert_non_null (s[i].error);
  assert_int_equal (r.descriptors_len, 0);
}

static void test_relative_to_the_bundle (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  cleanup_resolved struct resolved r = { 0 };
  const struct facts *f;

  ROOT_ONLY ();
  make_dir ("bundle");
  make_dir ("bundle/data");
  make_file ("bundle/config.json", "{}");
  assert_int_equal (chmod ("bundle/config.json", 0664), 0);
  f = ask (arena, &r, "{'bundle':'@/bundle','sources':[{'path':'data'},{'path':'../bundle'}]}");
  assert_true (str_has_suffix (f->sources[0].path, "/bundle/data"));
  assert_true (str_has_suffix (f->sources[1].path, "/bundle"));
  assert_int_equal (f->bundle_mode, 0755);
  assert_int_equal (f->config_mode, 0664);
  resolved_free (&r);
  f = ask (arena, &r, "{'bundle':'@/nothing','sources':[{'path':'data'}]}");
  assert_string_equal (f->bundle_error, "ENOENT");
  assert_string_equal (f->sources[0].error, "ENOENT");
}

/* What this is all for: neither a mount over the source nor another object in its place reaches the
 * tree.  */
static void test_the_object_stays_the_object (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  cleanup_resolved struct resolved r = { 0 };
  const struct fact_source *s;
  struct stat st;
  int tree;

  ROOT_ONLY ();
  make_dir ("object");
  make_file ("object/mark", "");
  s = ask (arena, &r, "{'sources':[{'path':'@/object','recursive':true}]}")->sources;
  tree = r.descriptors[s->descriptor];
  assert_int_equal (fcntl (tree, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  assert_int_equal (mount ("tmpfs", "object", "tmpfs", 0, NULL), 0);
  assert_int_equal (fstatat (tree, "mark", &st, 0), 0);
  assert_int_equal (umount2 ("object", 0), 0);
  assert_int_equal (rename ("object", "object.old"), 0);
  make_dir ("object");
  assert_int_equal (fstatat (tree, "mark", &st, 0), 0);
  assert_int_equal (fstat (tree, &st), 0);
  assert_int_equal (st.st_ino, s->ino);
}

static const struct fact_nested *nested_at (const struct fact_source *s, const char *path)
{
  for (size_t i = 0; i < s->nested_len; i++)
    if (strcmp (s->nested[i].path, path) == 0)
      return &s->nested[i];
  return NULL;
}

static void test_mounts_below (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  cleanup_resolved struct resolved r = { 0 };
  const struct fact_source *s;
  struct stat st;

  ROOT_ONLY ();
  make_dir ("tree");
  make_dir ("tree/dir");
  make_dir ("tree/covered");
  make_dir ("tree/unbindable");
  make_dir ("treeish");
  make_file ("tree/file", "");
  assert_int_equal (mount ("tmpfs", "tree/dir", "tmpfs", 0, NULL), 0);
  make_dir ("tree/dir/deep");
  assert_int_equal (mount ("proc", "tree/dir/deep", "proc", 0, NULL), 0);
  assert_int_equal (mount ("plain", "tree/file", NULL, MS_BIND, NULL), 0);
  assert_int_equal (mount ("tmpfs", "treeish", "tmpfs", 0, NULL), 0);
  assert_int_equal (mount ("tmpfs", "tree/unbindable", "tmpfs", 0, NULL), 0);
  assert_int_equal (mount (NULL, "tree/unbindable", NULL, MS_UNBINDABLE, NULL), 0);
  s = ask (arena, &r,
           "{'sources':[{'path':'@/tree','recursive':true,'walk':true},"
           "{'path':'@/tree','walk':true},{'path':'@/tree','recursive':true}]}")
          ->sources;
  for (int i = 0; i < 3; i += 2)
    {
      assert_int_equal (s[i].nested_len, 3);
      assert_string_equal (nested_at (&s[i], "dir")->fs_type, "tmpfs");
      assert_string_equal (nested_at (&s[i], "dir/deep")->fs_type, "proc");
      assert_int_equal (stat ("tree/dir", &st), 0);
      assert_int_equal (nested_at (&s[i], "dir")->dev, st.st_dev);
      assert_non_null (nested_at (&s[i], "file"));
    }
  assert_int_equal (s[1].nested_len, 0);
  assert_int_equal (s[1].walk->entries, 4);
  assert_true (s[1].walk->complete);
  assert_int_equal (fstatat (r.descriptors[s[1].descriptor], "dir/deep", &st, 0), -1);
  assert_int_equal (umount2 ("tree/dir/deep", 0), 0);
}

static void test_sockets_as_sources (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  cleanup_resolved struct resolved r = { 0 };
  const struct fact_source *s;
  int live;

  ROOT_ONLY ();
  live = make_socket ("live.sock", SOCK_STREAM);
  close (make_socket ("dead.sock", SOCK_STREAM));
  assert_int_equal (mkfifo ("pipe", 0600), 0);
  s = ask (arena, &r,
           "{'sources':[{'path':'@/live.sock'},{'path':'@/dead.sock','walk':true},"
           "{'path':'@/pipe','walk':true},{'path':'/dev/null'}]}")
          ->sources;
  assert_string_equal (s[0].kind, "socket");
  assert_true (s[0].has_live && s[0].live);
  assert_true (s[1].has_live && !s[1].live);
  assert_null (s[1].walk);
  assert_string_equal (s[2].kind, "fifo");
  assert_false (s[2].has_live);
  assert_string_equal (s[3].kind, "char");
  assert_int_equal (s[3].rdev, 0x103);
  close (live);
}

static void test_root_file_system (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  cleanup_resolved struct resolved r = { 0 };
  const struct facts *f;

  ROOT_ONLY ();
  make_dir ("rootfs");
  make_dir ("rootfs/proc");
  assert_int_equal (symlink ("/proc", "rootfs/sys"), 0);
  f = ask (arena, &r,
           "{'bundle':'@','rootfs':{'pointer':'/root/path','path':'rootfs',"
           "'recursive':true}}");
  assert_null (f->rootfs->error);
  assert_true (f->rootfs->descriptor >= 0);
  assert_int_equal (f->root_members_len, 3);
  assert_string_equal (f->root_members[0].path, "/proc");
  assert_string_equal (f->root_members[0].kind, "directory");
  assert_string_equal (f->root_members[1].kind, "symlink");
  assert_string_equal (f->root_members[2].kind, "absent");
  resolved_free (&r);
  f = ask (arena, &r, "{'bundle':'@','rootfs':{'path':'nothing'}}");
  assert_string_equal (f->rootfs->error, "ENOENT");
  assert_int_equal (f->root_members_len, 0);
}

/* An ordinary user gets facts, not an end.  */
static void without_privilege (void)
{
  struct arena *arena = arena_new ();
  struct resolved r = { 0 };
  const struct facts *f;

  CHILD_CHECK (setgid (65534) == 0 && setuid (65534) == 0);
  f = ask (arena, &r,
           "{'sources':[{'path':'@/open','walk':true},{'path':'@/shut/x'}],"
           "'hostNamespaces':true,'never':['@/shut/x','/etc']}");
  CHILD_CHECK (str_equal (f->sources[0].error, "EPERM"));
  CHILD_CHECK (str_equal (f->sources[0].step, "clone"));
  CHILD_CHECK (str_equal (f->sources[1].error, "EACCES"));
  CHILD_CHECK (f->host->never_error == NULL && f->host->never_len == 2);
  CHILD_CHECK (!f->host->never[0].has_ino && f->host->never[1].has_ino);
  CHILD_CHECK (f->host->uid == 65534);
}

static void test_without_privilege (void **state)
{
  ROOT_ONLY ();
  make_dir ("open");
  make_dir ("shut");
  make_file ("shut/x", "");
  assert_int_equal (chmod ("shut", 0700), 0);
  in_child (without_privilege);
}

int main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_facts_of_a_directory),
    cmocka_unit_test (test_root_and_mount_point),
    cmocka_unit_test (test_mount_root_of_a_bind),
    cmocka_unit_test (test_what_cannot_be_opened),
    cmocka_unit_test (test_relative_to_the_bundle),
    cmocka_unit_test (test_the_object_stays_the_object),
    cmocka_unit_test (test_mounts_below),
    cmocka_unit_test (test_sockets_as_sources),
    cmocka_unit_test (test_root_file_system),
    cmocka_unit_test (test_without_privilege),
  };
  return cmocka_run_group_tests (tests, place_setup, place_teardown);
}
