/* SPDX-License-Identifier: Apache-2.0 */
/* validate: does the configuration make sense by the runtime-spec, and can this build do all that
   it asks for?  Holds in every profile; pure.  */
#pragma once

#include "base/error.h"
#include "ocispec.h"
#include "spec/findings.h"

/* Each violation is a `reject` finding.  Its rule is the policy's where one covers the field
   (namespace.entry, mount.option, process.cwd, user.root for uid 4294967295, json.version …), and
   `config.invalid` or `config.unsupported` (a field that this build can't apply: never skipped in
   silence) elsewhere.  Findings, not an error: all of them are shown at once.  */
void spec_validate (const struct oci_config *, struct findings *);

/* The same for linux.resources alone, as update gets it; pointers begin with /linux/resources all
   the same, since that is where the fields are known from.  */
void spec_validate_resources (const struct oci_resources *, struct findings *);

/* The same for a process that joins a container; pointers begin with /process.  */
void spec_validate_process (const struct oci_process *, struct findings *);

/* The same for a container id (rule container.id): `[A-Za-z0-9_][A-Za-z0-9_.+-]{0,127}`.  */
int container_id_check (const char *id, struct error *err);
