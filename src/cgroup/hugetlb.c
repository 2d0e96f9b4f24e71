/* SPDX-License-Identifier: Apache-2.0 */
/* linux.resources.hugepageLimits.  Pure code.  config-linux.md "Huge page limits": reservations are
   limited where the kernel counts them, else use.  */
#include "cgroup/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

/* The size becomes part of a file name, so it is "2MB" and the like and nothing else.  */
static bool is_page_size (const char *s)
{
  size_t digits = s == NULL ? 0 : strspn (s, "0123456789");

  return digits > 0 && digits <= 6 && s[0] != '0' && strchr ("KMG", s[digits]) != NULL
         && s[digits] != '\0' && strcmp (s + digits + 1, "B") == 0;
}

static int plan_limit (struct planner *p, const struct oci_hugepage_limit *l, struct error *err)
{
  bool v2 = plan_version (p, CONTROLLER_HUGETLB) == CONTROLLER_V2;
  const char *suffix = v2 ? "max" : "limit_in_bytes";
  char quoted[STR_QUOTE_MAX];
  char file[64], other[64], value[PLAN_VALUE_MAX];
  int r;

  if (!is_page_size (l->page_size))
    return error_set (err, -EINVAL,
                      "linux.resources.hugepageLimits: pageSize %s is not a size like 2MB",
                      str_quote (l->page_size, quoted));
  if (!l->has_limit)
    return error_set (err, -EINVAL, "linux.resources.hugepageLimits: the entry for %s has no limit",
                      l->page_size);
  snprintf (file, sizeof (file), "hugetlb.%s.rsvd.%s", l->page_size, suffix);
  snprintf (other, sizeof (other), "hugetlb.%s.%s", l->page_size, suffix);
  snprintf (value, sizeof (value), "%" PRIu64, l->limit);
  r = plan_write (p, CONTROLLER_HUGETLB, 0, "hugepageLimits", file, value, err);
  return r < 0 ? r : plan_write_other (p, other, value, err);
}

int plan_hugetlb (struct planner *p, const struct oci_resources *r, struct error *err)
{
  for (size_t i = 0; i < r->hugepage_limits_len; i++)
    {
      int ret = plan_limit (p, &r->hugepage_limits[i], err);
      if (ret < 0)
        return ret;
    }
  return 0;
}
