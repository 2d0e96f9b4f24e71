#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ps: the processes of a container by the host's ids (docker top).

load lib.bash

setup_file () { common_setup_file; }
teardown_file () { common_teardown_file; }
setup () { common_setup; }
teardown () { common_teardown; }

@test "JSON: an array of the host's ids, of all processes and no others" {
  script 'sleep 100 & sleep 100 & echo up >/tmp/up; wait'
  create
  start
  three () { [ "$(ar ps --format json "$ID" | jq length)" -eq 3 ]; }
  wait_for 5 three
  local pids
  pids=$(ar ps --format json "$ID")
  echo "$pids"
  [ "$(jq -c 'sort' <<<"$pids")" = "$(sort -n "$(cgroup_dir pids)/cgroup.procs" | jq -sc .)" ]
  [ "$(jq "index($(pid_of "$ID"))" <<<"$pids")" != null ]
  [ "$(ar ps -f json "$ID")" = "$pids" ]
  ar delete --force "$ID"
}

@test "table: id and command line, with nothing that a terminal would obey" {
  args /bin/sh -c 'while :; do sleep 0.1; done' $'x\033[31m\ny'
  create
  start
  run ar ps "$ID"
  echo "$output"
  [[ ${lines[0]} == PID*COMMAND ]]
  [[ ${lines[1]} == "$(pid_of "$ID")"*'done x\x1b[31m\x0ay' ]]
  ar delete --force "$ID"
}

@test "a paused container has its processes, a stopped one none" {
  args /bin/sleep 100
  create
  start
  ar pause "$ID"
  [ "$(ar ps -f json "$ID")" = "[$(pid_of "$ID")]" ]
  ar resume "$ID"
  ar kill "$ID" KILL
  wait_for 5 stopped "$ID"
  [ "$(ar ps -f json "$ID")" = "[]" ]
  ar delete "$ID"
}

@test "an unknown id, an unknown format" {
  run ar ps --format json nobody
  [ "$status" -eq 1 ]
  [[ $output == *"does not exist"* ]]
  args /bin/sleep 100
  create
  run ar ps --format xml "$ID"
  [ "$status" -eq 1 ]
  ar delete --force "$ID"
}
