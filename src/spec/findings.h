/* SPDX-License-Identifier: Apache-2.0 */
/* The list of findings that parse, validate and admit fill, in the order in which they are found.
   Pure code.  */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "arena.h"
#include "spec/finding.h" /* generated: struct finding */

struct findings
{
  struct arena *arena; /* not owned; holds all the text */
  struct finding *items;
  size_t len;
  size_t size;
  bool failed; /* memory ran out: the verdict is "could not be decided" */
};

/* Adds a finding and returns it for FIX, OLD, NEW to be set (all text from the arena), or NULL
   after ENOMEM. RULE and ACTION are static strings.  POINTER is copied.  */
struct finding *finding_add (struct findings *, const char *rule, const char *action,
                             const char *pointer, const char *format, ...)
    __attribute__ ((format (printf, 5, 6)));

/* Sets finding->fix.  F may be NULL.  */
void finding_fix (struct findings *, struct finding *f, const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));

/* "/mounts/7/source": a pointer made with printf, in the arena.  Path-like parts must be escaped by
   the caller (pointer_escape).  */
char *pointer_printf (struct arena *, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));
char *pointer_escape (struct arena *, const char *member);

/* Whether any finding has the action "reject".  */
bool findings_reject (const struct findings *);
