/* SPDX-License-Identifier: Apache-2.0 */
/* create and run: load, parse, validate, query, resolve, admit (stages_judge), plan, execute and
   record.  */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "cli/command.h"
#include "cli/create_options.h"
#include "cli/stages.h"
#include "container/container.h"
#include "container/parent.h"
#include "policy/policy.h"
#include "spec/validate.h"

static const struct option_row create_option_rows[] = {
  CREATE_OPTION_ROWS,
  { NULL, 0, OPTION_FLAG, 0, NULL, NULL },
};

/* What this build can't do is refused, not dropped.  */
static int check_options (const struct create_options *o, struct error *err)
{
  if (o->no_pivot)
    return error_set (err, -ENOTSUP,
                      "cli.unsafe: --no-pivot would leave the host's root within reach: refused");
  return 0;
}

int create_prepare (const struct invocation *in, struct judged *judged, struct create_request *ret,
                    struct error *err)
{
  const struct create_options *o = in->values;
  const struct judge_options options = {
    .bundle = o->bundle,
    .config = o->config,
    .id = in->argv[0],
    .preserve_fds = o->preserve_fds,
    .no_pivot = o->no_pivot,
    .no_new_keyring = o->no_new_keyring,
  };
  struct plan *plan;
  int r = container_id_check (in->argv[0], err);
  if (r == 0)
    r = check_options (o, err);
  if (r == 0)
    r = stages_judge (in->global, &options, judged, err);
  if (r == 0)
    r = stages_check_descriptors (in->global, o->preserve_fds + judged->request.listen_fds, err);
  if (r == 0 && judged->denied)
    r = stages_denial (judged, err);
  if (r == 0)
    r = stages_plan (judged, &plan, err);
  if (r < 0)
    return r;
  *ret = (struct create_request){
    .root = judged->request.state_root,
    .plan = plan,
    .resolved = &judged->resolved,
    .bundle = &judged->bundle,
    .config = judged->bundle.config_path,
    .pid_file = o->pid_file,
    .pidfd_socket = o->pidfd_socket,
    .console_socket = o->console_socket,
    .notify_socket = getenv ("NOTIFY_SOCKET"),
    .preserve_fds = o->preserve_fds,
    .listen_fds = judged->request.listen_fds,
    .no_new_keyring = o->no_new_keyring,
    .detach = o->detach,
    .keep = o->keep,
  };
  return 0;
}

static int run_create (const struct invocation *in, struct error *err)
{
  cleanup_judged struct judged judged = JUDGED_INIT;
  struct create_request request;
  struct created created = CREATED_INIT;
  int r = create_prepare (in, &judged, &request, err);
  if (r == 0)
    r = container_create (&request, &created, err);
  cleanup_closep (&created.pidfd);
  return r;
}

const struct command command_create = {
  .name = "create",
  .arguments = "ID",
  .summary = "judge a bundle and, if it is admitted, make its container, ready to start",
  .options = create_option_rows,
  .values_size = sizeof (struct create_options),
  .min_args = 1,
  .max_args = 1,
  .enters_container = true,
  .judges_bundle = true,
  .failure = 1,
  .run = run_create,
};
