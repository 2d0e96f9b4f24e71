/* SPDX-License-Identifier: Apache-2.0 */
/* mounts add, mounts remove: of a container that exists.  What is added is judged together with the
   configuration of the container, by the same stages as create.  */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "cli/command.h"
#include "cli/stages.h"
#include "container/mounts.h"
#include "spec/validate.h"

/* A list of mounts, or an object with a member `mounts`, as in config.json.  */
static int read_mounts (const char *file, struct arena *arena, struct findings *findings,
                        struct oci_config **ret, struct error *err)
{
  cleanup_free char *bytes = NULL;
  cleanup_strbuf struct strbuf text = { 0 };
  size_t len, blank = 0;
  void *parsed = NULL;
  int r = document_load (file, &bytes, &len, err);
  if (r < 0)
    return r;
  while (blank < len && (bytes[blank] == ' ' || (bytes[blank] >= '\t' && bytes[blank] <= '\r')))
    blank++;
  bool is_list = blank < len && bytes[blank] == '[';
  strbuf_add (&text, is_list ? "{\"mounts\":" : "");
  strbuf_add_n (&text, bytes, len);
  strbuf_add (&text, is_list ? "}" : "");
  if (text.failed)
    return error_set (err, -ENOMEM, "out of memory for the mounts");
  r = spec_parse_text (&oci_config_type, file, text.data, text.len, arena, findings, &parsed, err);
  if (r < 0 && !findings_reject (findings))
    return r;
  *ret = parsed;
  if (parsed == NULL)
    return error_set (err, -EINVAL, "%s: %s", file,
                      findings->len > 0 ? findings->items[findings->len - 1].message
                                        : "it is malformed");
  return (*ret)->mounts_len > 0 ? 0 : error_set (err, -EINVAL, "%s lists no mount", file);
}

/* What the container was made of.  */
struct origin
{
  char *bundle, *config, *digest;
};

static int read_origin (const char *root, const char *id, struct arena *arena, struct origin *ret,
                        struct error *err)
{
  cleanup_container struct container c = CONTAINER_INIT;
  int r = container_open_shared (root, id, &c, err);
  if (r < 0)
    return r;
  const struct record *record = c.record;
  ret->bundle = arena_strdup (arena, record->plan->bundle);
  ret->config = record->config == NULL ? NULL : arena_strdup (arena, record->config);
  ret->digest = arena_strdup (arena, record->plan->config_digest);
  return ret->bundle == NULL || ret->digest == NULL
             ? error_set (err, -ENOMEM, "out of memory for the container")
             : 0;
}

/* Not locked meanwhile: the judgement looks at other containers' records, too.  */
static int add (const struct invocation *in, const char *id, const struct oci_config *asked,
                struct arena *arena, struct error *err)
{
  const char *root = state_root_path (in->global);
  cleanup_judged struct judged judged = JUDGED_INIT;
  cleanup_container struct container c = CONTAINER_INIT;
  struct origin origin;
  struct plan *plan;
  int r = read_origin (root, id, arena, &origin, err);
  if (r < 0)
    return r;
  const struct judge_options options = { .bundle = origin.bundle,
                                         .config = origin.config,
                                         .id = id,
                                         .more_mounts = asked->mounts,
                                         .more_mounts_len = asked->mounts_len };
  r = stages_judge (in->global, &options, &judged, err);
  if (r == 0 && !str_equal (judged.bundle.digest, origin.digest))
    r = error_set (err, -EPERM,
                   "lifecycle.record: config.json of \"%s\" is not the one that was admitted", id);
  if (r == 0 && judged.denied)
    r = stages_denial (&judged, err);
  if (r == 0)
    r = stages_plan (&judged, &plan, err);
  if (r == 0)
    r = container_open (root, id, false, &c, err);
  if (r == 0 && !str_equal (c.record->plan->config_digest, origin.digest))
    r = error_set (err, -EBUSY, "container \"%s\" is another one by now", id);
  return r < 0 ? r : container_mounts_add (&c, plan, asked->mounts_len, &judged.resolved, err);
}

static int remove_mounts (const struct invocation *in, const char *id,
                          const struct oci_config *asked, struct arena *arena, struct error *err)
{
  cleanup_container struct container c = CONTAINER_INIT;
  const char **destinations = arena_alloc_array (arena, asked->mounts_len, sizeof *destinations);
  if (destinations == NULL)
    return error_set (err, -ENOMEM, "out of memory for the mounts");
  for (size_t i = 0; i < asked->mounts_len; i++)
    if ((destinations[i] = asked->mounts[i].destination) == NULL)
      return error_set (err, -EINVAL, "mount %zu has no destination", i);
  int r = container_open (state_root_path (in->global), id, false, &c, err);
  return r < 0 ? r : container_mounts_remove (&c, destinations, asked->mounts_len, err);
}

static int run_mounts (const struct invocation *in, struct error *err)
{
  static const struct
  {
    const char *name;
    int (*run) (const struct invocation *, const char *, const struct oci_config *, struct arena *,
                struct error *);
  } actions[] = { { "add", add }, { "remove", remove_mounts } };
  cleanup_arena struct arena *arena = arena_new ();
  struct findings findings = { .arena = arena };
  struct oci_config *asked = NULL;
  char quoted[STR_QUOTE_MAX];
  if (arena == NULL)
    return error_set (err, -ENOMEM, "out of memory for the mounts");
  for (size_t i = 0; i < ARRAY_SIZE (actions); i++)
    {
      if (!str_equal (in->argv[0], actions[i].name))
        continue;
      int r = container_id_check (in->argv[1], err);
      if (r == 0)
        r = read_mounts (in->argv[2], arena, &findings, &asked, err);
      return r < 0 ? r : actions[i].run (in, in->argv[1], asked, arena, err);
    }
  return error_set (err, -EINVAL, "mounts: the action is add or remove, not %s",
                    str_quote (in->argv[0], quoted));
}

const struct command command_mounts = {
  .name = "mounts",
  .arguments = "add|remove ID FILE",
  .summary = "add mounts to a container, and take them away",
  .min_args = 3,
  .max_args = 3,
  .failure = 1,
  .enters_container = true,
  .run = run_mounts,
};
