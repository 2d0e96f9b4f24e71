/* SPDX-License-Identifier: Apache-2.0 */
/* man/agentrun-config.5 has a row for each field that the schema of config.json knows, each row a
   field, and says of each what becomes of it.  No privilege needed.  */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/str.h"
#include "ocispec.h"

#define ROWS_MAX  512
#define ROW_START ".It Cm "

struct rows
{
  char *text;
  const char *names[ROWS_MAX], *words[ROWS_MAX];
  bool met[ROWS_MAX];
  size_t n;
};

static void read_rows (struct rows *rows)
{
  const char *top = getenv ("srcdir");
  struct error err = { 0 };
  char path[4096], *line;
  size_t len;
  snprintf (path, sizeof path, "%s/man/agentrun-config.5", top == NULL ? "." : top);
  cleanup_close int fd = open (path, O_RDONLY | O_CLOEXEC);
  assert_true (fd >= 0);
  if (fd_read_all (fd, 1024UL * 1024, path, &rows->text, &len, &err) < 0)
    fail_msg ("%s", err.message);
  bool after_row = false;
  for (char *at = rows->text; (line = strsep (&at, "\n")) != NULL;)
    {
      if (after_row)
        rows->words[rows->n++] = line;
      after_row = str_has_prefix (line, ROW_START);
      assert_true (rows->n < ROWS_MAX);
      if (after_row)
        rows->names[rows->n] = line + strlen (ROW_START);
    }
}

/* '*' stands for any part of one component.  */
static bool matches (const char *pattern, const char *name)
{
  for (; *pattern != '*'; pattern++, name++)
    if (*pattern != *name)
      return false;
    else if (*pattern == '\0')
      return true;
  for (; *name != '\0' && *name != '.'; name++)
    if (matches (pattern + 1, name))
      return true;
  return false;
}

static size_t find_row (struct rows *rows, const char *name)
{
  size_t found = 0;
  for (size_t i = 0; i < rows->n; i++)
    if (matches (rows->names[i], name))
      {
        rows->met[i] = true;
        found++;
      }
  return found;
}

static size_t walk (const struct oci_type *type, const char *above, struct rows *rows)
{
  size_t missing = 0;
  for (size_t i = 0; i < type->members_len; i++)
    {
      const struct oci_member *m = &type->members[i];
      char name[256];
      snprintf (name, sizeof name, "%s%s%s%s", above, above[0] != '\0' ? "." : "", m->name,
                m->shape == OCI_ARRAY ? "[]"
                : m->shape == OCI_MAP ? "{}"
                                      : "");
      if (m->type != NULL)
        missing += walk (m->type, name, rows);
      else if (find_row (rows, name) != 1)
        {
          print_error ("%s has no row, or several\n", name);
          missing++;
        }
    }
  return missing;
}

static void each_field_has_a_row (void **state)
{
  static struct rows rows;
  (void)state;
  read_rows (&rows);
  assert_true (rows.n > 100);
  assert_int_equal (walk (&oci_config_type, "", &rows), 0);
  for (size_t i = 0; i < rows.n; i++)
    {
      if (!rows.met[i])
        fail_msg ("%s is no field", rows.names[i]);
      if (!str_equal (rows.words[i], ".Em Applied.") && !str_equal (rows.words[i], ".Em Refused.")
          && !str_equal (rows.words[i], ".Em Not Linux."))
        fail_msg ("%s: %s says nothing", rows.names[i], rows.words[i]);
    }
  free (rows.text);
}

int main (void)
{
  const struct CMUnitTest tests[] = { cmocka_unit_test (each_field_has_a_row) };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
