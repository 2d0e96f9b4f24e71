#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# events: statistics in runc's shape, at an interval, the end, and a kill for want of memory.

load lib.bash

setup_file () { common_setup_file; }
teardown_file () { common_teardown_file; }
setup () { common_setup; }
teardown () { common_teardown; }

# The host counts memory: one of the two versions has the controller.
need_memory ()
{
  [ -d /sys/fs/cgroup/memory ] || grep -q memory /sys/fs/cgroup/cgroup.controllers 2>/dev/null ||
    skip "no memory controller"
}

@test "--stats: what the container uses now" {
  need_memory
  edit '.linux.resources.pids.limit = 77 | .linux.resources.memory = {limit: 100000000}'
  script 'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; echo ready; exec sleep 100'
  ar create -b "$BUNDLE" "$ID" </dev/null >"$T/out" 2>&1
  start
  wait_for 30 grep -q ready "$T/out"
  run --separate-stderr ar events --stats "$ID"
  echo "$output"
  ar delete --force "$ID"
  [ "$status" -eq 0 ]
  [ "${#lines[@]}" -eq 1 ]
  [ "$(jq -r '.type + " " + .id' <<<"$output")" = "stats $ID" ]
  [ "$(jq '.data.cpu.usage.total > 1000000' <<<"$output")" = true ]
  [ "$(jq '.data.pids.limit == 77 and .data.pids.current == 1' <<<"$output")" = true ]
  [ "$(jq '.data.memory.usage.usage > 0 and .data.memory.usage.limit < 100000001' <<<"$output")" = true ]
  [ "$(jq '.data.memory.raw | length > 5' <<<"$output")" = true ]
  [ "$(jq '.data.hugetlb | type' <<<"$output")" = '"object"' ]
  [ ! -d /sys/fs/cgroup/cpuset ] || [ "$(jq '.data.cpuset | (.cpus | length > 0) and .mems[0] == 0 and .cpu_exclusive == 0' <<<"$output")" = true ]
  [ "$(jq -c '.data.blkio | keys' <<<"$output")" = '["ioServiceBytesRecursive","ioServicedRecursive"]' ]
}

@test "at an interval, and over when the container is" {
  script 'sleep 100'
  create
  start
  ar events --interval 50ms "$ID" >"$T/events" 2>"$T/stderr" </dev/null 3>&- &
  local pid=$!
  wait_for 30 eval '[ "$(wc -l <"$T/events")" -ge 3 ]'
  kill -0 "$pid"
  ar kill "$ID" KILL
  wait "$pid"
  [ "$(jq -r .type "$T/events" | sort -u)" = stats ]
  ar delete "$ID"
}

@test "a kill for want of memory is an event" {
  need_memory
  edit '.linux.resources.memory = {limit: 16777216, swap: 16777216}'
  script 'read x </tmp/go; (tail /dev/zero); echo over; exec sleep 100'
  edit '.process.args[2] = "busybox mkfifo /tmp/go; " + .process.args[2]'
  ar create -b "$BUNDLE" "$ID" </dev/null >"$T/out" 2>&1
  start
  ar events --interval 1h "$ID" >"$T/events" 2>"$T/stderr" </dev/null 3>&- &
  local pid=$!
  wait_for 30 grep -q stats "$T/events"
  wait_for 30 ar exec "$ID" sh -c 'test -p /tmp/go && echo x >/tmp/go'
  wait_for 30 grep -q '"type":"oom"' "$T/events"
  ar kill "$ID" KILL
  wait "$pid"
  ar delete "$ID"
}

@test "bad input" {
  run ar events --interval 5 "$ID"
  [[ $output == *"no time"* ]]
  run ar events --interval 0s "$ID"
  [[ $output == *"no time"* ]]
  run ar events --stats nobody
  [ "$status" -eq 1 ]
  [[ $output == *"does not exist"* ]]
  script true
  create
  start
  wait_for 30 stopped "$ID"
  run ar events --stats "$ID"
  [ "$status" -eq 1 ]
  [[ $output == *"container not running"* ]]
  ar delete "$ID"
}
