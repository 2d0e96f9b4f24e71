/* SPDX-License-Identifier: Apache-2.0 */
/* Admission, driven by the files of tests/policy: FAMILY/CASE.json says where a case differs from
   base.config.json and base.facts.json, and which findings come of it.  No privilege needed.

   Members of a case: why; profile (builtin:default if absent) or policy (a policy file); config and
   facts (pointer -> value, "-" appends, "(absent)" removes); request; expect (all findings but
   those of the base, in order: rule, action, pointer, and a part of message and fix); after
   (pointer -> value in the tightened configuration); admission; absent (words that appear in no
   finding).  */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "policy/display.h"
#include "policy/internal.h"
#include "policy/verdict.h"
#include "policy_json.h"

#define MAX_CASES 1000

/* ---- the form of a case ---- */

struct case_finding
{
  char *rule, *action, *pointer, *message, *fix;
};

struct case_request
{
  char *id;
  bool has_preserve_fds, has_no_pivot, no_pivot, has_no_new_keyring, no_new_keyring;
  uint32_t preserve_fds;
};

struct case_admission
{
  bool has_builtin_seccomp, builtin_seccomp, has_baseline, baseline, has_rootfs_nodev, rootfs_nodev;
  bool has_allowed;
  char **allowed;
  size_t allowed_len;
  char *late_sockets;
};

struct test_case
{
  char *why, *profile, *policy, *today;
  struct oci_map config, facts, after;
  struct case_request *request;
  struct case_admission *admission;
  bool has_expect, has_denied, denied, has_absent;
  struct case_finding *expect;
  size_t expect_len, absent_len;
  char **absent;
};

/* It takes a stringified argument for a directive.  */
/* clang-format off */
#define TEXT(type, member)                                                                         \
  {                                                                                                \
    #member, sizeof #member - 1, OCI_STRING, OCI_ONE, offsetof (struct type, member), 0, 0, 0,  \
        0, NULL                                                                                    \
  }
#define FLAG(type, member)                                                                         \
  {                                                                                                \
    #member, sizeof #member - 1, OCI_BOOL, OCI_ONE, offsetof (struct type, member),             \
        offsetof (struct type, has_##member), 0, 0, 0, NULL \
  }
#define LIST(type, member, kind, of)                                                               \
  {                                                                                                \
    #member, sizeof #member - 1, kind, OCI_ARRAY, offsetof (struct type, member),               \
        offsetof (struct type, has_##member), offsetof (struct type, member##_len), 0, 0, of \
  }
#define MAP(type, member)                                                                     \
  {                                                                                           \
    #member, sizeof #member - 1, OCI_ANY, OCI_MAP, offsetof (struct type, member),            \
    0, 0, 0, 0, NULL                                                                          \
  }
#define PART(type, member, of)                                                                     \
  {                                                                                                \
    #member, sizeof #member - 1, OCI_OBJECT, OCI_ONE, offsetof (struct type, member), 0, 0, 0,  \
        0, of                                                                                      \
  }
/* clang-format on */

static const struct oci_member finding_members[] = {
  TEXT (case_finding, rule),    TEXT (case_finding, action), TEXT (case_finding, pointer),
  TEXT (case_finding, message), TEXT (case_finding, fix),
};
static const struct oci_type finding_of_case = { "finding", sizeof (struct case_finding),
                                                 finding_members, ARRAY_SIZE (finding_members) };

static const struct oci_member request_members[] = {
  TEXT (case_request, id),
  { "preserve_fds", 12, OCI_U32, OCI_ONE, offsetof (struct case_request, preserve_fds),
    offsetof (struct case_request, has_preserve_fds), 0, 0, UINT32_MAX, NULL },
  FLAG (case_request, no_pivot),
  FLAG (case_request, no_new_keyring),
};
static const struct oci_type request_of_case = { "request", sizeof (struct case_request),
                                                 request_members, ARRAY_SIZE (request_members) };

static const struct oci_member admission_members[] = {
  FLAG (case_admission, builtin_seccomp), FLAG (case_admission, baseline),
  FLAG (case_admission, rootfs_nodev),    LIST (case_admission, allowed, OCI_STRING, NULL),
  TEXT (case_admission, late_sockets),
};
static const struct oci_type admission_of_case = { "admission", sizeof (struct case_admission),
                                                   admission_members,
                                                   ARRAY_SIZE (admission_members) };

static const struct oci_member case_members[] = {
  TEXT (test_case, why),
  TEXT (test_case, profile),
  { "policy", 6, OCI_ANY, OCI_ONE, offsetof (struct test_case, policy), 0, 0, 0, 0, NULL },
  MAP (test_case, config),
  MAP (test_case, facts),
  MAP (test_case, after),
  PART (test_case, request, &request_of_case),
  PART (test_case, admission, &admission_of_case),
  FLAG (test_case, denied),
  LIST (test_case, expect, OCI_OBJECT, &finding_of_case),
  LIST (test_case, absent, OCI_STRING, NULL),
};
static const struct oci_type case_type = { "case", sizeof (struct test_case), case_members,
                                           ARRAY_SIZE (case_members) };

/* ---- files ---- */

static char *directory (void)
{
  const char *top = getenv ("srcdir");
  char *made = NULL;

  if (asprintf (&made, "%s/tests/policy", top == NULL ? "." : top) < 0)
    abort ();
  return made;
}

static char *read_file (const char *dir, const char *name, size_t *ret_len)
{
  cleanup_free char *path = NULL;
  cleanup_close int fd = -1;
  struct error err;
  char *text = NULL;

  if (asprintf (&path, "%s/%s", dir, name) < 0)
    abort ();
  fd = open (path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || fd_read_all (fd, 1 << 20, path, &text, ret_len, &err) < 0)
    fail_msg ("%s can't be read", path);
  return text;
}

static void *parse (struct arena *arena, const struct oci_type *type, const char *what,
                    const char *text)
{
  struct oci_report report = { 0 };
  void *object = NULL;

  if (oci_parse (type, arena, text, strlen (text), 0, &report, &object) < 0)
    fail_msg ("%s: %s: %s", what, report.errors[0].pointer, report.errors[0].message);
  if (report.unknown_len > 0)
    fail_msg ("%s: unknown member %s", what, report.unknown[0].pointer);
  return object;
}

static void *patched (struct arena *arena, const struct oci_type *type, const char *file,
                      const struct oci_map *patch)
{
  cleanup_free char *dir = directory ();
  size_t len;
  char *text = read_file (dir, file, &len);

  for (size_t i = 0; i < patch->len; i++)
    {
      /* A map takes no null, and null in the document means absent.  */
      bool gone = str_equal (patch->values[i], "\"(absent)\"");
      char *next = json_set (text, patch->keys[i], gone ? "null" : patch->values[i]);

      if (next == NULL)
        fail_msg ("%s has no %s", file, patch->keys[i]);
      free (text);
      text = next;
    }
  void *object = parse (arena, type, file, text);
  free (text);
  return object;
}

/* ---- one evaluation ---- */

struct outcome
{
  struct findings findings;
  struct admission admission;
};

/* The policy of the case; the fixed day is one that no grant's end is compared with by chance.  */
static struct policy *make_policy (struct arena *arena, const struct test_case *c,
                                   const char *profile, const char *mode)
{
  struct policy *policy = arena_alloc (arena, sizeof *policy);
  struct problems problems = { .arena = arena };
  char *text = NULL;
  int r;

  policy->arena = arena;
  strcpy (policy->today, "2026-06-15");
  if (c->policy != NULL)
    text = json_set (c->policy, "/mode", mode);
  else if (asprintf (&text, "{\"version\": 1, \"extends\": \"%s\", \"never\": [], \"mode\": %s}",
                     profile, mode)
           < 0)
    abort ();
  policy->name = arena_strdup (arena, "/etc/agentrun/policy.json");
  policy->file = policy->name;
  r = policy_parse (policy, policy->name, text, strlen (text), &problems);
  if (r < 0)
    fail_msg ("policy: %s", problems.len > 0 ? problems.lines[0] : "?");
  assert_int_equal (policy_finish (policy), 0);
  free (text);
  return policy;
}

static void evaluate (struct arena *arena, const struct test_case *c, const struct policy *policy,
                      const struct oci_config *config, struct outcome *ret)
{
  const struct facts *facts = patched (arena, &facts_type, "base.facts.json", &c->facts);
  struct policy_request request = { .id = "sandbox", .bundle = "/run/engine/bundle" };
  struct error err = { 0 };

  if (c->request != NULL)
    {
      request.id = c->request->id != NULL ? c->request->id : request.id;
      request.preserve_fds = c->request->preserve_fds;
      request.no_pivot = c->request->no_pivot;
      request.no_new_keyring = c->request->no_new_keyring;
    }
  memset (ret, 0, sizeof *ret);
  ret->findings.arena = arena;
  int r =
      policy_admit (policy, config, facts, &request, arena, &ret->findings, &ret->admission, &err);
  if (r < 0)
    fail_msg ("policy_admit: %s", err.message);
}

/* ---- what is expected ---- */

/* The base itself gives these, in every case.  */
static bool is_base_finding (const struct finding *f)
{
  return str_equal (f->rule, "seccomp.baseline")
         || (str_equal (f->rule, "mount.hardening") && str_equal (f->pointer, "/root"));
}

static void print_findings (const struct findings *list)
{
  for (size_t i = 0; i < list->len; i++)
    print_message ("# {\"rule\": \"%s\", \"action\": \"%s\", \"pointer\": \"%s\"} %s | %s\n",
                   list->items[i].rule, list->items[i].action, list->items[i].pointer,
                   list->items[i].message, list->items[i].fix == NULL ? "" : list->items[i].fix);
}

static bool contains (const char *text, const char *part)
{
  return part == NULL || (text != NULL && strstr (text, part) != NULL);
}

static bool fits (const struct finding *f, const struct case_finding *e)
{
  return str_equal (f->rule, e->rule) && str_equal (f->action, e->action)
         && (e->pointer == NULL || str_equal (f->pointer, e->pointer))
         && contains (f->message, e->message) && contains (f->fix, e->fix);
}

static void check_findings (const struct test_case *c, const struct findings *list)
{
  size_t n = 0;

  for (size_t i = 0; i < list->len; i++)
    {
      if (is_base_finding (&list->items[i]))
        continue;
      if (n == c->expect_len || !fits (&list->items[i], &c->expect[n]))
        {
          print_findings (list);
          fail_msg ("finding %zu is %s at %s, expected %s", n, list->items[i].rule,
                    list->items[i].pointer, n == c->expect_len ? "no more" : c->expect[n].rule);
        }
      n++;
    }
  if (n != c->expect_len)
    {
      print_findings (list);
      fail_msg ("%zu findings, expected %zu: %s is missing", n, c->expect_len, c->expect[n].rule);
    }
}

static void check_after (struct arena *arena, const struct test_case *c,
                         const struct oci_config *config)
{
  char *json = NULL;

  assert_int_equal (oci_emit (&oci_config_type, config, 0, arena, &json, NULL), 0);
  for (size_t i = 0; i < c->after.len; i++)
    {
      const char *at = json_at (json, c->after.keys[i]);
      size_t len = at == NULL ? 0 : (size_t)(json_value_end (at) - at);
      bool gone = str_equal (c->after.values[i], "null");

      if (gone ? at != NULL
               : at == NULL || strlen (c->after.values[i]) != len
                     || strncmp (at, c->after.values[i], len) != 0)
        fail_msg ("%s is %.*s, expected %s", c->after.keys[i], (int)len, at == NULL ? "" : at,
                  c->after.values[i]);
    }
}

static void check_admission (const struct test_case *c, const struct admission *a)
{
  const struct case_admission *e = c->admission;
  bool denied = false;

  for (size_t i = 0; i < c->expect_len; i++)
    denied |= str_equal (c->expect[i].action, "reject");
  assert_int_equal (a->denied, c->has_denied ? c->denied : denied);
  if (e == NULL)
    return;
  if (e->has_builtin_seccomp)
    assert_int_equal (a->builtin_seccomp, e->builtin_seccomp);
  if (e->has_baseline)
    assert_int_equal (a->baseline, e->baseline);
  if (e->has_rootfs_nodev)
    assert_int_equal (a->rootfs_nodev, e->rootfs_nodev);
  if (e->late_sockets != NULL)
    assert_string_equal (a->late_sockets, e->late_sockets);
  if (!e->has_allowed)
    return;
  assert_int_equal (a->baseline_allowed_len, e->allowed_len);
  for (size_t i = 0; i < e->allowed_len; i++)
    assert_string_equal (a->baseline_allowed[i], e->allowed[i]);
}

/* ---- what holds for every case ---- */

/* cli.md: a policy's words must not be taken for another error, and are one line.  */
static void check_words (const struct test_case *c, const char *text)
{
  static const char *const phrases[] = { "permission denied", "operation not permitted",
                                         "no such file or directory", "executable file not found" };

  if (text == NULL)
    return;
  assert_true (*text != '\0');
  for (size_t i = 0; i < ARRAY_SIZE (phrases); i++)
    assert_null (strcasestr (text, phrases[i]));
  for (const char *s = text; *s != '\0'; s++)
    assert_true (*s >= 0x20 && *s < 0x7f);
  for (size_t i = 0; i < c->absent_len; i++)
    assert_null (strstr (text, c->absent[i]));
}

static void check_texts (struct arena *arena, const struct test_case *c,
                         const struct policy *policy, const struct outcome *o)
{
  struct verdict_view view = { .policy = policy,
                               .findings = &o->findings,
                               .denied = o->admission.denied,
                               .config_digest = "sha256:0",
                               .late_sockets = o->admission.late_sockets };
  char *json = policy_verdict_json (&view, arena);
  const char *line = policy_denial_line (policy, &o->findings, arena);

  for (size_t i = 0; i < o->findings.len; i++)
    {
      const struct finding *f = &o->findings.items[i];

      check_words (c, f->message);
      check_words (c, f->fix);
      if (rule_find (f->rule) >= 0 && policy_explain (f->rule) == NULL)
        fail_msg ("%s is not explained", f->rule);
    }
  check_words (c, line);
  assert_true (str_has_prefix (line, "agentrun: denied by policy "));
  assert_non_null (strstr (line, "not a fault"));
  parse (arena, &verdict_type, "verdict", json);
  assert_non_null (policy_verdict_text (&view, arena));
}

static char *emit_all (struct arena *arena, const struct outcome *o)
{
  struct verdict verdict = { .has_findings = true,
                             .findings = o->findings.items,
                             .findings_len = o->findings.len };
  char *config = NULL, *findings = NULL;

  assert_int_equal (oci_emit (&oci_config_type, o->admission.config, 0, arena, &config, NULL), 0);
  assert_int_equal (oci_emit (&verdict_type, &verdict, 0, arena, &findings, NULL), 0);
  return arena_printf (arena, "%s%s", config, findings);
}

/* The same input gives the same verdict, and the input stays as it was.  */
static void check_pure (struct arena *arena, const struct test_case *c, const struct policy *policy,
                        const struct oci_config *config, const struct outcome *first)
{
  char *before = NULL, *after = NULL;
  struct outcome second;

  assert_int_equal (oci_emit (&oci_config_type, config, 0, arena, &before, NULL), 0);
  evaluate (arena, c, policy, config, &second);
  assert_int_equal (oci_emit (&oci_config_type, config, 0, arena, &after, NULL), 0);
  assert_string_equal (before, after);
  assert_string_equal (emit_all (arena, first), emit_all (arena, &second));
}

/* A tightened configuration needs no more tightening.  */
static void check_settled (struct arena *arena, const struct test_case *c,
                           const struct policy *policy, const struct outcome *first)
{
  struct outcome again;

  evaluate (arena, c, policy, first->admission.config, &again);
  for (size_t i = 0; i < again.findings.len; i++)
    if (str_equal (again.findings.items[i].action, "tighten")
        && !is_base_finding (&again.findings.items[i])
        && again.findings.items[i].applied
        /* of which the configuration shows nothing */
        && !str_equal (again.findings.items[i].rule, "seccomp.missing")
        && !str_equal (again.findings.items[i].rule, "mount.protected"))
      fail_msg ("%s tightens its own result: %s", again.findings.items[i].rule,
                again.findings.items[i].message);
}

/* Nothing is changed, nothing but what is fixed is refused.  */
static void check_audit (struct arena *arena, const struct test_case *c,
                         const struct oci_config *config, const char *profile)
{
  const struct policy *policy = make_policy (arena, c, profile, "\"audit\"");
  char *before = NULL, *after = NULL;
  bool fixed = false;
  struct outcome o;

  evaluate (arena, c, policy, config, &o);
  for (size_t i = 0; i < o.findings.len; i++)
    {
      const struct finding *f = &o.findings.items[i];

      assert_false (f->has_applied && f->applied);
      fixed |=
          str_equal (f->action, "reject") && (rules[rule_find (f->rule)].flags & RULE_FIXED) != 0;
    }
  assert_int_equal (o.admission.denied, fixed);
  assert_false (o.admission.baseline || o.admission.builtin_seccomp || o.admission.rootfs_nosuid);
  assert_int_equal (oci_emit (&oci_config_type, config, 0, arena, &before, NULL), 0);
  if (json_at (before, "/linux") != NULL && json_at (before, "/process/user") != NULL
      && json_at (before, "/linux/resources/memory") != NULL)
    {
      assert_int_equal (oci_emit (&oci_config_type, o.admission.config, 0, arena, &after, NULL), 0);
      assert_string_equal (before, after);
    }
}

/* In strict only starred rules tighten or warn.  */
static void check_strict (struct arena *arena, const struct test_case *c,
                          const struct oci_config *config)
{
  const struct policy *policy = make_policy (arena, c, "builtin:strict", "\"enforce\"");
  struct outcome o;

  evaluate (arena, c, policy, config, &o);
  for (size_t i = 0; i < o.findings.len; i++)
    if (!str_equal (o.findings.items[i].action, "reject")
        && (rules[rule_find (o.findings.items[i].rule)].flags & RULE_STARRED) == 0)
      fail_msg ("strict lets %s through", o.findings.items[i].rule);
}

static void check_permissive (struct arena *arena, const struct test_case *c,
                              const struct oci_config *config)
{
  const struct policy *policy = make_policy (arena, c, "builtin:permissive", "\"enforce\"");
  struct outcome o;

  evaluate (arena, c, policy, config, &o);
  for (size_t i = 0; i < o.findings.len; i++)
    if ((rules[rule_find (o.findings.items[i].rule)].flags & RULE_FIXED) == 0)
      fail_msg ("permissive knows %s", o.findings.items[i].rule);
}

/* Without a single answer nothing is admitted, whatever is asked for (policy.md, principle 6).  */
static void check_blind (struct arena *arena, const struct policy *policy,
                         const struct oci_config *config)
{
  const struct policy_request request = { .id = "sandbox", .bundle = "/run/engine/bundle" };
  const struct facts nothing = { 0 };
  struct findings findings = { .arena = arena };
  struct admission admission;
  struct error err = { 0 };

  assert_int_equal (
      policy_admit (policy, config, &nothing, &request, arena, &findings, &admission, &err), 0);
  assert_true (admission.denied);
}

static void run_case (void **state)
{
  const char *name = *state;
  cleanup_arena struct arena *arena = arena_new ();
  cleanup_free char *dir = directory ();
  size_t len;
  cleanup_free char *text = read_file (dir, name, &len);
  const struct test_case *c = parse (arena, &case_type, name, text);
  const char *profile = c->profile == NULL ? "builtin:default" : c->profile;
  const struct policy *policy = make_policy (arena, c, profile, "\"enforce\"");
  const struct oci_config *config =
      patched (arena, &oci_config_type, "base.config.json", &c->config);
  struct outcome o;

  evaluate (arena, c, policy, config, &o);
  check_findings (c, &o.findings);
  check_admission (c, &o.admission);
  check_after (arena, c, o.admission.config);
  check_texts (arena, c, policy, &o);
  check_pure (arena, c, policy, config, &o);
  check_settled (arena, c, policy, &o);
  check_audit (arena, c, config, profile);
  if (!str_equal (profile, "builtin:permissive"))
    check_blind (arena, policy, config);
  if (c->policy == NULL)
    {
      check_strict (arena, c, config);
      check_permissive (arena, c, config);
    }
}

/* ---- all of them ---- */

static size_t add_family (const char *dir, const char *family, struct CMUnitTest *tests, size_t n)
{
  cleanup_free char *path = NULL;
  struct dirent **entries;
  int count;

  if (asprintf (&path, "%s/%s", dir, family) < 0)
    abort ();
  count = scandir (path, &entries, NULL, alphasort);
  for (int i = 0; i < count; i++)
    {
      char *name = NULL;

      if (str_has_suffix (entries[i]->d_name, ".json") && n < MAX_CASES)
        {
          if (asprintf (&name, "%s/%s", family, entries[i]->d_name) < 0)
            abort ();
          tests[n++] = (struct CMUnitTest){ name, run_case, NULL, NULL, name };
        }
      free (entries[i]);
    }
  if (count >= 0)
    free (entries);
  return n;
}

int main (void)
{
  static struct CMUnitTest tests[MAX_CASES];
  cleanup_free char *dir = directory ();
  struct dirent **families;
  size_t n = 0;
  int count = scandir (dir, &families, NULL, alphasort);

  if (count < 0)
    {
      printf ("Bail out! %s can't be read\n", dir);
      return 1;
    }
  for (int i = 0; i < count; i++)
    {
      if (families[i]->d_name[0] != '.' && families[i]->d_type == DT_DIR)
        n = add_family (dir, families[i]->d_name, tests, n);
      free (families[i]);
    }
  free (families);

  int failed = _cmocka_run_group_tests ("policy", tests, n, NULL, NULL);
  for (size_t i = 0; i < n; i++)
    free (tests[i].initial_state);
  return failed;
}
