/* SPDX-License-Identifier: Apache-2.0 */
/* Owns the reading of /proc/self/mountinfo.  Runs in the parent, needs no privilege.  */
#include "spec/mountinfo.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/str.h"

/* A host with many thousand containers has some megabytes of it.  */
#define MOUNTINFO_MAX (256 * 1024 * 1024)

/* Blank, tab, newline and backslash are written as \ooo.  In place.  */
static void unescape (char *s)
{
  char *to = s;

  for (; *s != '\0'; s++, to++)
    {
      *to = *s;
      if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' && s[3] >= '0'
          && s[3] <= '7')
        {
          *to = (char)((s[1] - '0') * 64 + (s[2] - '0') * 8 + (s[3] - '0'));
          s += 3;
        }
    }
  *to = '\0';
}

/* The first field behind the separator of the optional ones, "-".  */
static char *type_field (char *rest)
{
  char *field;

  while ((field = strsep (&rest, " ")) != NULL)
    if (strcmp (field, "-") == 0)
      return strsep (&rest, " ");
  return NULL;
}

/* "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw".  */
static bool parse_line (char *line, struct mount_entry *ret)
{
  char *fields[5];
  char *rest = line;

  for (size_t i = 0; i < ARRAY_SIZE (fields); i++)
    {
      fields[i] = strsep (&rest, " ");
      if (fields[i] == NULL)
        return false;
    }
  if (str_to_u64 (fields[0], 0, UINT64_MAX, &ret->id) < 0)
    return false;
  ret->root = fields[3];
  ret->point = fields[4];
  ret->type = type_field (rest);
  unescape (ret->root);
  unescape (ret->point);
  return ret->type != NULL;
}

static int parse_text (struct mountinfo *m, size_t len)
{
  size_t lines = 1;
  char *rest = m->text;
  char *line;

  for (size_t i = 0; i < len; i++)
    lines += m->text[i] == '\n';
  free (m->entries);
  m->len = 0;
  m->entries = calloc (lines, sizeof *m->entries);
  if (m->entries == NULL)
    return -ENOMEM;
  while ((line = strsep (&rest, "\n")) != NULL)
    if (line[0] != '\0')
      {
        if (!parse_line (line, &m->entries[m->len]))
          return -EPROTO;
        m->len++;
      }
  return 0;
}

bool mountinfo_changed (struct mountinfo *m)
{
  struct pollfd p = { .fd = m->fd, .events = POLLPRI };

  return m->fd < 0 || poll (&p, 1, 0) != 0;
}

int mountinfo_refresh (struct mountinfo *m)
{
  struct error err = { 0 };
  char *text;
  size_t len;
  int r;

  if (!mountinfo_changed (m) && m->text != NULL)
    return 0;
  if (m->fd < 0)
    m->fd = open ("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
  if (m->fd < 0 || lseek (m->fd, 0, SEEK_SET) < 0)
    return -errno;
  r = fd_read_all (m->fd, MOUNTINFO_MAX, "/proc/self/mountinfo", &text, &len, &err);
  if (r < 0)
    return r;
  free (m->text);
  m->text = text;
  return parse_text (m, len);
}

const struct mount_entry *mountinfo_find (const struct mountinfo *m, uint64_t id)
{
  for (size_t i = 0; i < m->len; i++)
    if (m->entries[i].id == id)
      return &m->entries[i];
  return NULL;
}

void mountinfo_free (struct mountinfo *m)
{
  cleanup_closep (&m->fd);
  free (m->text);
  free (m->entries);
  *m = (struct mountinfo){ .fd = -1 };
}
