/* SPDX-License-Identifier: Apache-2.0 */
/* A verdict for people and for programs (cli.md, "The verdict as JSON").  Pure code.  */
#pragma once

#include <stdbool.h>

#include "policy/policy.h"

struct verdict_view
{
  const struct policy *policy;
  const struct findings *findings;
  bool denied;
  const char *config_digest;
  const char *late_sockets; /* of struct admission, or NULL */
  char *plan_json;          /* or NULL; goes out as it is */
};

/* Both end in a newline, live in the arena, and are NULL when memory is short.  */
char *policy_verdict_text (const struct verdict_view *, struct arena *);
char *policy_verdict_json (const struct verdict_view *, struct arena *);
