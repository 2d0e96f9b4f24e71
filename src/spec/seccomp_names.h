/* SPDX-License-Identifier: Apache-2.0 */
/* The words of linux.seccomp (config-linux.md, Seccomp) and of the groups that a syscall grant can
   name, for validate, features and policy: no kernel, no libseccomp.  linux/ has the meaning of
   each; tests/unit/test_seccomp.c holds the two together.  Pure code.  */
#pragma once

#include <stdbool.h>

/* NULL-terminated, static.  `known` is every word of the specification, `supported` what this build
   does; the others are config.unsupported.  */
extern const char *const seccomp_actions_known[];
extern const char *const seccomp_actions_supported[];
extern const char *const seccomp_operators[];
extern const char *const seccomp_architectures[];
extern const char *const seccomp_flags_known[];
extern const char *const seccomp_flags_supported[];

/* Groups of the baseline that a grant can open (policy.md, grants of kind "syscall").  */
extern const char *const seccomp_groups[];

/* Whether LIST has NAME; false for NULL.  */
bool seccomp_name_in (const char *const *list, const char *name);
