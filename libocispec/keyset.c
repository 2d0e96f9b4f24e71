/* SPDX-License-Identifier: Apache-2.0 */
/* The member names seen in one open object, to find a repeated one.
   Runs in any process, needs no privileges.

   Who writes a config.json must not be able to make it slow: the hash is keyed (SipHash-2-4, by
   Aumasson and Bernstein) with a secret of the process, and emptying a set costs nothing, however
   large it once was, because each slot carries the generation in which it was filled.  */
#include "internal.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/random.h>

enum
{
  FIRST_SLOTS = 32
};

struct oci_key
{
  const char *name;
  uint32_t len;
  uint32_t generation;
};

_Static_assert(OCI_MAX_BYTES <= UINT32_MAX, "lengths and generations must fit");

void oci_hash_key_init (struct oci_hash_key *key)
{
  static struct oci_hash_key secret;
  static bool known;

  if (!known && getrandom (&secret, sizeof secret, GRND_NONBLOCK) != (ssize_t)sizeof secret)
    {
      /* Early in the boot there may be no entropy yet; the address space layout has some.  */
      secret.k0 = (uint64_t)(uintptr_t)key;
      secret.k1 = (uint64_t)(uintptr_t)&oci_hash_key_init * UINT64_C (0x9e3779b97f4a7c15);
    }
  known = true;
  *key = secret;
}

static uint64_t rotate (uint64_t x, unsigned bits) { return x << bits | x >> (64 - bits); }

static void sip_rounds (uint64_t v[4], unsigned count)
{
  for (; count > 0; count--)
    {
      v[0] += v[1];
      v[1] = rotate (v[1], 13) ^ v[0];
      v[0] = rotate (v[0], 32);
      v[2] += v[3];
      v[3] = rotate (v[3], 16) ^ v[2];
      v[0] += v[3];
      v[3] = rotate (v[3], 21) ^ v[0];
      v[2] += v[1];
      v[1] = rotate (v[1], 17) ^ v[2];
      v[2] = rotate (v[2], 32);
    }
}

static uint64_t hash (const struct oci_hash_key *key, const char *name, size_t len)
{
  uint64_t v[4] = {
    key->k0 ^ UINT64_C (0x736f6d6570736575),
    key->k1 ^ UINT64_C (0x646f72616e646f6d),
    key->k0 ^ UINT64_C (0x6c7967656e657261),
    key->k1 ^ UINT64_C (0x7465646279746573),
  };
  uint64_t last = (uint64_t)len << 56;

  for (; len >= 8; name += 8, len -= 8)
    {
      uint64_t word;

      /* In the byte order of the machine: the value never leaves the process.  */
      memcpy (&word, name, sizeof word);
      v[3] ^= word;
      sip_rounds (v, 2);
      v[0] ^= word;
    }
  for (size_t i = 0; i < len; i++)
    last |= (uint64_t)(unsigned char)name[i] << (8 * i);
  v[3] ^= last;
  sip_rounds (v, 2);
  v[0] ^= last;
  v[2] ^= 0xff;
  sip_rounds (v, 4);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

void oci_keyset_clear (struct oci_keyset *set)
{
  set->generation++;
  set->used = 0;
}

void oci_keyset_free (struct oci_keyset *set)
{
  free (set->slots);
  memset (set, 0, sizeof *set);
}

/* The slot that holds NAME, or the free one where it belongs.  */
static struct oci_key *find_slot (const struct oci_keyset *set, const struct oci_hash_key *key,
                                  const char *name, size_t len)
{
  size_t i = (size_t)hash (key, name, len) & (set->size - 1);

  for (;; i = (i + 1) & (set->size - 1))
    {
      struct oci_key *slot = &set->slots[i];

      if (slot->generation != set->generation
          || (slot->len == len && memcmp (slot->name, name, len) == 0))
        return slot;
    }
}

static int grow (struct oci_keyset *set, const struct oci_hash_key *key)
{
  struct oci_keyset larger = { .generation = set->generation };

  larger.size = set->size > 0 ? set->size * 2 : FIRST_SLOTS;
  larger.slots = calloc (larger.size, sizeof *larger.slots);
  if (larger.slots == NULL)
    return -ENOMEM;
  for (size_t i = 0; i < set->size; i++)
    if (set->slots[i].generation == set->generation)
      *find_slot (&larger, key, set->slots[i].name, set->slots[i].len) = set->slots[i];
  larger.used = set->used;
  free (set->slots);
  *set = larger;
  return 0;
}

int oci_keyset_add (struct oci_keyset *set, const struct oci_hash_key *key, const char *name,
                    size_t len)
{
  struct oci_key *slot;

  if (set->used * 2 >= set->size)
    {
      int r = grow (set, key);

      if (r < 0)
        return r;
    }
  slot = find_slot (set, key, name, len);
  if (slot->generation == set->generation)
    return 0;
  *slot = (struct oci_key){ .name = name, .len = (uint32_t)len, .generation = set->generation };
  set->used++;
  return 1;
}
