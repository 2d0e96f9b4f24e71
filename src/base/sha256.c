/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 by libmd; the only file that knows it.  Pure code, any process, no privilege.  */
#include "base/sha256.h"

#include <errno.h>
#include <sha2.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

_Static_assert(SHA256_HEX_SIZE == SHA256_DIGEST_STRING_LENGTH, "libmd's size of a digest");

int sha256_hex (const void *data, size_t len, char ret[SHA256_HEX_SIZE])
{
  char hex[SHA256_HEX_SIZE];

  if (SHA256Data (data != NULL ? data : (const void *)"", len, hex) == NULL)
    return -EIO;
  memcpy (ret, hex, sizeof (hex));
  return 0;
}
