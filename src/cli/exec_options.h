/* SPDX-License-Identifier: Apache-2.0 */
/* The options of exec.  */
#pragma once

#include "cli/command.h"

struct exec_options
{
  const char *process;
  const char *pid_file;
  const char *console_socket;
  const char *user;
  const char *cwd;
  const char *cgroup;
  const char *apparmor;
  const char *process_label;
  const char *pidfd_socket;
  struct option_list additional_gids;
  struct option_list env;
  struct option_list cap;
  unsigned preserve_fds;
  bool detach;
  bool tty;
  bool no_new_privs;
  bool ignore_paused;
  bool no_subreaper; /* accepted: crun and runc have it, here there is none */
};
