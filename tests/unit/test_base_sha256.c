/* SPDX-License-Identifier: Apache-2.0 */
/* src/base/sha256.c against the examples of FIPS 180.  No privilege needed.  */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "base/sha256.h"

static void test_known_digests (void **state)
{
  char hex[SHA256_HEX_SIZE];

  (void)state;
  assert_int_equal (sha256_hex ("abc", 3, hex), 0);
  assert_string_equal (hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  assert_int_equal (
      sha256_hex ("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, hex), 0);
  assert_string_equal (hex, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

static void test_empty_and_null (void **state)
{
  char hex[SHA256_HEX_SIZE];

  (void)state;
  assert_int_equal (sha256_hex (NULL, 0, hex), 0);
  assert_string_equal (hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

static void test_every_byte_counts (void **state)
{
  char one[SHA256_HEX_SIZE], other[SHA256_HEX_SIZE];
  const char data[] = { 'a', '\0', 'b' };

  (void)state;
  sha256_hex (data, 3, one);
  sha256_hex (data, 1, other);
  assert_string_not_equal (one, other);
}

int main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_known_digests),
    cmocka_unit_test (test_empty_and_null),
    cmocka_unit_test (test_every_byte_counts),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
