/* SPDX-License-Identifier: Apache-2.0 */
/* Owns the reading of documents other than config.json, and the making of a first config.json. Runs
   in the command's process, needs the right to read or make the file.  */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/str.h"
#include "spec/load.h"

#define DOCUMENT_MAX ((size_t)OCI_MAX_BYTES + 1)

/* A process substitution is a pipe; anything else that isn't a regular file has no business here.
   O_NONBLOCK keeps a fifo without a writer from blocking the open, it would only end a pipe too
   early afterwards.  */
static int open_document (const char *path, const char *quoted, struct error *err)
{
  cleanup_close int fd = open (path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  struct stat st;

  if (fd < 0)
    return error_errno (err, errno, "open %s", quoted);
  if (fstat (fd, &st) < 0)
    return error_errno (err, errno, "examine %s", quoted);
  if (!S_ISREG (st.st_mode) && !S_ISFIFO (st.st_mode))
    return error_set (err, -EINVAL, "%s is neither a regular file nor a pipe", quoted);
  if (fcntl (fd, F_SETFL, 0) < 0)
    return error_errno (err, errno, "read %s", quoted);
  return steal_fd (&fd);
}

int document_load (const char *path, char **ret_bytes, size_t *ret_len, struct error *err)
{
  char quoted[STR_QUOTE_MAX];
  bool standard_input = str_equal (path, "-");
  cleanup_close int fd = -1;

  if (standard_input)
    return fd_read_all (STDIN_FILENO, DOCUMENT_MAX, "standard input", ret_bytes, ret_len, err);
  str_quote (path, quoted);
  fd = open_document (path, quoted, err);
  return fd < 0 ? fd : fd_read_all (fd, DOCUMENT_MAX, quoted, ret_bytes, ret_len, err);
}

int document_create (const char *directory, const char *name, const char *text, struct error *err)
{
  char quoted[STR_QUOTE_MAX];
  const char *place = directory == NULL ? "." : directory;
  cleanup_close int dirfd = open (place, O_PATH | O_DIRECTORY | O_CLOEXEC);
  cleanup_close int fd = -1;
  int r;

  str_quote (place, quoted);
  if (dirfd < 0)
    return error_errno (err, errno, "open %s", quoted);
  fd = openat (dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (fd < 0 && errno == EEXIST)
    return error_set (err, -EEXIST, "%s exists already in %s: it is not overwritten", name, quoted);
  if (fd < 0)
    return error_errno (err, errno, "make %s in %s", name, quoted);
  r = fd_write_all (fd, text, strlen (text), err);
  if (r < 0)
    unlinkat (dirfd, name, 0);
  return r;
}
