/* SPDX-License-Identifier: Apache-2.0 */
/* The conversation of parent and init: each message at its place, and no other.  */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "container/sync.h"

struct pair
{
  int ends[2];
  struct error err;
};

static int open_pair (void **state)
{
  struct pair *p = calloc (1, sizeof *p);
  assert_non_null (p);
  assert_int_equal (sync_pair (p->ends, &p->err), 0);
  *state = p;
  return 0;
}

static int close_pair (void **state)
{
  struct pair *p = *state;
  close (p->ends[0]);
  close (p->ends[1]);
  free (p);
  return 0;
}

static void test_text_arrives (void **state)
{
  struct pair *p = *state;
  char *text = NULL;
  assert_int_equal (sync_send (p->ends[0], SYNC_HOOKED, "{\"id\":\"c\"}", &p->err), 0);
  assert_int_equal (sync_expect (p->ends[1], SYNC_HOOKED, &text, &p->err), 0);
  assert_string_equal (text, "{\"id\":\"c\"}");
  free (text);
}

static void test_wrong_order (void **state)
{
  struct pair *p = *state;
  assert_int_equal (sync_send (p->ends[1], SYNC_READY, NULL, &p->err), 0);
  assert_int_equal (sync_expect (p->ends[0], SYNC_PREPARED, NULL, &p->err), -EPROTO);
}

static void test_error_keeps_its_sentence (void **state)
{
  struct pair *p = *state;
  struct error said;
  error_set (&said, -ENOENT, "exec: \"x\": executable file not found in $PATH");
  sync_send_error (p->ends[1], &said);
  assert_int_equal (sync_expect (p->ends[0], SYNC_READY, NULL, &p->err), -ENOENT);
  assert_string_equal (p->err.message, said.message);
}

static void test_other_side_gone (void **state)
{
  struct pair *p = *state;
  shutdown (p->ends[1], SHUT_RDWR);
  assert_int_equal (sync_expect (p->ends[0], SYNC_READY, NULL, &p->err), -EPIPE);
}

/* A packet that is no message at all: too short for a header.  */
static void test_short_packet (void **state)
{
  struct pair *p = *state;
  assert_int_equal (send (p->ends[1], "x", 1, 0), 1);
  assert_int_equal (sync_expect (p->ends[0], SYNC_READY, NULL, &p->err), -EPROTO);
}

/* A state with many annotations is still one packet.  */
static void test_long_text (void **state)
{
  struct pair *p = *state;
  char *text = NULL, *sent = malloc (100001);
  memset (sent, 'a', 100000);
  sent[100000] = '\0';
  assert_int_equal (sync_send (p->ends[0], SYNC_HOOKED, sent, &p->err), 0);
  assert_int_equal (sync_expect (p->ends[1], SYNC_HOOKED, &text, &p->err), 0);
  assert_string_equal (text, sent);
  free (text);
  free (sent);
}

int main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown (test_text_arrives, open_pair, close_pair),
    cmocka_unit_test_setup_teardown (test_wrong_order, open_pair, close_pair),
    cmocka_unit_test_setup_teardown (test_error_keeps_its_sentence, open_pair, close_pair),
    cmocka_unit_test_setup_teardown (test_other_side_gone, open_pair, close_pair),
    cmocka_unit_test_setup_teardown (test_short_packet, open_pair, close_pair),
    cmocka_unit_test_setup_teardown (test_long_text, open_pair, close_pair),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
