/* SPDX-License-Identifier: Apache-2.0 */
/* libocispec: what the reader refuses, each json.* rule with pointer and line.  No privilege
   needed.  */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ocispec.h"

#define LENGTH(a) (sizeof (a) / sizeof *(a))

/* ---- refusals: a document and the one error that it gets ---- */

struct refusal
{
  const char *document;
  const char *rule;
  const char *pointer;
  unsigned line;
  const char *message; /* NULL: not looked at */
  size_t len;          /* of the document, when it has a NUL */
};

static void check_refusal (const struct refusal *c, unsigned flags)
{
  cleanup_arena struct arena *arena = arena_new ();
  struct oci_report report = { 0 };
  struct oci_config *config = (struct oci_config *)&report;
  size_t len = c->len > 0 ? c->len : strlen (c->document);
  int r = oci_config_parse (arena, c->document, len, flags, &report, &config);

  if (r != -EINVAL || report.errors_len != 1 || strcmp (report.errors[0].rule, c->rule) != 0)
    fail_msg ("%s: got %d, %zu errors, first %s", c->document, r, report.errors_len,
              report.errors_len > 0 ? report.errors[0].rule : "none");
  if (strcmp (report.errors[0].pointer, c->pointer) != 0 || report.errors[0].line != c->line)
    fail_msg ("%s: at %s line %u", c->document, report.errors[0].pointer, report.errors[0].line);
  if (c->message != NULL)
    assert_string_equal (report.errors[0].message, c->message);
  assert_ptr_equal (config, &report);
}

static void check_refusals (const struct refusal *cases, size_t count, unsigned flags)
{
  for (size_t i = 0; i < count; i++)
    check_refusal (&cases[i], flags);
}

static void test_syntax (void **state)
{
  static const struct refusal cases[] = {
    { "", "json.syntax", "", 1, "the document is empty", 0 },
    { " \n\n", "json.syntax", "", 3, "the document is empty", 0 },
    { "[]", "json.syntax", "", 1, "the document is not a JSON object", 0 },
    { "null", "json.syntax", "", 1, "the document is not a JSON object", 0 },
    { "12", "json.syntax", "", 1, "the document is not a JSON object", 0 },
    { "{", "json.syntax", "", 1, "the document ends before its object does", 0 },
    { "{\"hostname\":\n", "json.syntax", "/hostname", 2, "the document ends before its object does",
      0 },
    { "{\"root\":{\"path\":\"x", "json.syntax", "/root/path", 1, "a string has no end", 0 },
    { "{\"hostname\":\"x\",}", "json.syntax", "", 1, NULL, 0 },
    { "{\"mounts\":[{},]}", "json.syntax", "/mounts/1", 1, NULL, 0 },
    { "{\"root\":\n{\"readonly\":tru}}", "json.syntax", "/root/readonly", 2, NULL, 0 },
    { "{\"linux\" {}}", "json.syntax", "/linux", 1, NULL, 0 },
    { "{'linux':{}}", "json.syntax", "", 1, NULL, 0 },
    { "\xef\xbb\xbf{}", "json.syntax", "", 1, "the document begins with a byte order mark", 0 },
  };

  (void)state;
  check_refusals (cases, LENGTH (cases), 0);
}

static void test_numbers_follow_the_grammar (void **state)
{
  static const char *const numbers[] = { "01",  "-",  "1.",  "+1",       ".5",        "1e",
                                         "0x1", "00", "- 1", "Infinity", "-Infinity", "NaN" };

  (void)state;
  for (size_t i = 0; i < LENGTH (numbers); i++)
    {
      char document[64];
      struct refusal c = { document, "json.syntax", "/annotations/x", 3, NULL, 0 };

      /* After a first digit 0 the member is complete for yajl, and the rest is too much.  */
      snprintf (document, sizeof document, "{\"windows\":\n{\n\"x\":%s}}", numbers[i]);
      c.pointer = numbers[i][0] == '0' ? "/windows" : "/windows/x";
      check_refusal (&c, 0);
    }
}

static void test_trailing_data (void **state)
{
  /* An unfinished token after the document is what yajl alone would take.  */
  static const char *const rests[] = { "x", "tru", "1", "{}", "]", "}", ",", "\n\n-" };
  static const struct refusal string = {
    "{}\n\"abc", "json.syntax", "", 2, "a string has no end", 0
  };

  (void)state;
  for (size_t i = 0; i < LENGTH (rests); i++)
    {
      char document[32];
      struct refusal c = { document, "json.syntax", "", 1, NULL, 0 };

      snprintf (document, sizeof document, "{} %s", rests[i]);
      c.line = rests[i][0] == '\n' ? 3 : 1;
      c.message = "there is more after the end of the object";
      check_refusal (&c, 0);
    }
  check_refusal (&string, 0);
}

static void test_bytes_and_escapes (void **state)
{
  static const char half[] = "half of a surrogate pair in a string";
  static const struct refusal cases[] = {
    { "{\"hostname\":\n\"\\ud800\"}", "json.syntax", "/hostname", 2, half, 0 },
    { "{\"hostname\":\"\\udc00\"}", "json.syntax", "/hostname", 1, half, 0 },
    { "{\"hostname\":\"\\ud800\\u0041\"}", "json.syntax", "/hostname", 1, half, 0 },
    { "{\"hostname\":\"\\ud800\\ud800\"}", "json.syntax", "/hostname", 1, half, 0 },
    { "{\"\\ud800\":1}", "json.syntax", "", 1, half, 0 },
    { "{\"hostname\":\"\\u0000\"}", "json.syntax", "/hostname", 1, "NUL character in a string", 0 },
    { "{\"hostname\":\"\\x41\"}", "json.syntax", "/hostname", 1, "unknown escape in a string", 0 },
    { "{\"hostname\":\"\\u00g0\"}", "json.syntax", "/hostname", 1,
      "an escape in a string is not complete", 0 },
    { "{\"hostname\":\"a\0b\"}", "json.syntax", "/hostname", 1, "NUL byte", 18 },
    { "{}\0", "json.syntax", "", 1, "NUL byte", 3 },
    { "{\"hostname\":\"a\tb\"}", "json.syntax", "/hostname", 1, "control character in a string",
      0 },
    { "{\"hostname\":\"a\nb\"}", "json.syntax", "/hostname", 1, "control character in a string",
      0 },
    { "{\"hostname\":\"\xc0\x80\"}", "json.syntax", "/hostname", 1, "invalid UTF-8", 0 },
    { "{\"hostname\":\"\xe0\x80\xaf\"}", "json.syntax", "/hostname", 1, "invalid UTF-8", 0 },
    { "{\"hostname\":\"\xed\xa0\x80\"}", "json.syntax", "/hostname", 1, "invalid UTF-8", 0 },
    { "{\"hostname\":\"\xf4\x90\x80\x80\"}", "json.syntax", "/hostname", 1, "invalid UTF-8", 0 },
    { "{\"hostname\":\"\xe2\x82\"}", "json.syntax", "/hostname", 1, "invalid UTF-8", 0 },
    { "{\"hostname\":\"\x80\"}", "json.syntax", "/hostname", 1, "invalid UTF-8", 0 },
    { "{\v}", "json.syntax", "", 1, "control character between values", 0 },
    { "{\f}", "json.syntax", "", 1, "control character between values", 0 },
    { "{\xc2\xa0}", "json.syntax", "", 1, NULL, 0 },
  };

  (void)state;
  check_refusals (cases, LENGTH (cases), 0);
}

static void test_control_characters (void **state)
{
  static const struct refusal cases[] = {
    { "{\"root\":{\n\"path\":\"/a\\nb\"}}", "json.syntax", "/root/path", 2,
      "control character in a path", 0 },
    { "{\"root\":{\"path\":\"/a\\u007f\"}}", "json.syntax", "/root/path", 1,
      "control character in a path", 0 },
    { "{\"hostname\":\"a\\u001bb\"}", "json.syntax", "/hostname", 1, "control character in a name",
      0 },
    { "{\"linux\":{\"maskedPaths\":[\"/a\",\"/\\t\"]}}", "json.syntax", "/linux/maskedPaths/1", 1,
      "control character in a path", 0 },
    { "{\"annotations\":{\"a\\u001b[31m\":\"\"}}", "json.syntax", "/annotations", 1,
      "control character in the member name \"a\\x1b[31m\"", 0 },
    { "{\"x\":{\"a\\n\":1}}", "json.syntax", "/x", 1,
      "control character in the member name \"a\\x0a\"", 0 },
  };

  (void)state;
  check_refusals (cases, LENGTH (cases), 0);
}

static void test_duplicate (void **state)
{
  static const struct refusal cases[] = {
    { "{\"hostname\":\"a\",\n\"hostname\":\"b\"}", "json.duplicate", "/hostname", 2,
      "the member \"hostname\" is repeated", 0 },
    { "{\"hostname\":\"a\",\"host\\u006eame\":\"b\"}", "json.duplicate", "/hostname", 1,
      "the member \"hostname\" is repeated", 0 },
    { "{\"hostname\":null,\"hostname\":\"b\"}", "json.duplicate", "/hostname", 1, NULL, 0 },
    { "{\"x\":[{\"y\":{\"a/b\":1,\n\n\"a/b\":2}}]}", "json.duplicate", "/x/0/y/a~1b", 3, NULL, 0 },
    { "{\"windows\":{\"q~\":1,\"q~\":2}}", "json.duplicate", "/windows/q~0", 1, NULL, 0 },
    { "{\"annotations\":{\"\":\"1\",\"\":\"2\"}}", "json.duplicate", "/annotations/", 1, NULL, 0 },
    { "{\"linux\":{\"netDevices\":{\"e\":{},\"e\":{}}}}", "json.duplicate", "/linux/netDevices/e",
      1, NULL, 0 },
  };

  (void)state;
  check_refusals (cases, LENGTH (cases), 0);
}

static void test_case (void **state)
{
  static const struct refusal cases[] = {
    { "{\"Process\":{\"x\":1}}", "json.case", "/Process", 1,
      "\"Process\" differs from the member \"process\" only by case", 0 },
    { "{\"proces\xc5\xbf\":{}}", "json.case", "/proces\xc5\xbf", 1,
      "\"proces\\xc5\\xbf\" differs from the member \"process\" only by case", 0 },
    { "{\"hoo\xe2\x84\xaas\":{}}", "json.case", "/hoo\xe2\x84\xaas", 1, NULL, 0 },
    { "{\"process\":{\"user\":\n{\"UID\":0}}}", "json.case", "/process/user/UID", 2,
      "\"UID\" differs from the member \"uid\" only by case", 0 },
  };

  (void)state;
  check_refusals (cases, LENGTH (cases), 0);
}

static void test_type (void **state)
{
  static const char an_array[] = "expected an array";
  static const char an_object[] = "expected an object";
  static const char a_string[] = "expected a string";
  static const char a_bool[] = "expected true or false";
  static const struct refusal cases[] = {
    { "{\"hostname\":1}", "json.type", "/hostname", 1, a_string, 0 },
    { "{\"hostname\":{\"a\":[1]}}", "json.type", "/hostname", 1, a_string, 0 },
    { "{\"root\":{\"path\":true}}", "json.type", "/root/path", 1, a_string, 0 },
    { "{\"root\":{\"readonly\":\n\"true\"}}", "json.type", "/root/readonly", 2, a_bool, 0 },
    { "{\"root\":{\"readonly\":1}}", "json.type", "/root/readonly", 1, a_bool, 0 },
    { "{\"root\":[]}", "json.type", "/root", 1, an_object, 0 },
    { "{\"mounts\":{}}", "json.type", "/mounts", 1, an_array, 0 },
    { "{\"mounts\":[[]]}", "json.type", "/mounts/0", 1, an_object, 0 },
    { "{\"mounts\":[{},null]}", "json.type", "/mounts/1", 1, an_object, 0 },
    { "{\"process\":{\"args\":[\"a\",null]}}", "json.type", "/process/args/1", 1, a_string, 0 },
    { "{\"annotations\":[]}", "json.type", "/annotations", 1, an_object, 0 },
    { "{\"annotations\":{\"a\":1}}", "json.type", "/annotations/a", 1, a_string, 0 },
    { "{\"annotations\":{\"a\":null}}", "json.type", "/annotations/a", 1, a_string, 0 },
    { "{\"linux\":{\"netDevices\":{\"a\":\"\"}}}", "json.type", "/linux/netDevices/a", 1, an_object,
      0 },
  };

  (void)state;
  check_refusals (cases, LENGTH (cases), 0);
}

static void test_type_errors_are_collected (void **state)
{
  static const char document[] =
      "{\"process\":{\"user\":{\"uid\":\"0\",\n\"gid\":1.0},\"args\":{},\"cwd\":[{\"a\":1}],"
      "\"TTY\":1,\"Env\":[]},\n\"hostname\":\"a\",\"hostname\":\"b\"}";
  static const struct oci_issue expected[] = {
    { "json.type", (char *)"/process/user/uid", 1, NULL },
    { "json.type", (char *)"/process/user/gid", 2, NULL },
    { "json.type", (char *)"/process/args", 2, NULL },
    { "json.type", (char *)"/process/cwd", 2, NULL },
    { "json.case", (char *)"/process/Env", 2, NULL },
    { "json.duplicate", (char *)"/hostname", 3, NULL },
  };
  cleanup_arena struct arena *arena = arena_new ();
  struct oci_report report = { 0 };
  struct oci_config *config = NULL;

  (void)state;
  assert_int_equal (oci_config_parse (arena, document, sizeof document - 1, 0, &report, &config),
                    -EINVAL);
  assert_int_equal (report.errors_len, LENGTH (expected));
  for (size_t i = 0; i < LENGTH (expected); i++)
    {
      assert_string_equal (report.errors[i].rule, expected[i].rule);
      assert_string_equal (report.errors[i].pointer, expected[i].pointer);
      assert_int_equal (report.errors[i].line, expected[i].line);
    }
  assert_int_equal (report.unknown_len, 1);
  assert_string_equal (report.unknown[0].pointer, "/process/TTY");
}

/* BEFORE, COUNT times MIDDLE, AFTER; owned by the caller.  */
static char *repeat (const char *before, const char *middle, size_t count, const char *after)
{
  size_t len = strlen (middle);
  char *text = malloc (strlen (before) + len * count + strlen (after) + 1);
  char *end = text;

  assert_non_null (text);
  end = stpcpy (end, before);
  for (size_t i = 0; i < count; i++)
    end = stpcpy (end, middle);
  strcpy (end, after);
  return text;
}

static void test_at_most_100_findings (void **state)
{
  char *document = repeat ("{\"process\":{\"args\":[1", ",1", 300, "]},\"vm\":1,\"vm\":2}");
  cleanup_arena struct arena *arena = arena_new ();
  struct oci_report report = { 0 };
  struct oci_config *config = NULL;

  (void)state;
  assert_int_equal (oci_config_parse (arena, document, strlen (document), 0, &report, &config),
                    -EINVAL);
  assert_int_equal (report.errors_len, OCI_MAX_ISSUES);
  assert_string_equal (report.errors[99].pointer, "/process/args/99");
  free (document);
}

static void test_depth (void **state)
{
  static const char *const openings[] = { "{\"x\":", "{\"windows\":" };

  (void)state;
  for (size_t i = 0; i < LENGTH (openings); i++)
    for (size_t inner = 63; inner <= 64; inner++)
      {
        char *arrays = repeat (openings[i], "[", inner, "");
        char *document = repeat (arrays, "]", inner, "}");
        cleanup_arena struct arena *arena = arena_new ();
        struct oci_report report = { 0 };
        struct oci_config *config = NULL;
        int r = oci_config_parse (arena, document, strlen (document), 0, &report, &config);

        assert_int_equal (r, inner == 63 ? 0 : -EINVAL);
        assert_int_equal (report.errors_len, inner == 63 ? 0 : 1);
        if (report.errors_len > 0)
          assert_string_equal (report.errors[0].rule, "json.size");
        free (document);
        free (arrays);
      }
}

static void test_size (void **state)
{
  char *document = repeat ("{}", " ", OCI_MAX_BYTES - 2, " ");
  cleanup_arena struct arena *arena = arena_new ();
  struct oci_report report = { 0 };
  struct oci_config *config = NULL;

  (void)state;
  assert_int_equal (oci_config_parse (arena, document, OCI_MAX_BYTES, 0, &report, &config), 0);
  assert_int_equal (oci_config_parse (arena, document, OCI_MAX_BYTES + 1, 0, &report, &config),
                    -EINVAL);
  assert_int_equal (report.errors_len, 1);
  assert_string_equal (report.errors[0].rule, "json.size");
  assert_string_equal (report.errors[0].pointer, "");
  free (document);
}

static void test_unknown (void **state)
{
  static const char document[] = "{\"a/b~\":1,\n\"root\":{\"new\":{\"deep\":[]},\"path\":\"/\"}}";
  cleanup_arena struct arena *arena = arena_new ();
  struct oci_report report = { 0 };
  struct oci_config *config = NULL;

  (void)state;
  assert_int_equal (oci_config_parse (arena, document, sizeof document - 1, 0, &report, &config),
                    0);
  assert_int_equal (report.errors_len, 0);
  assert_int_equal (report.unknown_len, 2);
  assert_string_equal (report.unknown[0].rule, "json.unknown");
  assert_string_equal (report.unknown[0].pointer, "/a~1b~0");
  assert_string_equal (report.unknown[0].message, "unknown member \"a/b~\"");
  assert_string_equal (report.unknown[1].pointer, "/root/new");
  assert_int_equal (report.unknown[1].line, 2);
  assert_string_equal (config->root->path, "/");
}

static void test_long_names_are_cut (void **state)
{
  char *document = repeat ("{\"", "\xc3\xa9", 400, "\":1}");
  cleanup_arena struct arena *arena = arena_new ();
  struct oci_report report = { 0 };
  struct oci_config *config = NULL;

  (void)state;
  assert_int_equal (oci_config_parse (arena, document, strlen (document), 0, &report, &config), 0);
  assert_int_equal (strlen (report.unknown[0].pointer), 1 + 256 + 3);
  assert_true (strlen (report.unknown[0].message) < 300);
  assert_non_null (strstr (report.unknown[0].message, "...\""));
  free (document);
}

/* ---- comments ---- */

static void test_comments (void **state)
{
  static const char document[] = "// a\n{ /* b\n \" */ \"hostname\": \"/* c // d\" // e\n} /**/ //";
  static const struct refusal without[] = {
    { "{}\n//", "json.syntax", "", 2, "comments are not allowed here", 0 },
    { "{/**/}", "json.syntax", "", 1, "comments are not allowed here", 0 },
  };
  static const struct refusal with[] = {
    { "{\n/* x", "json.syntax", "", 2, "a comment has no end", 0 },
    { "{/*/}", "json.syntax", "", 1, "a comment has no end", 0 },
    { "{/* \xff */}", "json.syntax", "", 1, "invalid UTF-8", 0 },
    { "{/* \n\x1b */}", "json.syntax", "", 2, "control character in a comment", 0 },
    { "{/}", "json.syntax", "", 1, "a slash stands outside of a string", 0 },
    { "//\n{\"a\" /*\n*/ :1,\n\"a\":1}", "json.duplicate", "/a", 4, NULL, 0 },
    { "{\"hostname\":1/**/2}", "json.type", "/hostname", 1, NULL, 0 },
  };
  cleanup_arena struct arena *arena = arena_new ();
  struct oci_report report = { 0 };
  struct oci_config *config = NULL;

  (void)state;
  assert_int_equal (
      oci_config_parse (arena, document, sizeof document - 1, OCI_ALLOW_COMMENTS, &report, &config),
      0);
  assert_string_equal (config->hostname, "/* c // d");
  check_refusals (without, LENGTH (without), 0);
  check_refusals (with, LENGTH (with) - 1, OCI_ALLOW_COMMENTS);

  /* A comment separates tokens: 1 and 2 are not 12.  */
  memset (&report, 0, sizeof report);
  assert_int_equal (oci_config_parse (arena, with[6].document, strlen (with[6].document),
                                      OCI_ALLOW_COMMENTS, &report, &config),
                    -EINVAL);
  assert_int_equal (report.errors_len, 2);
  assert_string_equal (report.errors[1].rule, "json.syntax");
}

int main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_syntax),
    cmocka_unit_test (test_numbers_follow_the_grammar),
    cmocka_unit_test (test_trailing_data),
    cmocka_unit_test (test_bytes_and_escapes),
    cmocka_unit_test (test_control_characters),
    cmocka_unit_test (test_duplicate),
    cmocka_unit_test (test_case),
    cmocka_unit_test (test_type),
    cmocka_unit_test (test_type_errors_are_collected),
    cmocka_unit_test (test_at_most_100_findings),
    cmocka_unit_test (test_depth),
    cmocka_unit_test (test_size),
    cmocka_unit_test (test_unknown),
    cmocka_unit_test (test_long_names_are_cut),
    cmocka_unit_test (test_comments),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
