#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Seccomp agents: SCMP_ACT_NOTIFY, listenerPath, listenerMetadata (config-linux.md, The Container Process
# State), for the container's process and for an exec.

load lib.bash

setup_file () { common_setup_file; }
teardown_file () { common_teardown_file; }

setup ()
{
  common_setup
  AGENT=
  edit '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", listenerPath: $p, listenerMetadata: "for the agent",
    syscalls: [{names: ["mkdir", "mkdirat"], action: "SCMP_ACT_NOTIFY"}]}' --arg p "$T/agent"
}

teardown ()
{
  [ -z "$AGENT" ] || kill "$AGENT"
  common_teardown
}

agent ()
{
  python3 "$BATS_TEST_DIRNAME/seccomp_agent.py" "$T/agent" "$T/said" "$@" >"$T/agent.out" 2>&1 3>&- &
  AGENT=$!
  wait_for 30 grep -q listening "$T/agent.out"
}

@test "the agent answers for the container's process and is told who asks" {
  agent
  edit '.annotations = {"org.example.a": "b"}'
  script 'mkdir /tmp/x; sleep 100'
  ar create -b "$BUNDLE" "$ID" </dev/null >"$T/out" 2>&1
  start
  wait_for 30 grep -q "mkdir: can't create directory '/tmp/x'" "$T/out"
  cat "$T/said" "$T/out"
  grep -q 'No medium found' "$T/out"
  [ "$(jq -r '.fds | join(",")' "$T/said")" = seccompFd ]
  [ "$(jq -r .metadata "$T/said")" = "for the agent" ]
  [ "$(jq -r .pid "$T/said")" = "$(pid_of "$ID")" ]
  [ "$(jq -r .state.pid "$T/said")" = "$(pid_of "$ID")" ]
  [ "$(jq -r '.state.id + .state.bundle + .state.annotations["org.example.a"]' "$T/said")" = "$ID${BUNDLE}b" ]
  rm "$T/said"
  run --separate-stderr ar exec "$ID" mkdir /tmp/y
  echo "$stderr"; cat "$T/said"
  [[ $stderr == *"No medium found"* ]]
  [ "$(jq -r .state.id "$T/said")" = "$ID" ]
  [ "$(jq -r .pid "$T/said")" != "$(pid_of "$ID")" ]
  ar delete --force "$ID"
}

@test "also where what agentrun itself uses is asked for, without no_new_privs and in a user namespace" {
  agent
  as_root
  edit '.process.noNewPrivileges = false | .linux.namespaces += [{type: "user"}]
    | .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 1000}] | .linux.gidMappings = .linux.uidMappings
    | .linux.seccomp.syscalls[0].names += ["sendmsg", "write", "futex"]'
  in_container 'mkdir /tmp/x && echo made; true'
  [ "$status" -eq 0 ]
  [ -z "$output" ]
  [ "$(jq -r .metadata "$T/said")" = "for the agent" ]
}

@test "an agent that has gone is the kernel's ENOSYS, one that is not there an error of create" {
  create_fails "seccomp agent $T/agent"
  agent gone
  in_container 'mkdir /tmp/x'
  [ "$status" -eq 1 ]
  [[ $stderr == *"Function not implemented"* ]]
}

@test "a notification without a path, and builtin:default" {
  edit 'del(.linux.seccomp.listenerPath)'
  create_fails 'SCMP_ACT_NOTIFY needs a listenerPath'
  edit '.linux.seccomp.listenerPath = "/run/x"'
  POLICY=(--policy builtin:default)
  create_fails 'seccomp.notify'
}
