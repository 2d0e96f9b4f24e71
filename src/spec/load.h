/* SPDX-License-Identifier: Apache-2.0 */
/* load and parse: the bundle's config.json is read once; its bytes, their digest and the parsed
   object travel together from here on (policy.md, principle 1).  */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "ocispec.h"
#include "spec/findings.h"

struct bundle
{
  char *path;        /* absolute, canonical */
  int dirfd;         /* O_PATH | O_DIRECTORY */
  char *config_name; /* for messages: "config.json" or what --config gave */
  char *config_path; /* absolute, canonical: of the file that was read; NULL for the bundle's own */
  char *bytes;
  size_t len;
  char digest[80]; /* "sha256:" and 64 hex digits */
  uid_t uid, config_uid;
  mode_t mode, config_mode; /* st_mode */
};

/* Opens PATH (NULL: the working directory) and reads CONFIG (NULL: config.json in it; else a path
   as given) without blocking and without following a link at the last component; at most 16 MiB and
   one byte (parse then says json.size).  Free with bundle_free.  */
int bundle_load (const char *path, const char *config, struct bundle *ret, struct error *err);
void bundle_free (struct bundle *);
#define cleanup_bundle __attribute__ ((cleanup (bundle_free)))

/* Parses by libocispec.  What is wrong becomes `reject` findings of the json.* rules, their
   messages beginning with "config.json:LINE: POINTER: "; unknown members become `warn` findings of
   json.unknown.  Returns 0 with *RET, -EINVAL with findings (ERR then holds the first one), or
   another negative errno.  */
int spec_parse (const struct bundle *, struct arena *, struct findings *, struct oci_config **ret,
                struct error *err);

/* A document that a command is given beside the bundle (update --resources): PATH, or standard
   input for "-".  As strict as the reading of config.json, but a pipe is allowed.  *RET_BYTES (LEN
   bytes, terminated, at most 16 MiB and one byte) is the caller's to free.  */
int document_load (const char *path, char **ret_bytes, size_t *ret_len, struct error *err);

/* Makes NAME with TEXT in DIRECTORY (NULL: the working one).  -EEXIST: whatever is there stays.  */
int document_create (const char *directory, const char *name, const char *text, struct error *err);

/* The step of spec_parse for a document of any TYPE.  NAME words the findings.  */
int spec_parse_text (const struct oci_type *type, const char *name, const char *bytes, size_t len,
                     struct arena *arena, struct findings *findings, void **ret, struct error *err);
