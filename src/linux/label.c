/* SPDX-License-Identifier: Apache-2.0 */
/* Owns: the exec attribute of AppArmor and SELinux.  Runs in init or a joining process, after the
   change of user, without privilege.  No library: it would have to be loaded, and its /proc is not
   the verified one.  */

#include "linux/label.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/str.h"
#include "linux/procfs.h"

static const struct
{
  const char *lsm;
  const char *format;   /* of what is written */
  const char *files[2]; /* the first that exists: attr/exec is shared by all LSMs */
} attributes[] = {
  { "apparmor", "exec ", { "thread-self/attr/apparmor/exec", "thread-self/attr/exec" } },
  { "selinux", "", { "thread-self/attr/exec", NULL } },
};

static int open_attribute (int procfd, const char *const files[2], int *ret_fd, struct error *err)
{
  int r = procfs_open_file (procfd, files[0], O_WRONLY, ret_fd, err);
  if (r == -ENOENT && files[1] != NULL)
    r = procfs_open_file (procfd, files[1], O_WRONLY, ret_fd, err);
  return r;
}

int lsm_set_exec_label (int procfd, const char *lsm, const char *label, struct error *err)
{
  size_t i = 0;
  while (i < ARRAY_SIZE (attributes) && !str_equal (attributes[i].lsm, lsm))
    i++;
  char quoted[STR_QUOTE_MAX];
  if (i == ARRAY_SIZE (attributes))
    return error_set (err, -EINVAL, "there is no label of \"%s\"", str_quote (lsm, quoted));
  str_quote (label, quoted);
  if (label[0] == '\0' || strchr (label, '\n') != NULL)
    return error_set (err, -EINVAL, "\"%s\" is not a label of %s", quoted, lsm);

  cleanup_close int fd = -1;
  int r = open_attribute (procfd, attributes[i].files, &fd, err);
  if (r < 0)
    return error_context (err, "set the %s label \"%s\"", lsm, quoted);

  cleanup_strbuf struct strbuf text = { 0 };
  strbuf_printf (&text, "%s%s", attributes[i].format, label);
  if (text.failed)
    return error_errno (err, ENOMEM, "set the %s label", lsm);
  ssize_t n = write (fd, text.data, text.len);
  if (n == (ssize_t)text.len)
    return 0;
  int errnum = n < 0 ? errno : EIO;
  /* Without any LSM the kernel says EINVAL; SELinux says so of an unknown context as well.  */
  return error_errno (err, errnum, "set the %s label \"%s\"%s", lsm, quoted,
                      errnum == EINVAL   ? " (not running in this kernel, or unknown to it)"
                      : errnum == ENOENT ? " (it is not loaded)"
                                         : "");
}
