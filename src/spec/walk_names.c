/* SPDX-License-Identifier: Apache-2.0 */
/* Owns the names that credentials usually have (policy.md, mount.credential).  Only a warning hangs
   on it, so the list is of names that hardly mean anything else.  Pure code.  */
#include <string.h>

#include "base/str.h"
#include "spec/walk.h"

static bool in_list (const char *name, const char *const *list, size_t len)
{
  for (size_t i = 0; i < len; i++)
    if (strcmp (name, list[i]) == 0)
      return true;
  return false;
}

/* ".env.production" but not ".env.example".  */
static bool is_environment_file (const char *name)
{
  static const char *const samples[] = { "dist",     "example",  "sample",
                                         "template", "defaults", "schema" };

  return str_has_prefix (name, ".env.") && !in_list (name + 5, samples, ARRAY_SIZE (samples));
}

bool is_credential_name (const char *name)
{
  static const char *const names[] = {
    ".env",
    ".envrc",
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".git-credentials",
    ".my.cnf",
    ".htpasswd",
    ".vault-token",
    ".dockercfg",
    ".s3cfg",
    ".boto",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_ecdsa_sk",
    "id_ed25519_sk",
    "kubeconfig",
    "credentials",
    "credentials.json",
    "service-account.json",
    "secrets.json",
    "secrets.yaml",
    "secrets.yml",
    "token",
    ".token",
    "token.json",
    "token.txt",
    "auth.json",
    "gcloud",
  };
  static const char *const suffixes[] = { ".pem",  ".key", ".p12",   ".pfx",   ".jks",  ".keystore",
                                          ".kdbx", ".ppk", ".token", "_token", "-token" };

  if (in_list (name, names, ARRAY_SIZE (names)) || is_environment_file (name))
    return true;
  for (size_t i = 0; i < ARRAY_SIZE (suffixes); i++)
    if (str_has_suffix (name, suffixes[i]))
      return true;
  return false;
}
