/* SPDX-License-Identifier: Apache-2.0 */
/* What suggest.c and suggest_rules.c share: a draft of what a policy would have to open.  */
#pragma once

#include "policy/internal.h"

#define SUGGESTED_MAX 512

/* What is proposed: a grant, or a setting of a rule, or the maximum of a limit.  */
struct item
{
  struct policy_grant grant; /* `kind` is NULL for the others */
  enum rule_id rule;
  enum action setting;
  bool is_limit;
  uint64_t max; /* of a limit */
  bool dropped;
};

struct suggesting
{
  const struct policy *base;
  const struct oci_config *config;
  const struct facts *facts;
  const struct policy_request *request;
  const struct findings *invalid; /* of validation: no policy decides them */
  struct arena *arena;
  struct item items[SUGGESTED_MAX];
  size_t len;
  bool failed; /* memory is short */
};

/* ---- suggest_rules.c ---- */

/* Proposes something for F that was not proposed yet, the narrowest first: a grant, the maximum of
   a limit, the next weaker setting of its rule.  False when there is nothing more.  */
bool suggest_for (struct suggesting *, const struct finding *f);
