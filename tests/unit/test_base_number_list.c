/* SPDX-License-Identifier: Apache-2.0 */
/* src/base/number_list.c.  No privilege needed.  */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>

#include "base/number_list.h"
#include "base/str.h"

static void lists_become_bits (void **state)
{
  (void)state;
  unsigned long bits[2] = { ~0UL, ~0UL };
  assert_int_equal (number_list_parse ("0-3,7,64", bits, 2), 0);
  assert_int_equal (bits[0], 0x8f);
  assert_int_equal (bits[1], 1);
  assert_int_equal (number_list_parse ("127", bits, 2), 0);
  assert_int_equal (bits[0], 0);
  assert_true (bits[1] == 1UL << 63);
}

static void what_is_no_list (void **state)
{
  (void)state;
  static const char *const bad[] = { "",  ",",  "0,", ",0",    "0-",   "-1",  "2-1",
                                     "a", " 0", "0 ", "0-1-2", "0,,1", "0x1", "+1" };
  unsigned long bits[2];
  for (size_t i = 0; i < ARRAY_SIZE (bad); i++)
    if (number_list_parse (bad[i], bits, 2) != -EINVAL)
      fail_msg ("\"%s\" was taken", bad[i]);
  assert_int_equal (number_list_parse ("128", bits, 2), -ERANGE);
  assert_int_equal (number_list_parse ("0-128", bits, 2), -ERANGE);
  assert_int_equal (number_list_parse ("99999999999999999999999999", bits, 2), -ERANGE);
}

int main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (lists_become_bits),
    cmocka_unit_test (what_is_no_list),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
