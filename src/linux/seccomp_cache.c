/* SPDX-License-Identifier: Apache-2.0 */
/* Owns the directory of compiled seccomp programs, SECCOMP_CACHE_DIR.  Runs in the parent, as root,
   in the host's mount namespace.  Only root can write there, and the kernel verifies each program
   once more; what is checked here is that a file is what this build would compile: no link is
   followed, owner and mode are root's, and a digest inside covers the key and every byte.  Any
   doubt means compiling.  /run is empty after a boot, so that nothing grows old.  */
#include "linux/seccomp_cache.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/openat2.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "arena.h"
#include "base/cleanup.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/sha256.h"
#include "base/str.h"

#define NO_LINKS      (RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS)
#define FORMAT        "agentrun seccomp 1"
#define DIGEST_LEN    (SHA256_HEX_SIZE - 1)
#define OTHERS_ACCESS (S_IRWXG | S_IRWXO)

/* The file: the digest of all that follows, then this, then the instructions.  */
struct body
{
  char key[DIGEST_LEN];
  uint32_t flags;
  uint32_t len;
};
#define FILE_MAX (DIGEST_LEN + sizeof (struct body) + BPF_MAXINSNS * sizeof (struct sock_filter))

/* ---- the key ---- */

struct build_id
{
  char hex[2 * 64 + 1];
};

static bool find_note (const char *note, size_t size, struct build_id *ret)
{
  while (size >= sizeof (ElfW (Nhdr)))
    {
      ElfW (Nhdr) head;
      memcpy (&head, note, sizeof head);
      size_t name = (head.n_namesz + 3U) & ~3U, descriptor = (head.n_descsz + 3U) & ~3U;
      if (name + descriptor > size - sizeof head)
        return false;
      const char *text = note + sizeof head;
      const unsigned char *id = (const unsigned char *)text + name;
      if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == sizeof ELF_NOTE_GNU
          && memcmp (text, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0 && head.n_descsz <= 64)
        {
          for (size_t i = 0; i < head.n_descsz; i++)
            snprintf (ret->hex + 2 * i, 3, "%02x", id[i]);
          return head.n_descsz > 0;
        }
      note += sizeof head + name + descriptor;
      size -= sizeof head + name + descriptor;
    }
  return false;
}

/* The first object is the program itself.  */
static int look_at_program (struct dl_phdr_info *info, size_t size, void *data)
{
  (void)size;
  for (size_t i = 0; i < info->dlpi_phnum; i++)
    {
      const ElfW (Phdr) *header = &info->dlpi_phdr[i];
      const char *at = (const char *)(info->dlpi_addr + header->p_vaddr); /* NOLINT: its own */
      if (header->p_type == PT_NOTE && find_note (at, header->p_memsz, data))
        return 1;
    }
  return -1;
}

static void add_request (struct strbuf *b, const struct seccomp_request *request)
{
  strbuf_printf (b, "builtin %d baseline %d allowed", request->builtin, request->baseline);
  for (size_t i = 0; i < request->allowed_len; i++)
    strbuf_printf (b, " %s", request->allowed[i]);
  strbuf_printf (b, "\n");
}

int seccomp_cache_key (const struct seccomp_request *request, char ret[SECCOMP_CACHE_KEY_SIZE])
{
  const struct scmp_version *library = seccomp_version ();
  cleanup_arena struct arena *arena = arena_new ();
  cleanup_strbuf struct strbuf b = { 0 };
  struct build_id build = { "" };
  struct utsname kernel;
  char *profile = (char *)"";
  size_t len = 0;
  if (dl_iterate_phdr (look_at_program, &build) <= 0 || library == NULL || uname (&kernel) < 0)
    return -ENOENT;
  if (arena == NULL
      || (request->profile != NULL
          && oci_emit (&oci_seccomp_type, request->profile, 0, arena, &profile, &len) < 0))
    return -ENOMEM;
  strbuf_printf (&b, "%s\nbuild %s\nlibseccomp %u.%u.%u\nkernel %s %s %s\n", FORMAT, build.hex,
                 library->major, library->minor, library->micro, kernel.release, kernel.version,
                 kernel.machine);
  add_request (&b, request);
  strbuf_printf (&b, "%s", profile);
  return b.failed ? -ENOMEM : sha256_hex (b.data, b.len, ret);
}

/* ---- one file ---- */

static int check_file (int fd)
{
  struct stat st;
  if (fstat (fd, &st) < 0)
    return -errno;
  if (!S_ISREG (st.st_mode) || st.st_uid != 0 || (st.st_mode & OTHERS_ACCESS) != 0
      || st.st_nlink != 1)
    return -EPERM;
  return (size_t)st.st_size <= FILE_MAX ? (int)st.st_size : -EBADMSG;
}

static int parse (const char *data, size_t size, const char *key, struct seccomp_program *ret)
{
  char digest[SHA256_HEX_SIZE];
  struct body body;
  const char *rest = data + DIGEST_LEN;
  if (size < DIGEST_LEN + sizeof body || sha256_hex (rest, size - DIGEST_LEN, digest) < 0
      || memcmp (digest, data, DIGEST_LEN) != 0)
    return -EBADMSG;
  memcpy (&body, rest, sizeof body);
  size_t bytes = size - DIGEST_LEN - sizeof body;
  if (memcmp (body.key, key, DIGEST_LEN) != 0 || body.len == 0 || body.len > BPF_MAXINSNS
      || bytes != body.len * sizeof (struct sock_filter))
    return -EBADMSG;
  struct sock_filter *filter = malloc (bytes);
  if (filter == NULL)
    return -ENOMEM;
  memcpy (filter, rest + sizeof body, bytes);
  *ret = (struct seccomp_program){ filter, (unsigned short)body.len, body.flags };
  return 0;
}

int seccomp_cache_load (const char *dir, const char *key, struct seccomp_program *ret)
{
  cleanup_free char *path = NULL, *data = NULL;
  if (asprintf (&path, "%s/%s", dir, key) < 0)
    {
      path = NULL;
      return -ENOMEM;
    }
  /* O_NONBLOCK: a fifo in its place would hold us up.  */
  cleanup_close int fd =
      path_openat2 (AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, NO_LINKS);
  int size = fd < 0 ? fd : check_file (fd);
  if (size < 0)
    return size;
  data = malloc ((size_t)size + 1);
  if (data == NULL)
    return -ENOMEM;
  ssize_t n = read (fd, data, (size_t)size + 1);
  if (n < 0)
    return -errno;
  return n == size ? parse (data, (size_t)n, key, ret) : -EBADMSG;
}

/* ---- the directory ---- */

static int make_directory (const char *path)
{
  return mkdir (path, 0700) < 0 && errno != EEXIST ? -errno : 0;
}

static int open_directory (const char *dir, int *ret_fd)
{
  const uint64_t flags = O_RDONLY | O_DIRECTORY;
  struct stat st;
  int opened = path_openat2 (AT_FDCWD, dir, flags, 0, NO_LINKS);
  if (opened == -ENOENT)
    {
      cleanup_free char *parent = strndup (dir, (size_t)(strrchr (dir, '/') - dir));
      if (parent == NULL)
        return -ENOMEM;
      int r = make_directory (parent);
      if (r == 0)
        r = make_directory (dir);
      if (r < 0)
        return r;
      opened = path_openat2 (AT_FDCWD, dir, flags, 0, NO_LINKS);
    }
  cleanup_close int fd = opened;
  if (fd < 0)
    return fd;
  if (fstat (fd, &st) < 0)
    return -errno;
  if (st.st_uid != 0 || (st.st_mode & OTHERS_ACCESS) != 0)
    return -EPERM;
  *ret_fd = steal_fd (&fd);
  return 0;
}

/* Removes the oldest if there is no room for one more.  *RET_MORE: there may still be too many.  */
static int make_room (int dirfd, bool *ret_more)
{
  cleanup_close int fd = openat (dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  cleanup_dir DIR *list = fd < 0 ? NULL : fdopendir (fd);
  char oldest[NAME_MAX + 1] = "";
  struct timespec least = { 0 };
  struct dirent *entry;
  size_t n = 0;
  *ret_more = false;
  if (list == NULL)
    return -errno;
  steal_fd (&fd);
  while (errno = 0, (entry = readdir (list)) != NULL)
    {
      struct stat st;
      if (str_equal (entry->d_name, ".") || str_equal (entry->d_name, "..")
          || fstatat (dirfd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        continue;
      bool older = st.st_mtim.tv_sec < least.tv_sec
                   || (st.st_mtim.tv_sec == least.tv_sec && st.st_mtim.tv_nsec < least.tv_nsec);
      if (n++ == 0 || older)
        {
          snprintf (oldest, sizeof oldest, "%s", entry->d_name);
          least = st.st_mtim;
        }
    }
  if (errno != 0)
    return -errno;
  if (n < SECCOMP_CACHE_ENTRIES)
    return 0;
  *ret_more = true;
  return unlinkat (dirfd, oldest, 0) < 0 && errno != ENOENT ? -errno : 0;
}

static int write_file (int dirfd, const char *key, const char *data, size_t size)
{
  char name[NAME_MAX + 1];
  snprintf (name, sizeof name, ".%s.%d", key, (int)getpid ());
  unlinkat (dirfd, name, 0); /* of one that had our number and was killed */
  cleanup_close int fd =
      openat (dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0)
    return -errno;
  int r = fd_write_all (fd, data, size, NULL);
  if (r == 0 && renameat (dirfd, name, dirfd, key) < 0)
    r = -errno;
  if (r < 0)
    unlinkat (dirfd, name, 0);
  return r;
}

int seccomp_cache_store (const char *dir, const char *key, const struct seccomp_program *program)
{
  const size_t bytes = program->len * sizeof *program->filter;
  const size_t size = DIGEST_LEN + sizeof (struct body) + bytes;
  struct body body = { .flags = program->flags, .len = program->len };
  char digest[SHA256_HEX_SIZE];
  cleanup_close int dirfd = -1;
  bool more = true;
  if (program->len == 0)
    return -EINVAL;
  cleanup_free char *data = malloc (size);
  if (data == NULL)
    return -ENOMEM;
  memcpy (body.key, key, DIGEST_LEN);
  memcpy (data + DIGEST_LEN, &body, sizeof body);
  memcpy (data + DIGEST_LEN + sizeof body, program->filter, bytes);
  int r = sha256_hex (data + DIGEST_LEN, size - DIGEST_LEN, digest);
  if (r < 0)
    return r;
  memcpy (data, digest, DIGEST_LEN);
  r = open_directory (dir, &dirfd);
  for (int i = 0; r == 0 && more && i < SECCOMP_CACHE_ENTRIES; i++)
    r = make_room (dirfd, &more);
  return r < 0 ? r : write_file (dirfd, key, data, size);
}

/* ---- both ---- */

int seccomp_get (const struct seccomp_request *request, struct seccomp_program *ret,
                 struct error *err)
{
  char key[SECCOMP_CACHE_KEY_SIZE];
  /* The baseline alone is made faster than it is read.  */
  bool cached = (request->profile != NULL || request->builtin) && geteuid () == 0
                && seccomp_cache_key (request, key) == 0;
  if (cached && seccomp_cache_load (SECCOMP_CACHE_DIR, key, ret) == 0)
    return 0;
  int r = seccomp_build (request, ret, err);
  if (r == 0 && cached && ret->len > 0)
    (void)seccomp_cache_store (SECCOMP_CACHE_DIR, key, ret); /* else it is compiled again */
  return r;
}
