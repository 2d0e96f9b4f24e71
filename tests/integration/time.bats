#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Time namespaces: offsets, joining, exec.

load lib.bash

setup_file () { common_setup_file; }
teardown_file () { common_teardown_file; }
setup () { common_setup; }
teardown () { common_teardown; }

clocks='cut -d. -f1 /proc/uptime; readlink /proc/self/ns/time; cat /proc/self/timens_offsets'

with_offsets ()
{
  edit '.linux.namespaces += [{type: "time"}]
    | .linux.timeOffsets = {boottime: {secs: 1000000, nanosecs: 5}, monotonic: {secs: 2000000}}'
}

shifted ()
{
  [ "${lines[0]}" -gt 1000000 ]
  [[ $output =~ monotonic[[:space:]]+2000000[[:space:]]+0 ]]
  [[ $output =~ boottime[[:space:]]+1000000[[:space:]]+5 ]]
}

@test "the clocks of the container and of an exec are shifted, the host's are not" {
  local own
  own=$(readlink /proc/self/ns/time)
  with_offsets
  in_container "$clocks"
  shifted
  script 'sleep 100'
  create
  start
  [ "$(readlink /proc/self/ns/time_for_children)" = "$own" ]
  run --separate-stderr ar exec "$ID" sh -c "$clocks"
  echo "$output"
  shifted
  [ "${lines[1]}" = "$(readlink "/proc/$(pid_of "$ID")/ns/time")" ]
  # A second container in the same namespace.
  local path
  path=/proc/$(pid_of "$ID")/ns/time
  new_bundle other
  edit '.linux.namespaces += [{type: "time", path: $p}]' --arg p "$path"
  in_container "$clocks"
  shifted
  ar delete --force main
}

@test "offsets in a user namespace" {
  as_root
  with_offsets
  edit '.linux.namespaces += [{type: "user"}] | .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 1000}]
    | .linux.gidMappings = .linux.uidMappings'
  in_container "$clocks"
  shifted
}

@test "hooks of the host keep the host's clock" {
  with_offsets
  mkdir "$T/hooks"
  printf '#!/bin/sh\ncat >/dev/null; cut -d. -f1 /proc/uptime >%s\n' "$T/uptime" >"$T/hooks/h"
  chmod 755 "$T/hooks/h"
  edit '.hooks.createRuntime = [{path: $p}]' --arg p "$T/hooks/h"
  in_container true
  [ "$status" -eq 0 ]
  [ "$(cat "$T/uptime")" -lt 1000000 ] || [ "$(cut -d. -f1 /proc/uptime)" -ge 1000000 ]
}

@test "a clock before its own start, and one that there is not" {
  with_offsets
  edit '.linux.timeOffsets.boottime.secs = -4000000000'
  create_fails 'linux.timeOffsets'
  edit '.linux.timeOffsets = {realtime: {secs: 1}}'
  create_fails '"realtime" is no clock'
}
