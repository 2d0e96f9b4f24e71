/* SPDX-License-Identifier: Apache-2.0 */
/* linux.intelRdt: a group's name and the lines of its schemata file.  Pure code.  */
#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "plan/make.h"

static size_t count_lines (const char *text)
{
  size_t n = 1;
  for (; text != NULL && *text != '\0'; text++)
    n += *text == '\n';
  return n;
}

/* l3CacheSchema may have several lines; the specification wants those that begin with MB: left out,
   which are for memBwSchema.  */
static int add_lines (const char *text, bool cache, struct arena *arena, struct plan_intel_rdt *p)
{
  while (text != NULL && *text != '\0')
    {
      size_t len = strcspn (text, "\n");
      if (len > 0 && !(cache && str_has_prefix (text, "MB:")))
        {
          char *line = arena_strndup (arena, text, len);
          if (line == NULL)
            return -ENOMEM;
          p->schemata[p->schemata_len++] = line;
        }
      text += len;
      text += *text == '\n';
    }
  return 0;
}

int plan_make_intel_rdt (const struct plan_input *in, struct arena *arena, struct plan *plan,
                         struct error *err)
{
  const struct oci_linux *l = in->admission->config->linux;
  const struct oci_intel_rdt *asked = l == NULL ? NULL : l->intel_rdt;
  if (asked == NULL)
    return 0;
  size_t n = asked->schemata_len + count_lines (asked->l3_cache_schema)
             + count_lines (asked->mem_bw_schema);
  struct plan_intel_rdt *p = arena_alloc (arena, sizeof *p);
  if (p == NULL || (p->schemata = arena_alloc_array (arena, n, sizeof *p->schemata)) == NULL)
    return error_set (err, -ENOMEM, "out of memory while planning");
  bool named = asked->clos_id != NULL && asked->clos_id[0] != '\0';
  p->group = named ? asked->clos_id : arena_strdup (arena, in->id);
  SET_NUMBER (p, named, named);
  SET_NUMBER (p, monitoring, asked->enable_monitoring);
  for (size_t i = 0; i < asked->schemata_len; i++)
    p->schemata[p->schemata_len++] = asked->schemata[i];
  if (p->group == NULL || add_lines (asked->l3_cache_schema, true, arena, p) < 0
      || add_lines (asked->mem_bw_schema, false, arena, p) < 0)
    return error_set (err, -ENOMEM, "out of memory while planning");
  p->has_schemata = p->schemata_len > 0;
  plan->intel_rdt = p;
  return 0;
}
