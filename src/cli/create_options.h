/* SPDX-License-Identifier: Apache-2.0 */
/* The options that create and run have in common.  */
#pragma once

#include "cli/command.h"
#include "cli/stages.h"
#include "container/container.h"

struct create_options
{
  const char *bundle;
  const char *config;
  const char *pid_file;
  const char *pidfd_socket;
  const char *console_socket;
  unsigned preserve_fds;
  bool no_pivot;
  bool no_new_keyring;
  bool detach; /* these two are of run alone */
  bool keep;
  bool no_subreaper; /* accepted: crun and runc have it, here there is none */
};

#define CREATE_OPTION(name, letter, kind, member, argument, help)                                  \
  {                                                                                                \
    name, letter, kind, offsetof (struct create_options, member), argument, help                   \
  }

#define CREATE_OPTION_ROWS                                                                         \
  CREATE_OPTION ("bundle", 'b', OPTION_STRING, bundle, "DIR", "the bundle (working directory)"),   \
      CREATE_OPTION ("config", 'f', OPTION_STRING, config, "FILE",                                 \
                     "in place of config.json in the bundle"),                                     \
      CREATE_OPTION ("pid-file", 0, OPTION_STRING, pid_file, "FILE", "write the pid there"),       \
      CREATE_OPTION ("pidfd-socket", 0, OPTION_STRING, pidfd_socket, "SOCKET",                     \
                     "send a descriptor of the process there (pidfd_open(2))"),                    \
      CREATE_OPTION ("console-socket", 0, OPTION_STRING, console_socket, "SOCKET",                 \
                     "send the terminal's master to this socket"),                                 \
      CREATE_OPTION ("preserve-fds", 0, OPTION_UNSIGNED, preserve_fds, "N",                        \
                     "pass N descriptors from 3 up to the process"),                               \
      CREATE_OPTION ("no-pivot", 0, OPTION_FLAG, no_pivot, NULL, "refused: use pivot_root"),       \
      CREATE_OPTION ("no-new-keyring", 0, OPTION_FLAG, no_new_keyring, NULL,                       \
                     "keep the caller's session keyring"),                                         \
      CREATE_OPTION ("no-subreaper", 0, OPTION_FLAG, no_subreaper, NULL, "accepted")

/* From the arguments to what container_create takes; a denial is an error here.  */
int create_prepare (const struct invocation *, struct judged *, struct create_request *ret,
                    struct error *err);
