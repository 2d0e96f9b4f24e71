/* SPDX-License-Identifier: Apache-2.0 */
/* plan: what the configuration leaves out is filled in, what was judged is what is planned.  */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/mount.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "base/str.h"
#include "plan/make.h"

/* A plan is made of the tightened configuration, so the policy's own parts are given here.  */
struct planned
{
  struct arena *arena;
  struct policy *policy;
  struct bundle bundle;
  struct admission admission;
  struct facts *facts;
  struct findings findings;
  struct plan *plan;
  struct error err;
};

static const char default_facts[] =
    "{\"rootfs\":{\"path\":\"/b/rootfs\",\"kind\":\"directory\",\"descriptor\":0}}";

static void parse (struct planned *p, const char *config, const char *facts)
{
  struct oci_report report = { 0 };
  p->arena = arena_new ();
  p->findings.arena = p->arena;
  p->bundle.path = (char *)"/b";
  strcpy (p->bundle.digest, "sha256:00");
  assert_int_equal (policy_load ("builtin:permissive", "agentrun", false, &p->policy, &p->err), 0);
  assert_int_equal (
      oci_config_parse (p->arena, config, strlen (config), 0, &report, &p->admission.config), 0);
  assert_int_equal (facts_parse (p->arena, facts, strlen (facts), 0, &report, &p->facts), 0);
}

static int make (struct planned *p)
{
  const struct plan_input input = {
    .id = "c1",
    .bundle = &p->bundle,
    .policy = p->policy,
    .admission = &p->admission,
    .facts = p->facts,
    .findings = &p->findings,
  };
  return plan_make (&input, p->arena, &p->plan, &p->err);
}

static void done (struct planned *p)
{
  policy_free (p->policy);
  arena_free (p->arena);
}

#define PROCESS "\"process\":{\"args\":[\"true\"],\"cwd\":\"/\"}"
#define ROOT    "\"root\":{\"path\":\"rootfs\"}"

static void test_defaults (void **state)
{
  struct planned p = { 0 };
  (void)state;
  parse (&p, "{\"ociVersion\":\"1.0.0\"," ROOT "," PROCESS "}", default_facts);
  assert_int_equal (make (&p), 0);
  assert_string_equal (p.plan->id, "c1");
  assert_string_equal (p.plan->cgroup->path, "/agentrun-c1");
  assert_int_equal (p.plan->process->umask, 0022);
  assert_int_equal (p.plan->process->capabilities->bounding, 0);
  assert_false (p.plan->process->no_new_privileges);
  assert_int_equal (p.plan->rootfs->propagation, MS_PRIVATE);
  assert_false (p.plan->rootfs->readonly);
  assert_int_equal (p.plan->devices_len, plan_default_devices_len);
  assert_null (p.plan->seccomp);
  done (&p);
}

/* The first rule denies all whatever the configuration says, and no rule lets a process without
   CAP_MKNOD make nodes.  */
static void test_device_filter (void **state)
{
  struct planned p = { 0 };
  (void)state;
  parse (&p,
         "{\"ociVersion\":\"1.0.0\"," ROOT "," PROCESS
         ",\"linux\":{\"resources\":{\"devices\":[{\"allow\":true,\"type\":\"c\",\"major\":10,"
         "\"minor\":200,\"access\":\"rw\"}]}}}",
         default_facts);
  assert_int_equal (make (&p), 0);
  const struct plan_cgroup *c = p.plan->cgroup;
  assert_false (c->devices[0].allow);
  assert_string_equal (c->devices[0].type, "a");
  assert_int_equal (c->devices[1].minor, 200);
  for (size_t i = 1; i < c->devices_len; i++)
    assert_false (c->devices[i].major == -1);
  done (&p);
}

static void test_mknod_needs_the_capability (void **state)
{
  struct planned p = { 0 };
  (void)state;
  parse (&p,
         "{\"ociVersion\":\"1.0.0\"," ROOT ",\"process\":{\"args\":[\"true\"],\"cwd\":\"/\","
         "\"capabilities\":{\"bounding\":[\"CAP_MKNOD\",\"CAP_NO_SUCH\"]}}}",
         default_facts);
  assert_int_equal (make (&p), 0);
  const struct plan_cgroup *c = p.plan->cgroup;
  assert_int_equal (p.plan->process->capabilities->bounding, UINT64_C (1) << 27);
  assert_int_equal (c->devices[c->devices_len - 1].major, -1);
  assert_string_equal (c->devices[c->devices_len - 1].access, "m");
  done (&p);
}

/* A default node that the configuration lists is made once, as listed.  */
static void test_listed_default_device (void **state)
{
  struct planned p = { 0 };
  size_t nulls = 0;
  (void)state;
  parse (&p,
         "{\"ociVersion\":\"1.0.0\"," ROOT "," PROCESS
         ",\"linux\":{\"devices\":[{\"path\":\"/dev/null\",\"type\":\"c\",\"major\":1,\"minor\":3,"
         "\"fileMode\":384,\"uid\":5}]}}",
         default_facts);
  assert_int_equal (make (&p), 0);
  for (size_t i = 0; i < p.plan->devices_len; i++)
    if (str_equal (p.plan->devices[i].path, "/dev/null"))
      {
        nulls++;
        assert_int_equal (p.plan->devices[i].mode, 0600);
        assert_int_equal (p.plan->devices[i].uid, 5);
      }
  assert_int_equal (nulls, 1);
  done (&p);
}

static void test_bind_takes_the_judged_tree (void **state)
{
  struct planned p = { 0 };
  (void)state;
  parse (&p,
         "{\"ociVersion\":\"1.0.0\"," ROOT "," PROCESS
         ",\"mounts\":[{\"destination\":\"/x\",\"type\":\"tmpfs\",\"source\":\"/y\","
         "\"options\":[\"rbind\",\"ro\"]}]}",
         "{\"rootfs\":{\"path\":\"/b/"
         "rootfs\",\"kind\":\"directory\",\"descriptor\":0},\"sources\":[{\"pointer\":"
         "\"/mounts/0/source\",\"source\":\"/y\",\"path\":\"/y\",\"descriptor\":4}]}");
  assert_int_equal (make (&p), 0);
  const struct plan_mount *m = &p.plan->mounts[0];
  assert_string_equal (m->kind, "bind");
  assert_int_equal (m->descriptor, 4);
  assert_true (m->recursive);
  assert_true ((m->attr_set & MOUNT_ATTR_RDONLY) != 0);
  done (&p);
}

static void test_bind_without_a_tree (void **state)
{
  struct planned p = { 0 };
  (void)state;
  parse (&p,
         "{\"ociVersion\":\"1.0.0\"," ROOT "," PROCESS
         ",\"mounts\":[{\"destination\":\"/x\",\"type\":\"bind\",\"source\":\"/y\"}]}",
         default_facts);
  assert_int_equal (make (&p), -ENOENT);
  assert_non_null (strstr (p.err.message, "/y"));
  done (&p);
}

static void test_namespace_by_path (void **state)
{
  struct planned p = { 0 };
  static const char config[] =
      "{\"ociVersion\":\"1.0.0\"," ROOT "," PROCESS
      ",\"linux\":{\"namespaces\":[{\"type\":\"mount\"},{\"type\":\"network\",\"path\":\"/n\"}]}}";
  (void)state;
  parse (&p, config,
         "{\"rootfs\":{\"path\":\"/b/"
         "rootfs\",\"kind\":\"directory\",\"descriptor\":0},\"namespaces\":[{\"pointer\":"
         "\"/linux/namespaces/1/path\",\"type\":\"network\",\"nsfs\":true,\"kind\":\"network\","
         "\"descriptor\":2}]}");
  assert_int_equal (make (&p), 0);
  assert_int_equal (p.plan->namespaces[0].descriptor, -1);
  assert_null (p.plan->namespaces[0].path);
  assert_int_equal (p.plan->namespaces[1].descriptor, 2);
  assert_int_equal (p.plan->namespaces[1].flag, CLONE_NEWNET);
  done (&p);
  memset (&p, 0, sizeof p);
  parse (&p, config,
         "{\"rootfs\":{\"path\":\"/b/"
         "rootfs\",\"kind\":\"directory\",\"descriptor\":0},\"namespaces\":[{\"pointer\":"
         "\"/linux/namespaces/1/path\",\"type\":\"network\",\"nsfs\":true,\"kind\":\"pid\","
         "\"descriptor\":2}]}");
  assert_int_equal (make (&p), -EINVAL);
  done (&p);
}

/* Principle 5 of architecture.md: a value of the environment reaches no record.  */
static void test_record_has_no_environment (void **state)
{
  struct planned p = { 0 };
  char *json;
  size_t len;
  (void)state;
  parse (&p,
         "{\"ociVersion\":\"1.0.0\"," ROOT ",\"process\":{\"args\":[\"true\"],\"cwd\":\"/\","
         "\"env\":[\"TOKEN=hunter2\",\"EMPTY=\"]},\"hooks\":{\"startContainer\":[{\"path\":\"/h\","
         "\"env\":[\"KEY=hunter3\"]}]}}",
         default_facts);
  assert_int_equal (make (&p), 0);
  struct plan *kept = plan_without_environment (p.plan, p.arena);
  assert_non_null (kept);
  assert_int_equal (oci_emit (&plan_type, kept, 0, p.arena, &json, &len), 0);
  assert_non_null (strstr (json, "\"TOKEN\""));
  assert_null (strstr (json, "hunter"));
  assert_string_equal (p.plan->process->env[0], "TOKEN=hunter2");
  done (&p);
}

static void test_seccomp_parts (void **state)
{
  struct planned p = { 0 };
  (void)state;
  parse (&p, "{\"ociVersion\":\"1.0.0\"," ROOT "," PROCESS "}", default_facts);
  p.admission.baseline = true;
  p.admission.builtin_seccomp = true;
  p.admission.rootfs_nosuid = true;
  assert_int_equal (make (&p), 0);
  assert_true (p.plan->seccomp->baseline);
  assert_true (p.plan->seccomp->builtin);
  assert_int_equal (p.plan->rootfs->attr_set, MOUNT_ATTR_NOSUID);
  done (&p);
}

static void test_tightened_once (void **state)
{
  struct planned p = { 0 };
  (void)state;
  parse (&p, "{\"ociVersion\":\"1.0.0\"," ROOT "," PROCESS "}", default_facts);
  for (int i = 0; i < 2; i++)
    {
      struct finding *f = finding_add (&p.findings, "mount.hardening", "tighten", "/x", "m");
      f->has_applied = f->applied = true;
    }
  finding_add (&p.findings, "user.root", "tighten", "/x", "in audit mode, not applied");
  assert_int_equal (make (&p), 0);
  assert_int_equal (p.plan->tightened_len, 1);
  assert_string_equal (p.plan->tightened[0], "mount.hardening");
  done (&p);
}

int main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_defaults),
    cmocka_unit_test (test_device_filter),
    cmocka_unit_test (test_mknod_needs_the_capability),
    cmocka_unit_test (test_listed_default_device),
    cmocka_unit_test (test_bind_takes_the_judged_tree),
    cmocka_unit_test (test_bind_without_a_tree),
    cmocka_unit_test (test_namespace_by_path),
    cmocka_unit_test (test_record_has_no_environment),
    cmocka_unit_test (test_seccomp_parts),
    cmocka_unit_test (test_tightened_once),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
