/* SPDX-License-Identifier: Apache-2.0 */
/* The policy file: each mistake with its file, line and key; where it may lie; profiles, patterns,
   values.  The cases about owners need root and are skipped without.  */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "policy/internal.h"

/* ---- mistakes ---- */

/* A file whose fourth line is LINE; the other keys are as they must be.  */
#define HEAD "{\n  // a comment, which counts as a line\n  \"version\": 1, \"never\": [],\n"

static const struct
{
  const char *line;
  const char *problem; /* behind "FILE:" */
} mistakes[] = {
  { "\"version\": 1", "4: /version: " }, /* the parser's own words: a duplicate */
  { "\"mode\": \"off\"", "4: /mode: must be \"enforce\" or \"audit\"" },
  { "\"extends\": \"builtin:lax\"", "4: /extends: there is no profile builtin:lax" },
  { "\"locked\": \"yes\"", "4: /locked: expected true or false" },
  { "\"loked\": true", "4: /loked: unknown key" },
  { "\"Mode\": \"audit\"", "4: /Mode: " }, /* differs by case */
  { "\"rules\": {\"user.rot\": \"off\"}", "4: /rules/user.rot: there is no rule user.rot" },
  { "\"rules\": {\"user.root\": \"tighten\"}",
    "4: /rules/user.root: can't be tighten; it can be set to: reject, warn, off" },
  { "\"rules\": {\"user.root\": \"deny\"}", "4: /rules/user.root: can't be deny" },
  { "\"rules\": {\"mount.never\": \"off\"}",
    "4: /rules/mount.never: can't be off; it can be set to: reject" },
  { "\"rules\": {\"json.duplicate\": \"off\"}", "4: /rules/json.duplicate: is fixed" },
  { "\"rules\": {\"checkpoint.use\": \"off\"}",
    "4: /rules/checkpoint.use: not supported by this build" },
  { "\"grants\": [{}]", "4: /grants/0/kind: is missing" },
  { "\"grants\": [{\"kind\": \"socket\", \"source\": \"/a\", \"reason\": \"x\"},\n{\"kind\": "
    "\"file\"}]",
    "5: /grants/1/kind: is not a kind of grant" },
  { "\"grants\": [{\"kind\": \"egress\", \"to\": \"10.0.0.1/32\"}]",
    "4: /grants/0/kind: not supported by this build" },
  { "\"grants\": [{\"kind\": \"mount\", \"source\": \"/srv/x\", \"reason\": \"x\"}]",
    "4: /grants/0/mode: is missing" },
  { "\"grants\": [{\"kind\": \"mount\", \"source\": \"/srv/x\", \"mode\": \"rw\"}]",
    "4: /grants/0/reason: is missing" },
  { "\"grants\": [{\"kind\": \"mount\", \"source\": \"srv\", \"mode\": \"rw\", \"reason\": \"x\"}]",
    "4: /grants/0/source: must be an absolute path" },
  { "\"grants\": [{\"kind\": \"mount\", \"source\": \"/srv/../etc\", \"mode\": \"rw\", \"reason\": "
    "\"x\"}]",
    "4: /grants/0/source: must be a canonical path" },
  { "\"grants\": [{\"kind\": \"mount\", \"source\": \"/a/**/b\", \"mode\": \"rw\", \"reason\": "
    "\"x\"}]",
    "4: /grants/0/source: has ** elsewhere" },
  { "\"grants\": [{\"kind\": \"mount\", \"source\": \"/\", \"mode\": \"rw\", \"reason\": \"x\"}]",
    "4: /grants/0/source: can't be the whole file system" },
  { "\"grants\": [{\"kind\": \"mount\", \"source\": \"/var/run\", \"mode\": \"rw\", \"reason\": "
    "\"x\"}]",
    "4: /grants/0/source: is /run: a host directory" },
  { "\"grants\": [{\"kind\": \"socket\", \"source\": \"/var/run/docker.sock\", \"reason\": \"x\"}]",
    "4: /grants/0/source: is /run/docker.sock: the control socket" },
  { "\"grants\": [{\"kind\": \"mount\", \"source\": \"/srv\", \"mode\": \"w\", \"reason\": \"x\"}]",
    "4: /grants/0/mode: must be \"ro\" or \"rw\"" },
  { "\"grants\": [{\"kind\": \"mount\", \"source\": \"/srv\", \"mode\": \"rw\", \"reason\": \"x\", "
    "\"protect\": [\"/.git\"]}]",
    "4: /grants/0/protect/0: must be a path below the source" },
  { "\"grants\": [{\"kind\": \"capability\", \"name\": \"SYS_ADMIN\", \"reason\": \"x\"}]",
    "4: /grants/0/name: is not a capability" },
  { "\"grants\": [{\"kind\": \"syscall\", \"name\": \"bpf\", \"reason\": \"x\"}]",
    "4: /grants/0/name: is not a group that can be granted" },
  { "\"grants\": [{\"kind\": \"user\", \"uid\": 4294967295, \"reason\": \"x\"}]",
    "4: /grants/0/uid: expected an integer" },
  { "\"grants\": [{\"kind\": \"user\", \"uid\": 0, \"name\": \"root\", \"reason\": \"x\"}]",
    "4: /grants/0/name: means nothing" },
  { "\"grants\": [{\"kind\": \"user\", \"uid\": 0, \"reason\": \"x\", \"expires\": \"soon\"}]",
    "4: /grants/0/expires: must be a date" },
  { "\"grants\": [{\"kind\": \"user\", \"uid\": 0, \"reason\": \"x\", \"expires\": "
    "\"2027-13-01\"}]",
    "4: /grants/0/expires: is not a date" },
  { "\"grants\": [{\"kind\": \"device\", \"path\": \"/dev/kvm\", \"access\": \"x\", \"reason\": "
    "\"x\"}]",
    "4: /grants/0/access: must be made of r, w, m" },
  { "\"grants\": [{\"kind\": \"hook\", \"path\": \"/x\", \"sha256\": \"AB\", \"reason\": \"x\"}]",
    "4: /grants/0/sha256: must be 64" },
  { "\"grants\": [{\"kind\": \"namespace\", \"name\": \"net\", \"of\": \"host\", \"reason\": "
    "\"x\"}]",
    "4: /grants/0/name: is not a namespace type" },
  { "\"grants\": [{\"kind\": \"namespace\", \"name\": \"ipc\", \"of\": \"all\", \"reason\": "
    "\"x\"}]",
    "4: /grants/0/of: must be \"host\" or" },
  { "\"limits\": {\"memory\": {\"max\": \"8GB\"}}", "4: /limits/memory/max: is not a value" },
  { "\"limits\": {\"memory\": {\"max\": \"1GiB\"}}",
    "4: /limits/memory/max: is less than the default" },
  { "\"limits\": {\"memory\": {\"default\": \"12\"}}",
    "4: /limits/memory/default: is not a value" },
  { "\"limits\": {\"pids\": {\"max\": -1}}", "4: /limits/pids/max: is not a value" },
  { "\"limits\": {\"cpu\": {\"default\": \"0.0005\"}}", "4: /limits/cpu/default: is not a value" },
  { "\"limits\": {\"tmpfs\": {\"max\": \"swap\"}}", "4: /limits/tmpfs/max: is not a value" },
  { "\"limits\": {\"wall_clock\": {\"max\": \"1h\"}}", "4: /limits/wall_clock: not supported" },
  { "\"scan\": {\"seconds\": 0}", "4: /scan/seconds: expected an integer from 1 to 3600" },
  { "\"network\": {\"egress\": \"none\"}", "4: /network: not supported by this build" },
  { "\"audit\": {\"required\": true}", "4: /audit: not supported by this build" },
  { "\"supervision\": \"required\"", "4: /supervision: not supported by this build" },
  { "\"environment\": {\"secrets\": \"tighten\"}", "4: /environment/secrets: must be" },
};

static int parse_text (struct arena *arena, const char *text, struct problems *problems,
                       struct policy *policy)
{
  *policy = (struct policy){ .arena = arena, .name = arena_strdup (arena, "P") };
  *problems = (struct problems){ .arena = arena };
  strcpy (policy->today, "2026-06-15");
  return policy_parse (policy, "P", text, strlen (text), problems);
}

static void test_mistakes (void **state)
{
  (void)state;
  for (size_t i = 0; i < ARRAY_SIZE (mistakes); i++)
    {
      cleanup_arena struct arena *arena = arena_new ();
      char *text = arena_printf (arena, HEAD "  %s\n}\n", mistakes[i].line);
      struct problems problems;
      struct policy policy;
      char *wanted = arena_printf (arena, "P:%s", mistakes[i].problem);
      bool found = false;

      assert_int_equal (parse_text (arena, text, &problems, &policy), -EINVAL);
      assert_true (problems.len > 0);
      for (size_t k = 0; k < problems.len; k++)
        found |= str_has_prefix (problems.lines[k], wanted);
      if (!found)
        fail_msg ("%s gives %s, not %s", mistakes[i].line, problems.lines[0], wanted);
    }
}

static void test_missing_keys (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  struct problems problems;
  struct policy policy;

  (void)state;
  assert_int_equal (parse_text (arena, "{}", &problems, &policy), -EINVAL);
  assert_int_equal (problems.len, 2);
  assert_string_equal (problems.lines[0], "P:1: /version: must be 1");
  assert_string_equal (problems.lines[1], "P:1: /never: is missing; it may be []");
  assert_int_equal (parse_text (arena, "", &problems, &policy), -EINVAL);
  assert_true (problems.len > 0);
  assert_int_equal (parse_text (arena, "{\"version\": 1, \"never\": [\"a\"]}", &problems, &policy),
                    -EINVAL);
  assert_true (str_has_prefix (problems.lines[0], "P:1: /never/0: must be an absolute path"));
}

static void test_all_at_once (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  struct problems problems;
  struct policy policy;

  (void)state;
  assert_int_equal (parse_text (arena,
                                "{\"version\": 2,\n\"mode\": \"x\",\n\"never\": [],\n"
                                "\"rules\": {\"a\": \"off\",\n\"b\": \"off\"}}",
                                &problems, &policy),
                    -EINVAL);
  assert_int_equal (problems.len, 4);
  assert_true (str_has_prefix (problems.lines[3], "P:5: /rules/b: "));
}

/* ---- what a file sets ---- */

static void test_settings (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  struct problems problems;
  struct policy policy;

  (void)state;
  int r = parse_text (
      arena,
      "{\"version\": 1, \"extends\": \"builtin:strict\", \"never\": [\"/srv/x\"], \"locked\": "
      "true,\n"
      "\"mode\": \"audit\", \"rules\": {\"user.gid-zero\": \"tighten\", \"mount.foreign\": "
      "\"off\"},\n"
      "\"engines\": {\"state\": [\"/data/docker\"]}, \"scan\": {\"seconds\": 7},\n"
      "\"limits\": {\"memory\": {\"default\": \"512MiB\"}, \"cpu\": {\"max\": \"2.5\"}, \"pids\": "
      "{\"max\": 600},\n"
      "\"tmpfs\": {\"max\": \"1GiB\", \"default\": \"64MiB\"}}}",
      &problems, &policy);
  assert_int_equal (r, 0);
  assert_true (policy.locked);
  assert_true (policy.audit);
  assert_int_equal (policy.settings[RULE_USER_GID_ZERO], ACTION_TIGHTEN);
  assert_false (policy.raised[RULE_USER_GID_ZERO]);
  assert_int_equal (policy.settings[RULE_MOUNT_FOREIGN], ACTION_OFF);
  assert_int_equal (policy.settings[RULE_CAPABILITY_DEFAULT], ACTION_REJECT);
  assert_true (policy.raised[RULE_MOUNT_SHARED_WRITER]);
  assert_int_equal (policy.values.memory.standard, 512 << 20);
  assert_int_equal (policy.values.memory.max, 8ULL << 30);
  assert_int_equal (policy.values.cpu.max, 2500);
  assert_int_equal (policy.values.pids.max, 600);
  assert_int_equal (policy.values.tmpfs.standard, 64 << 20);
  assert_false (policy.values.tmpfs_max_is_memory);
  assert_int_equal (policy.effective->scan->seconds, 7);
  assert_int_equal (policy.effective->scan->entries, 2000000);
  assert_string_equal (policy.effective->engines->state[0], "/data/docker");
}

/* ---- profiles ---- */

static void test_profiles (void **state)
{
  static const char *const names[] = { "builtin:default", "builtin:strict", "builtin:permissive" };

  (void)state;
  for (size_t i = 0; i < ARRAY_SIZE (names); i++)
    {
      cleanup_arena struct arena *arena = arena_new ();
      struct policy *policy = NULL;
      struct problems problems;
      struct policy again;
      struct error err = { 0 };

      assert_int_equal (policy_load (names[i], "agentrun", false, &policy, &err), 0);
      assert_string_equal (policy_name (policy), names[i]);
      assert_true (str_has_prefix (policy_digest (policy), "sha256:"));
      assert_false (policy_audit_mode (policy));
      /* What `policy show` prints is a policy file with the same effect.  */
      char *json = policy_to_json (policy, arena);
      int r = parse_text (arena, json, &problems, &again);
      if (r < 0)
        fail_msg ("%s: %s", names[i], problems.lines[0]);
      assert_memory_equal (again.settings, policy->settings, sizeof again.settings);
      assert_memory_equal (&again.values, &policy->values, sizeof again.values);
      policy_free (policy);
    }
}

static void test_unknown_profile (void **state)
{
  struct policy *policy = NULL;
  struct error err = { 0 };

  (void)state;
  assert_int_equal (policy_load ("builtin:lax", "agentrun", false, &policy, &err), -ENOENT);
  assert_non_null (strstr (err.message, "builtin:lax"));
  assert_null (policy);
}

static void test_catalogue (void **state)
{
  size_t built = 0, n = 0;

  (void)state;
  for (int rule = 0; rule < RULE_COUNT; rule++)
    {
      bool unbuilt = (rules[rule].flags & RULE_UNBUILT) != 0;

      assert_int_equal (rule_find (rules[rule].id), rule);
      assert_true ((rules[rule].allowed & (1U << rules[rule].standard)) != 0);
      built += !unbuilt;
      if ((policy_explain (rules[rule].id) == NULL) != unbuilt)
        fail_msg ("%s: explained or built, and not both", rules[rule].id);
    }
  for (const struct rule_help *const *h = policy_rules (); *h != NULL; h++, n++)
    {
      assert_non_null ((*h)->protects);
      assert_non_null ((*h)->looks_at);
      assert_non_null ((*h)->docker);
      assert_non_null ((*h)->podman);
      assert_non_null ((*h)->kubernetes);
      /* Validation's own ids are explained as well, and can't be set.  */
      if (str_has_prefix ((*h)->id, "config."))
        n--;
    }
  assert_int_equal (n, built);
  assert_int_equal (rule_find ("user"), -1);
  assert_null (policy_explain ("user"));
}

/* ---- where a file may lie ---- */

struct place
{
  char dir[64], file[96];
};

static int make_place (void **state)
{
  struct place *place = calloc (1, sizeof *place);

  strcpy (place->dir, "/root/agentrun-policy-XXXXXX");
  if (geteuid () == 0 && mkdtemp (place->dir) == NULL)
    return -1;
  snprintf (place->file, sizeof place->file, "%s/policy.json", place->dir);
  *state = place;
  return 0;
}

static int remove_place (void **state)
{
  struct place *place = *state;

  unlink (place->file);
  rmdir (place->dir);
  free (place);
  return 0;
}

static void write_policy (const struct place *place, const char *text, mode_t mode)
{
  cleanup_close int fd = -1;

  unlink (place->file);
  fd = open (place->file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  assert_true (fd >= 0);
  assert_int_equal (write (fd, text, strlen (text)), strlen (text));
  assert_int_equal (fchmod (fd, mode), 0);
}

#define GOOD "{\"version\": 1, \"never\": []}"

static int try_load (const char *path, struct error *err)
{
  struct policy *policy = NULL;
  int r = policy_load (path, "agentrun", false, &policy, err);

  policy_free (policy);
  return r;
}

static void test_place (void **state)
{
  struct place *place = *state;
  struct error err = { 0 };
  char link[128];

  if (geteuid () != 0)
    {
      print_message ("# needs root\n");
      skip ();
    }
  write_policy (place, GOOD, 0644);
  assert_int_equal (try_load (place->file, &err), 0);
  write_policy (place, GOOD, 0664);
  assert_int_equal (try_load (place->file, &err), -EPERM);
  assert_non_null (strstr (err.message, "writable by group or others"));
  write_policy (place, GOOD, 0644);
  assert_int_equal (chown (place->file, 1000, 1000), 0);
  assert_int_equal (try_load (place->file, &err), -EPERM);
  assert_non_null (strstr (err.message, "belongs to uid 1000"));
  write_policy (place, GOOD, 0644);
  assert_int_equal (chmod (place->dir, 0777), 0);
  assert_int_equal (try_load (place->file, &err), -EPERM);
  assert_non_null (strstr (err.message, "a directory above it"));
  assert_int_equal (chmod (place->dir, 0700), 0);
  snprintf (link, sizeof link, "%s/link", place->dir);
  assert_int_equal (symlink (place->file, link), 0);
  assert_true (try_load (link, &err) < 0);
  unlink (link);
  assert_int_equal (mkfifo (link, 0600), 0);
  assert_int_equal (try_load (link, &err), -EINVAL);
  assert_non_null (strstr (err.message, "not a regular file"));
  unlink (link);
  assert_int_equal (try_load (link, &err), -ENOENT);
  assert_true (try_load (place->dir, &err) < 0);
}

static void test_broken_file (void **state)
{
  struct place *place = *state;
  struct error err = { 0 };
  char *wanted = NULL;

  if (geteuid () != 0)
    {
      print_message ("# needs root\n");
      skip ();
    }
  write_policy (place, "{\"version\": 1,\n \"never\": [],\n \"mode\": 1}", 0644);
  assert_int_equal (try_load (place->file, &err), -EINVAL);
  assert_true (asprintf (&wanted, "policy %s:3: /mode: expected a string", place->file) > 0);
  assert_string_equal (err.message, wanted);
  free (wanted);
}

static void test_validate (void **state)
{
  cleanup_arena struct arena *arena = arena_new ();
  struct place *place = *state;
  struct error err = { 0 };
  char **lines = NULL;
  size_t len = 0;

  if (geteuid () != 0)
    {
      print_message ("# needs root\n");
      skip ();
    }
  write_policy (place, GOOD, 0644);
  assert_int_equal (policy_validate_file (place->file, arena, &lines, &len, &err), 0);
  assert_int_equal (len, 0);
  /* Loading takes an expired grant, which grants nothing; validating names it.  */
  write_policy (place,
                "{\"version\": 1, \"never\": [], \"grants\": [{\"kind\": \"user\", \"uid\": 0,\n"
                "\"reason\": \"x\", \"expires\": \"2001-01-01\"}]}",
                0644);
  assert_int_equal (try_load (place->file, &err), 0);
  assert_int_equal (policy_validate_file (place->file, arena, &lines, &len, &err), -EINVAL);
  assert_int_equal (len, 1);
  assert_non_null (strstr (lines[0], ":2: /grants/0/expires: expired on 2001-01-01"));
}

static void test_program_name (void **state)
{
  struct policy *policy = NULL;
  struct error err = { 0 };

  (void)state;
  assert_int_equal (policy_load (NULL, "agentrun-no-such-name", true, &policy, &err), -ENOENT);
  assert_non_null (strstr (err.message, "agentrun-no-such-name"));
  assert_null (policy);
  assert_int_equal (policy_load (NULL, "../x", true, &policy, &err), -EINVAL);
}

/* ---- the small parts ---- */

static void test_globs (void **state)
{
  static const struct
  {
    const char *pattern, *path;
    bool covers, matches, above;
  } rows[] = {
    { "/srv", "/srv", true, true, false },
    { "/srv", "/srv/x/y", true, false, false },
    { "/srv", "/srvx", false, false, false },
    { "/srv", "/", false, false, true },
    { "/srv/*/w", "/srv/a/w", true, true, false },
    { "/srv/*/w", "/srv/a/b/w", false, false, false },
    { "/srv/*/w", "/srv//w", false, false, true }, /* doubled slashes are one */
    { "/srv/*/w", "/srv/a", false, false, true },
    { "/run/p/*.sock", "/run/p/a.sock", true, true, false },
    { "/run/p/*.sock", "/run/p/a.sock.d", false, false, false },
    { "/run/p/*.sock", "/run/p/.sock", true, true, false },
    { "/d/**", "/d", false, false, true },
    { "/d/**", "/d/a", true, true, false },
    { "/d/**", "/d/a/b/c", true, true, false },
    { "/*a*b", "/xaxxb", true, true, false },
    { "/*a*b", "/xaxx", false, false, false },
    { "/", "/anything", true, false, false },
  };

  (void)state;
  for (size_t i = 0; i < ARRAY_SIZE (rows); i++)
    if (path_glob_covers (rows[i].pattern, rows[i].path) != rows[i].covers
        || path_glob_matches (rows[i].pattern, rows[i].path) != rows[i].matches
        || path_glob_above (rows[i].pattern, rows[i].path) != rows[i].above)
      fail_msg ("%s and %s", rows[i].pattern, rows[i].path);
}

static void test_values (void **state)
{
  static const struct
  {
    int (*read) (const char *, uint64_t *);
    const char *any;
    int result;
    uint64_t value;
  } rows[] = {
    { value_size, "\"2GiB\"", 0, 2ULL << 30 },
    { value_size, "4096", 0, 4096 },
    { value_size, "\"1KiB\"", -EINVAL, 0 },
    { value_size, "\"GiB\"", -EINVAL, 0 },
    { value_size, "\"-1GiB\"", -EINVAL, 0 },
    { value_size, "\"99999999999GiB\"", -EINVAL, 0 },
    { value_size, "true", -EINVAL, 0 },
    { value_size, "{}", -EINVAL, 0 },
    { value_count, "512", 0, 512 },
    { value_count, "0", -EINVAL, 0 },
    { value_count, "1.5", -EINVAL, 0 },
    { value_thousandths, "\"0.5\"", 0, 500 },
    { value_thousandths, "2", 0, 2000 },
    { value_thousandths, "\"1.25\"", 0, 1250 },
    { value_thousandths, "\"1.\"", -EINVAL, 0 },
    { value_thousandths, "\".5\"", -EINVAL, 0 },
    { value_thousandths, "\"0\"", -EINVAL, 0 },
    { value_thousandths, NULL, -EINVAL, 0 },
  };

  (void)state;
  for (size_t i = 0; i < ARRAY_SIZE (rows); i++)
    {
      uint64_t value = 0;

      if (rows[i].read (rows[i].any, &value) != rows[i].result || value != rows[i].value)
        fail_msg ("%s", rows[i].any == NULL ? "NULL" : rows[i].any);
    }
}

static void test_lines (void **state)
{
  static const char text[] = "/* one\n two */ {\n \"a\": \"x\\\"]\", // } \"b\": 1\n"
                             " \"b\": [1,\n  {\"c/d\": [],\n   \"e\": -2.5}, null]\n}";
  static const struct
  {
    const char *pointer;
    unsigned line;
  } rows[] = {
    { "", 2 },     { "/a", 3 },        { "/b", 4 },       { "/b/0", 4 },
    { "/b/1", 5 }, { "/b/1/c~1d", 5 }, { "/b/1/e", 6 },   { "/b/2", 6 },
    { "/b/9", 4 }, { "/zz", 2 },       { "/b/1/x/y", 5 }, { "/a/b", 3 },
  };

  (void)state;
  for (size_t i = 0; i < ARRAY_SIZE (rows); i++)
    if (json_line (text, strlen (text), rows[i].pointer) != rows[i].line)
      fail_msg ("%s is on line %u", rows[i].pointer,
                json_line (text, strlen (text), rows[i].pointer));
  for (size_t len = 0; len <= strlen (text); len++)
    (void)json_line (text, len, "/b/1/e"); /* cut anywhere: ends, and reads no further */
}

int main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_mistakes),
    cmocka_unit_test (test_missing_keys),
    cmocka_unit_test (test_all_at_once),
    cmocka_unit_test (test_settings),
    cmocka_unit_test (test_profiles),
    cmocka_unit_test (test_unknown_profile),
    cmocka_unit_test (test_catalogue),
    cmocka_unit_test_setup_teardown (test_place, make_place, remove_place),
    cmocka_unit_test_setup_teardown (test_broken_file, make_place, remove_place),
    cmocka_unit_test_setup_teardown (test_validate, make_place, remove_place),
    cmocka_unit_test (test_program_name),
    cmocka_unit_test (test_globs),
    cmocka_unit_test (test_values),
    cmocka_unit_test (test_lines),
  };

  return cmocka_run_group_tests_name ("policy_file", tests, NULL, NULL);
}
