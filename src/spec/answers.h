/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of resolve, found by the pointer under which query asked; NULL when the question was not
   answered.  What admission and plan both ask of them.  */
#pragma once

#include <stdbool.h>

#include "spec/facts.h" /* generated */

/* Whether the runtime is known to be outside of the initial user namespace: a rootless engine's, or
   an ordinary user's who has made one.  */
bool facts_are_rootless (const struct facts *);

const struct fact_source *fact_source_find (const struct facts *, const char *pointer);
const struct fact_namespace *fact_namespace_find (const struct facts *, const char *pointer);

/* 1: the host's, 0: not, -1: can't be told.  The runtime runs in the engine's namespaces, which are
   the host's where an engine is rootful and the user's where it is rootless; so its own inode alone
   decides, and pid 1's, which an ordinary user can't read, only adds to it.  */
int fact_namespace_is_host (const struct facts *, const struct fact_namespace *, const char *type);
