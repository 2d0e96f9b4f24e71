/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: a configuration and facts, one JSON document each with a NUL between them, under the
   three profiles.  The verdict is the same twice, changes nothing of what it was given, and
   settles; what is suggested can be written.  Needs no privileges.  */
#include <errno.h>
#include <string.h>

#include "fuzz.h"
#include "policy/internal.h"
#include "spec/validate.h"

#define PROFILES 3

static struct policy *policies[PROFILES];

static char *text_of (const struct oci_type *type, const void *object, struct arena *arena)
{
  char *json = NULL;

  require (oci_emit (type, object, 0, arena, &json, NULL) == 0, "it can be written");
  return json;
}

struct outcome
{
  struct findings findings;
  struct admission admission;
};

static void evaluate (const struct policy *policy, const struct oci_config *config,
                      const struct facts *facts, struct arena *arena, struct outcome *ret)
{
  static const struct policy_request request = { .id = "id",
                                                 .bundle = "/bundle",
                                                 .state_root = "/run/agentrun" };
  struct error err = { 0 };

  *ret = (struct outcome){ .findings.arena = arena };
  require (
      policy_admit (policy, config, facts, &request, arena, &ret->findings, &ret->admission, &err)
          == 0,
      "it is decided");
  require (!ret->findings.failed, "memory was not short");
}

static void check (const struct policy *policy, const struct oci_config *config,
                   const struct facts *facts, struct arena *arena)
{
  const char *before = text_of (&oci_config_type, config, arena);
  struct outcome first, second;

  evaluate (policy, config, facts, arena, &first);
  evaluate (policy, config, facts, arena, &second);
  require (strcmp (before, text_of (&oci_config_type, config, arena)) == 0,
           "the configuration is as it was");
  require (first.findings.len == second.findings.len, "twice the same findings");
  for (size_t i = 0; i < first.findings.len; i++)
    require (strcmp (first.findings.items[i].message, second.findings.items[i].message) == 0,
             "in the same words");
  require (first.admission.denied == second.admission.denied, "twice the same verdict");
  require (!first.admission.denied || findings_reject (&first.findings),
           "who is denied is told why");
  require (strcmp (text_of (&oci_config_type, first.admission.config, arena),
                   text_of (&oci_config_type, second.admission.config, arena))
               == 0,
           "twice the same configuration");
  require (policy_denial_line (policy, &first.findings, arena) != NULL, "it can be told");
}

static void check_suggestion (const struct oci_config *config, const struct facts *facts,
                              struct arena *arena)
{
  static const struct policy_request request = { .id = "id", .bundle = "/bundle" };
  struct findings invalid = { .arena = arena };
  struct policy_suggestion s;
  struct error err = { 0 };

  spec_validate (config, &invalid);
  require (policy_suggest (policies[0], config, facts, &request, &invalid, arena, &s, &err) == 0,
           "something is suggested");
  require (s.json != NULL, "in writing");
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  static const char *const names[PROFILES] = { "builtin:default", "builtin:strict",
                                               "builtin:permissive" };
  cleanup_arena struct arena *arena = arena_new ();
  const char *bytes = (const char *)data, *end = memchr (bytes, '\0', size);
  size_t len = end == NULL ? size : (size_t)(end - bytes);
  struct oci_report report = { 0 }, second = { 0 };
  struct oci_config *config = NULL;
  struct facts *facts = NULL;
  struct error err = { 0 };

  for (size_t i = 0; i < PROFILES && policies[i] == NULL; i++)
    require (policy_load (names[i], "agentrun", false, &policies[i], &err) == 0,
             "the profile can be loaded");
  if (oci_parse (&oci_config_type, arena, bytes, len, 0, &report, (void **)&config) < 0)
    return 0;
  if (end == NULL || facts_parse (arena, end + 1, size - len - 1, 0, &second, &facts) < 0)
    facts = arena_alloc (arena, sizeof *facts);
  for (size_t i = 0; i < PROFILES; i++)
    check (policies[i], config, facts, arena);
  check_suggestion (config, facts, arena);
  return 0;
}
