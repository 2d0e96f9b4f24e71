#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Docker's commands for a running container: top, pause, unpause, update, stats; and what a user sees
# of an update that the policy refuses.  AGENTRUN is the binary under test.

bats_require_minimum_version 1.5.0
load docker.sh

setup_file ()
{
  : "${AGENTRUN:?the path of the agentrun to test}"
  docker_up
}

teardown_file ()
{
  docker_down || true
}

setup ()
{
  NAME="control-$BATS_TEST_NUMBER"
}

teardown ()
{
  docker rm -f "$NAME" >/dev/null 2>&1 || true
}

# started ARGUMENT...: a hardened container that sleeps; NAME and ID.
started ()
{
  ID=$(docker run -d --runtime=agentrun --name "$NAME" -u 1000:1000 --read-only --network none \
    "$@" bb sleep 1000 2>"$BATS_TEST_TMPDIR/stderr") || { cat "$BATS_TEST_TMPDIR/stderr"; return 1; }
}

status_of ()
{
  docker inspect -f '{{.State.Status}}' "$NAME"
}

# knob CONTROLLER V1-FILE V2-FILE
knob ()
{
  local file
  for file in "/sys/fs/cgroup/$1/docker/$ID/$2" "/sys/fs/cgroup/docker/$ID/$3"; do
    if [ -e "$file" ]; then
      cat "$file"
      return 0
    fi
  done
  return 1
}

@test "the second runtime of contrib's daemon.json, under builtin:strict, and what satisfies it" {
  run docker run --rm --runtime=agentrun-strict --user 1000:1000 --read-only --network none bb true
  echo "$output"
  [ "$status" -eq 125 ]
  [[ $output == *"denied by policy $DOCKER_DIR/strict.json: capability.default: "*"privilege.new-privileges: "* ]]
  run docker run --rm --runtime=agentrun-strict --user 1000:1000 --read-only --network none --cap-drop ALL \
    --security-opt no-new-privileges -m 512m --memory-swap 512m bb id -u
  echo "$output"
  [ "$status" -eq 0 ]
  [ "$output" = 1000 ]
}

@test "top shows the processes" {
  started
  run docker top "$NAME"
  echo "$output"
  [ "$status" -eq 0 ]
  [ "${#lines[@]}" -eq 2 ]
  [[ ${lines[1]} == *"sleep 1000"* ]]
  [[ ${lines[1]} == *"$(docker inspect -f '{{.State.Pid}}' "$NAME")"* ]]
}

@test "pause and unpause" {
  started
  docker pause "$NAME"
  [ "$(status_of)" = paused ]
  run docker pause "$NAME"
  [ "$status" -ne 0 ]
  docker unpause "$NAME"
  [ "$(status_of)" = running ]
  docker stop -t 1 "$NAME"
}

@test "kill and rm -f of a paused container" {
  started
  docker pause "$NAME"
  docker kill "$NAME"
  engine_wait 10 stopped
  docker start "$NAME"
  docker pause "$NAME"
  docker rm -f "$NAME"
  [ -z "$(docker_left)" ]
}

stopped ()
{
  [ "$(status_of)" = exited ]
}

@test "update moves limits, also through an engine that knows a swap limit" {
  started -m 128m --pids-limit 50
  docker update -m 200m --memory-swap 200m "$NAME"
  [ "$(knob memory memory.limit_in_bytes memory.max)" = 209715200 ]
  docker update -m 64m --memory-swap 64m "$NAME"
  [ "$(knob memory memory.limit_in_bytes memory.max)" = 67108864 ]
  docker update --pids-limit 30 "$NAME"
  [ "$(knob pids pids.max pids.max)" = 30 ]
  docker update --cpu-quota 30000 "$NAME"
  [ "$(knob memory memory.limit_in_bytes memory.max)" = 67108864 ]
}

@test "update of the restart policy alone changes no limit" {
  started -m 128m --pids-limit 50
  docker update --restart no "$NAME"
  [ "$(knob memory memory.limit_in_bytes memory.max)" = 134217728 ]
  [ "$(knob pids pids.max pids.max)" = 50 ]
}

@test "an update beyond the policy is refused, and its user is told why" {
  started -m 128m --pids-limit 50
  run docker update --pids-limit 100000 "$NAME"
  echo "$output"
  [ "$status" -ne 0 ]
  [[ $output == *"update.limit"*"maximum of 4096"* ]]
  run docker update -m 20g --memory-swap 20g "$NAME"
  echo "$output"
  [ "$status" -ne 0 ]
  [[ $output == *"update.limit"*"Fix:"* ]]
  [ "$(knob pids pids.max pids.max)" = 50 ]
  [ "$(status_of)" = running ]
}

@test "stats" {
  started -m 128m
  run docker stats --no-stream --format '{{.MemUsage}} {{.PIDs}}' "$NAME"
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"128MiB 1" ]]
}
