/* SPDX-License-Identifier: Apache-2.0 */
/* Owns the one reading of config.json.  Runs in the parent, needs the right to read the bundle.
   The file is opened without a right to its content first (O_PATH), so that a fifo doesn't block
   and a device isn't touched before its kind is known.  */
#include "spec/load.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "base/sha256.h"
#include "base/str.h"
#include "ocispec_runtime.h"

static int open_directory (const char *path, struct bundle *b, struct error *err)
{
  char quoted[STR_QUOTE_MAX];
  struct stat st;

  b->dirfd = open (path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (b->dirfd < 0)
    return error_errno (err, errno, "open bundle %s", str_quote (path, quoted));
  if (fstat (b->dirfd, &st) < 0)
    return error_errno (err, errno, "examine bundle %s", str_quote (path, quoted));
  b->uid = st.st_uid;
  b->mode = st.st_mode;
  return path_of_fd (b->dirfd, &b->path, err);
}

/* A descriptor to read the regular file NAME, or a negative errno.  */
static int open_config (const char *name, int dirfd, struct bundle *b, struct error *err)
{
  cleanup_close int fd = openat (dirfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  char quoted[STR_QUOTE_MAX];
  struct stat st;
  int readable;

  if (fd < 0)
    return error_errno (err, errno, "open configuration %s", str_quote (b->config_name, quoted));
  if (fstat (fd, &st) < 0)
    return error_errno (err, errno, "examine configuration %s", str_quote (b->config_name, quoted));
  if (!S_ISREG (st.st_mode))
    return error_set (err, S_ISLNK (st.st_mode) ? -ELOOP : -EINVAL,
                      "configuration %s is %s, not a regular file",
                      str_quote (b->config_name, quoted),
                      S_ISLNK (st.st_mode) ? "a symbolic link" : "a special file or directory");
  if (dirfd == AT_FDCWD)
    {
      /* Later commands run elsewhere.  */
      int r = path_of_fd (fd, &b->config_path, err);
      if (r < 0)
        return r;
    }
  b->config_uid = st.st_uid;
  b->config_mode = st.st_mode;
  readable = open (fd_path (fd).path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (readable < 0)
    return error_errno (err, errno, "read configuration %s", str_quote (b->config_name, quoted));
  return readable;
}

/* Up to one byte more than a configuration may have: the parser then says what is wrong, with the
   rule's name.  */
static int read_config (int fd, struct bundle *b, struct error *err)
{
  const size_t max = (size_t)OCI_MAX_BYTES + 1;
  size_t size = 0;
  ssize_t n = 1;
  char *grown;

  while (n > 0 && b->len < max)
    {
      if (b->len + 1 >= size)
        {
          size = size == 0 ? 32 * 1024 : size * 2;
          grown = realloc (b->bytes, size);
          if (grown == NULL)
            return error_errno (err, ENOMEM, "read configuration");
          b->bytes = grown;
        }
      n = read (fd, b->bytes + b->len,
                (size - b->len - 1 < max - b->len) ? size - b->len - 1 : max - b->len);
      if (n < 0 && errno == EINTR)
        n = 1;
      else if (n < 0)
        return error_errno (err, errno, "read configuration");
      else
        b->len += (size_t)n;
    }
  b->bytes[b->len] = '\0';
  return 0;
}

static int load_config (const char *config, struct bundle *b, struct error *err)
{
  cleanup_close int fd = -1;
  char hex[SHA256_HEX_SIZE];
  int r;

  b->config_name = strdup (config == NULL ? "config.json" : config);
  if (b->config_name == NULL)
    return error_errno (err, ENOMEM, "load bundle");
  fd = open_config (b->config_name, config == NULL ? b->dirfd : AT_FDCWD, b, err);
  if (fd < 0)
    return fd;
  r = read_config (fd, b, err);
  if (r < 0)
    return r;
  r = sha256_hex (b->bytes, b->len, hex);
  if (r < 0)
    return error_errno (err, -r, "digest of configuration");
  snprintf (b->digest, sizeof b->digest, "sha256:%s", hex);
  return 0;
}

int bundle_load (const char *path, const char *config, struct bundle *ret, struct error *err)
{
  cleanup_bundle struct bundle b = { .dirfd = -1 };
  int r;

  r = open_directory (path == NULL ? "." : path, &b, err);
  if (r < 0)
    return r;
  r = load_config (config, &b, err);
  if (r < 0)
    return r;
  *ret = b;
  b = (struct bundle){ .dirfd = -1 };
  return 0;
}

void bundle_free (struct bundle *b)
{
  /* A zeroed bundle is an empty one: 0 is never ours, fd_open_missing_stdio sees to that.  */
  if (b->dirfd > 0)
    cleanup_closep (&b->dirfd);
  free (b->path);
  free (b->config_name);
  free (b->config_path);
  free (b->bytes);
  memset (b, 0, sizeof *b);
  b->dirfd = -1;
}
