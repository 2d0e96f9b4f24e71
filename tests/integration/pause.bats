#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# pause and resume, and what the other commands do to a paused container.

load lib.bash

setup_file () { common_setup_file; }
teardown_file () { common_teardown_file; }
setup () { common_setup; }
teardown () { common_teardown; }

# A shared directory in which the container counts, so that standing still can be seen.
counter ()
{
  mkdir "$BUNDLE/shared"
  chown 1000:1000 "$BUNDLE/shared"
  bind "$BUNDLE/shared" /mnt rw
  script 'i=0; while :; do i=$((i + 1)); echo $i >/mnt/count.new; mv /mnt/count.new /mnt/count; sleep 0.02; done'
  create
  start
  wait_for 5 test -s "$BUNDLE/shared/count"
}

frozen ()
{
  local dir
  for dir in "/sys/fs/cgroup/unified$CGROUP-$ID" "/sys/fs/cgroup$CGROUP-$ID"; do
    [ ! -e "$dir/cgroup.freeze" ] || [ "$(cat "$dir/cgroup.freeze")" = 0 ] || return 0
  done
  [ "$(cat "/sys/fs/cgroup/freezer$CGROUP-$ID/freezer.state" 2>/dev/null)" = FROZEN ]
}

@test "pause stops all processes, resume lets them go on" {
  counter
  run ar pause "$ID"
  [ "$status" -eq 0 ]
  [ -z "$output" ]
  [ "$(state_of "$ID")" = paused ]
  local before
  before=$(cat "$BUNDLE/shared/count")
  sleep 0.4
  [ "$(cat "$BUNDLE/shared/count")" = "$before" ]
  run ar resume "$ID"
  [ "$status" -eq 0 ]
  [ -z "$output" ]
  [ "$(state_of "$ID")" = running ]
  goes_on () { [ "$(cat "$BUNDLE/shared/count")" -gt "$before" ]; }
  wait_for 5 goes_on
  ar delete --force "$ID"
}

@test "pause of a paused container is an error, and it stays paused" {
  args /bin/sleep 100
  create
  start
  ar pause "$ID"
  run ar pause "$ID"
  [ "$status" -eq 1 ]
  [[ $output == *"can't be paused: it is paused"* ]]
  [ "$(state_of "$ID")" = paused ]
  ar resume "$ID"
  [ "$(state_of "$ID")" = running ]
  ar delete --force "$ID"
}

@test "resume of what is not paused says so" {
  args /bin/sleep 100
  create
  start
  run ar resume "$ID"
  [ "$status" -eq 1 ]
  [[ $output == *"container not paused"* ]]
  ar kill "$ID" KILL
  wait_for 5 stopped "$ID"
  run ar resume "$ID"
  [ "$status" -eq 1 ]
  [[ $output == *"container not paused"* ]]
  run ar pause "$ID"
  [ "$status" -eq 1 ]
  [[ $output == *"container not running"* ]]
  run ! frozen
  ar delete "$ID"
  run ar pause "$ID"
  [ "$status" -eq 1 ]
  [[ $output == *"does not exist"* ]]
}

@test "a created container can be paused, and started after resume" {
  args /bin/sleep 100
  create
  ar pause "$ID"
  [ "$(state_of "$ID")" = paused ]
  run ar start "$ID"
  [ "$status" -eq 1 ]
  [[ $output == *"it is paused"* ]]
  ar resume "$ID"
  [ "$(state_of "$ID")" = created ]
  start
  [ "$(state_of "$ID")" = running ]
  ar delete --force "$ID"
}

@test "KILL reaches a paused container; kill then resume is docker's way" {
  args /bin/sleep 100
  create
  start
  ar pause "$ID"
  ar kill "$ID" KILL
  ar resume "$ID" || true
  wait_for 5 stopped "$ID"
  run ! frozen
  ar delete "$ID"
}

@test "kill --all KILL of a paused container ends all of it" {
  script 'sleep 100 & sleep 100 & wait'
  create
  start
  three () { [ "$(ar ps --format json "$ID" | jq length)" -eq 3 ]; }
  wait_for 5 three
  ar pause "$ID"
  ar kill --all "$ID" KILL
  wait_for 5 stopped "$ID"
  [ "$(ar ps -f json "$ID")" = "[]" ]
  ar delete "$ID"
  nothing_left
}

@test "TERM to a paused container arrives at resume" {
  script 'trap "exit 7" TERM; while :; do sleep 0.05; done'
  create
  start
  ar pause "$ID"
  ar kill "$ID" TERM
  [ "$(state_of "$ID")" = paused ]
  ar resume "$ID"
  wait_for 5 stopped "$ID"
  ar delete "$ID"
}

@test "delete of a paused container is refused, --force ends and removes it" {
  args /bin/sleep 100
  create
  start
  ar pause "$ID"
  run ar delete "$ID"
  [ "$status" -eq 1 ]
  [[ $output == *paused* ]]
  ar delete --force "$ID"
  nothing_left
}

@test "who is in the container's cgroup can't pause it" {
  args /bin/sleep 100
  create
  start
  local dir
  dir=$(cgroup_dir pids)
  run bash -c 'echo $$ >"$1/cgroup.procs" && exec "${@:2}"' - "$dir" \
    "$AGENTRUN" --root "$ROOT" "${POLICY[@]}" pause "$ID"
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"this command is in its cgroup"* ]]
  [ "$(state_of "$ID")" = running ]
  ar delete --force "$ID"
}
