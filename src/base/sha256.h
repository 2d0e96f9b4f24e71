/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 (FIPS 180-4) in the form in which digests are written and compared everywhere.  */
#pragma once

#include <stddef.h>

#define SHA256_HEX_SIZE 65

/* The digest of LEN bytes at DATA (may be NULL when LEN is 0) as 64 lower-case hexadecimal digits
   and a NUL.  Returns 0, or -EIO with RET untouched.  */
int sha256_hex (const void *data, size_t len, char ret[SHA256_HEX_SIZE]);
