/* SPDX-License-Identifier: Apache-2.0 */
/* list: the containers below the state root.  */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "cli/command.h"
#include "container/container.h"

#define SPEC_VERSION "1.3.0"

struct list_options
{
  const char *format;
  bool quiet;
};

static const struct option_row rows[] = {
  { "format", 'f', OPTION_STRING, offsetof (struct list_options, format), "FORMAT",
    "table or json" },
  { "quiet", 'q', OPTION_FLAG, offsetof (struct list_options, quiet), NULL, "ids only" },
  { NULL, 0, OPTION_FLAG, 0, NULL, NULL },
};

static void add_member (struct strbuf *b, const char *name, const char *value)
{
  strbuf_printf (b, ",\"%s\":", name);
  strbuf_json_string (b, value);
}

static void add_json (struct strbuf *b, const struct container_entry *e)
{
  strbuf_add (b, "{\"ociVersion\":\"" SPEC_VERSION "\",\"id\":");
  strbuf_json_string (b, e->id);
  strbuf_printf (b, ",\"pid\":%d", e->pid);
  add_member (b, "status", e->status);
  add_member (b, "bundle", e->bundle);
  add_member (b, "rootfs", e->rootfs);
  add_member (b, "created", e->created);
  add_member (b, "owner", e->owner);
  if (e->problem != NULL)
    add_member (b, "problem", e->problem);
  strbuf_add (b, "}");
}

static int show_json (const struct container_entry *entries, size_t len, struct error *err)
{
  cleanup_strbuf struct strbuf b = { 0 };

  strbuf_add (&b, "[");
  for (size_t i = 0; i < len; i++)
    {
      strbuf_add (&b, i > 0 ? ",\n" : "");
      add_json (&b, &entries[i]);
    }
  strbuf_add (&b, "]\n");
  if (b.failed)
    return error_set (err, -ENOMEM, "out of memory for the list");
  fputs (b.data, stdout);
  return 0;
}

/* A path comes from a bundle and may hold anything: one line stays one line.  */
static void show_table (const struct container_entry *entries, size_t len)
{
  int width = 12;
  char quoted[STR_QUOTE_MAX];

  for (size_t i = 0; i < len; i++)
    if ((int)strlen (entries[i].id) > width)
      width = (int)strlen (entries[i].id);
  printf ("%-*s %-8s %-8s %-30s %-10s %s\n", width, "ID", "PID", "STATUS", "CREATED", "OWNER",
          "BUNDLE");
  for (size_t i = 0; i < len; i++)
    {
      const struct container_entry *e = &entries[i];

      printf ("%-*s %-8d %-8s %-30s %-10s %s\n", width, e->id, e->pid, e->status, e->created,
              e->owner, str_quote (e->problem != NULL ? e->problem : e->bundle, quoted));
    }
}

static int run_list (const struct invocation *in, struct error *err)
{
  const struct list_options *o = in->values;
  cleanup_arena struct arena *arena = arena_new ();
  struct container_entry *entries;
  size_t len;
  bool json = str_equal (o->format, "json");
  char quoted[STR_QUOTE_MAX];
  int r;

  if (o->format != NULL && !json && !str_equal (o->format, "table"))
    return error_set (err, -EINVAL, "list: --format is table or json, not %s",
                      str_quote (o->format, quoted));
  if (arena == NULL)
    return error_set (err, -ENOMEM, "out of memory for the list");
  r = container_list (state_root_path (in->global), arena, &entries, &len, err);
  if (r < 0)
    return r;
  if (o->quiet)
    for (size_t i = 0; i < len; i++)
      printf ("%s\n", entries[i].id);
  else if (json)
    return show_json (entries, len, err);
  else
    show_table (entries, len);
  return 0;
}

const struct command command_list = {
  .name = "list",
  .arguments = "",
  .summary = "list the containers",
  .options = rows,
  .values_size = sizeof (struct list_options),
  .failure = 1,
  .run = run_list,
};
