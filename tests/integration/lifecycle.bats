#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The life of a container by the commands of the runtime specification: create, start, state, kill,
# delete; and what each says when it comes at the wrong time.

load lib.bash

setup_file () { common_setup_file; }
teardown_file () { common_teardown_file; }
setup () { common_setup; }
teardown () { common_teardown; }

# create and start of a container that runs until it is killed, or until TERM.
sleeper ()
{
  script 'trap "exit 7" TERM; echo up >/tmp/up; while :; do sleep 0.05; done'
  create
  ar start "$ID"
}

@test "create, start, state, kill, delete" {
  args /bin/sleep 100
  create
  [ "$(state_of "$ID")" = created ]
  ar start "$ID"
  [ "$(state_of "$ID")" = running ]
  ar kill "$ID" KILL
  wait_for 5 stopped "$ID"
  ar delete "$ID"
  run ! ar state "$ID"
  nothing_left
}

@test "create runs nothing of the program yet" {
  bind "$BUNDLE" /mnt rw
  as_root
  script 'touch /mnt/ran; sleep 100'
  create
  sleep 0.3
  [ ! -e "$BUNDLE/ran" ]
  ar start "$ID"
  wait_for 5 test -e "$BUNDLE/ran"
  ar delete --force "$ID"
}

@test "create prints nothing" {
  try_create ar create -b "$BUNDLE" "$ID"
  [ "$status" -eq 0 ]
  [ -z "$output" ]
  [ -z "$stderr" ]
  ar delete --force "$ID"
}

@test "state has the members that the specification wants" {
  edit '.annotations = {"org.example.key": "value"}'
  args /bin/sleep 100
  create
  run ar state "$ID"
  echo "$output"
  [ "$(jq -r .id <<<"$output")" = "$ID" ]
  [ "$(jq -r .status <<<"$output")" = created ]
  [ "$(jq -r .bundle <<<"$output")" = "$BUNDLE" ]
  [[ $(jq -r .ociVersion <<<"$output") == 1.* ]]
  [ "$(jq -r '.annotations["org.example.key"]' <<<"$output")" = value ]
  local pid
  pid=$(jq -r .pid <<<"$output")
  [ -d "/proc/$pid" ]
  [ "$(readlink "/proc/$pid/ns/pid")" != "$(readlink /proc/self/ns/pid)" ]
  ar delete --force "$ID"
}

@test "after the end of the process the state is stopped" {
  args /bin/true
  create
  ar start "$ID"
  wait_for 5 stopped "$ID"
  [ "$(ar state "$ID" | jq '.pid // 0')" -eq 0 ]
  ar delete "$ID"
}

@test "the pid file has the pid of state and is there before create returns" {
  create --pid-file "$T/pid"
  [ "$(cat "$T/pid")" -eq "$(pid_of "$ID")" ]
  ar delete --force "$ID"
}

@test "flags take their values with a space and with an equals sign" {
  ar create "--bundle=$BUNDLE" "--pid-file=$T/pid" "$ID" </dev/null >/dev/null
  [ -s "$T/pid" ]
  ar delete --force "$ID"
}

@test "the working directory does not count, only --bundle" {
  new_bundle other
  args /bin/echo other
  BUNDLE="$T/main"
  args /bin/echo main
  cd "$T/other"
  run ar run -b "$T/main" x
  [ "$output" = main ]
}

@test "without --bundle the working directory is the bundle" {
  args /bin/echo here
  cd "$BUNDLE"
  run ar run "$ID"
  [ "$output" = here ]
}

@test "--config names another file" {
  args /bin/echo other
  mv "$BUNDLE/config.json" "$T/other.json"
  run ar run -b "$BUNDLE" --config "$T/other.json" "$ID"
  echo "$output"
  [ "$output" = other ]
}

@test "a relative --config is found again by later commands" {
  args /bin/sleep 100
  mv "$BUNDLE/config.json" "$T/other.json"
  cd "$T"
  create --config other.json
  cd /
  ar start "$ID"
  run ar exec "$ID" echo here
  echo "$output"
  [ "$output" = here ]
  ar delete --force "$ID"
}

@test "delete --regex removes what the expression matches, and nothing else" {
  local id
  for id in left-a left-b kept; do
    new_bundle "$id"
    args /bin/sleep 100
    create
  done
  run ! ar delete --regex 'left-(' # no expression
  ar start left-b
  run --separate-stderr ar delete --regex '^left-' # one of them runs
  [ "$status" -eq 1 ]
  [[ $stderr == *left-b*running* ]]
  run ar list --quiet
  [ "$output" = $'kept\nleft-b' ]
  ar delete --force --regex '^left-'
  run ar list --quiet
  [ "$output" = kept ]
  ar delete --force kept
}

@test "a second create with the same id is refused and disturbs nothing" {
  args /bin/sleep 100
  create
  try_create ar create -b "$BUNDLE" "$ID"
  echo "$stderr"
  [ "$status" -eq 1 ]
  [[ $stderr == *exist* ]]
  [ "$(state_of "$ID")" = created ]
  ar start "$ID"
  [ "$(state_of "$ID")" = running ]
  ar delete --force "$ID"
}

@test "start of a running container is refused" {
  sleeper
  run ar start "$ID"
  echo "$output"
  [ "$status" -ne 0 ]
  [ "$(state_of "$ID")" = running ]
  ar delete --force "$ID"
}

@test "start of a stopped container is refused" {
  args /bin/true
  create
  ar start "$ID"
  wait_for 5 stopped "$ID"
  run ar start "$ID"
  [ "$status" -ne 0 ]
  ar delete "$ID"
}

@test "two starts at the same time: one wins, the program runs once" {
  as_root
  bind "$BUNDLE" /mnt rw
  script 'echo ran >>/mnt/count; sleep 0.5'
  create
  local first second a=0 b=0
  ar start "$ID" 2>/dev/null 3>&- & first=$!
  ar start "$ID" 2>/dev/null 3>&- & second=$!
  wait "$first" || a=1
  wait "$second" || b=1
  [ $((a + b)) -eq 1 ]
  wait_for 5 stopped "$ID"
  [ "$(cat "$BUNDLE/count")" = ran ]
  ar delete "$ID"
}

@test "delete of a running container is refused, --force does it" {
  sleeper
  run ar delete "$ID"
  echo "$output"
  [ "$status" -ne 0 ]
  [ "$(state_of "$ID")" = running ]
  run --separate-stderr ar delete --force "$ID"
  [ "$status" -eq 0 ]
  [ -z "$output$stderr" ]
  nothing_left
}

@test "delete --force of a created container" {
  create
  ar delete --force "$ID"
  nothing_left
}

@test "delete of an unknown id fails, delete --force of one is silent success" {
  run ar delete nobody
  [ "$status" -ne 0 ]
  [[ $output == *"does not exist"* ]]
  run --separate-stderr ar delete --force nobody
  [ "$status" -eq 0 ]
  [ -z "$output$stderr" ]
  run --separate-stderr ar_logged delete --force nobody
  [ "$status" -eq 0 ]
  [ ! -s "$LOG" ]
}

@test "commands for an unknown id say that it does not exist" {
  local command
  for command in state start "kill x" ; do
    # shellcheck disable=SC2086
    run ar ${command%% *} nobody
    echo "$output"
    [ "$status" -ne 0 ]
    [[ $output == *"does not exist"* ]]
  done
}

@test "kill by name, by name with SIG, by number, and TERM by default" {
  sleeper
  local signal
  for signal in WINCH SIGWINCH 28 winch; do
    ar kill "$ID" "$signal"
  done
  [ "$(state_of "$ID")" = running ]
  wait_for 5 test -e "/proc/$(pid_of "$ID")/root/tmp/up"
  ar kill "$ID"
  wait_for 5 stopped "$ID"
  ar delete "$ID"
}

@test "kill with a signal that does not exist is refused" {
  sleeper
  local signal
  for signal in NOSUCH 0x9 -9 9x 66 999999999999 ""; do
    run ar kill "$ID" "$signal"
    echo "$signal: $output"
    [ "$status" -ne 0 ]
  done
  [ "$(state_of "$ID")" = running ]
  ar delete --force "$ID"
}

@test "kill of a stopped container says that it is not running, kill --all of one succeeds" {
  args /bin/true
  create
  ar start "$ID"
  wait_for 5 stopped "$ID"
  run ar kill "$ID" KILL
  [ "$status" -ne 0 ]
  [[ $output == *"container not running"* ]]
  ar kill --all "$ID" 9
  ar delete "$ID"
}

@test "kill --all reaches processes that are no children of the first" {
  script '(sleep 100 &) ; (sleep 100 &) ; exec sleep 100'
  create
  ar start "$ID"
  wait_for 5 eval '[ "$(cat "$(cgroup_dir pids)/pids.current")" -ge 3 ]'
  ar kill --all "$ID" KILL
  wait_for 5 stopped "$ID"
  ar delete "$ID"
}

@test "kill of a created container, then delete" {
  create
  ar kill "$ID" KILL
  wait_for 5 stopped "$ID"
  ar delete "$ID"
  nothing_left
}

@test "a created container whose init died is stopped and can be deleted" {
  create
  kill -KILL "$(pid_of "$ID")"
  wait_for 5 stopped "$ID"
  run ar start "$ID"
  [ "$status" -ne 0 ]
  ar delete "$ID"
  nothing_left
}

@test "ids: what the specification and file names allow" {
  local id
  for id in a A9 a.b a_b a-b a+b _x "$(printf 'a%.0s' {1..128})"; do
    run ar run -b "$BUNDLE" "$id"
    echo "$id: $output"
    [ "$status" -eq 0 ]
  done
}

@test "ids: what could be a path, an option or a trick is refused" {
  local id
  for id in "" . .. ../x a/b /x .x -- "a b" $'a\nb' "a*" "$(printf 'a%.0s' {1..129})" ä; do
    try_create ar create -b "$BUNDLE" -- "$id"
    echo "id: $id"
    [ "$status" -ne 0 ]
  done
  nothing_left
}

@test "a missing bundle, a missing config.json and a missing rootfs are named" {
  try_create ar create -b "$T/nowhere" "$ID"
  [ "$status" -eq 1 ]
  [[ $stderr == *"$T/nowhere"* ]]
  mv "$BUNDLE/rootfs" "$BUNDLE/elsewhere"
  try_create ar create -b "$BUNDLE" "$ID"
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $stderr == *rootfs* ]]
  rm "$BUNDLE/config.json"
  try_create ar create -b "$BUNDLE" "$ID"
  [ "$status" -eq 1 ]
  [[ $stderr == *config.json* ]]
  nothing_left
}

@test "the state directory is private" {
  create
  [ "$(stat -c '%a %u' "$ROOT/$ID")" = "700 0" ]
  [ "$(stat -c %u "$ROOT")" -eq 0 ]
  ar delete --force "$ID"
}

@test "environment values are not kept in the state directory" {
  edit '.process.env += ["TOKEN=very-secret-value"]'
  create
  run ! grep -r very-secret-value "$ROOT"
  ar delete --force "$ID"
}

@test "delete works without PATH and HOME" {
  create
  env -i "$MARK" "$AGENTRUN" --root "$ROOT" "${POLICY[@]}" delete --force "$ID"
  nothing_left
}

@test "ten containers at the same time" {
  local i pids=()
  args /bin/sleep 0.3
  for i in 0 1 2 3 4 5 6 7 8 9; do
    new_bundle "c$i"
    script "exit $i"
    ar run -b "$BUNDLE" "c$i" </dev/null >/dev/null 2>&1 3>&- &
    pids+=($!)
  done
  for i in 0 1 2 3 4 5 6 7 8 9; do
    local code=0
    wait "${pids[$i]}" || code=$?
    [ "$code" -eq "$i" ]
  done
  nothing_left
}

@test "features and --version need no root and print to standard output" {
  run --separate-stderr "$AGENTRUN" --version
  [ "$status" -eq 0 ]
  [[ ${lines[0]} =~ ^agentrun\ version\ [0-9]+\.[0-9]+ ]]
  [[ ${lines[1]} == "spec: 1."* ]]
  run --separate-stderr "$AGENTRUN" features
  [ "$status" -eq 0 ]
  [[ $(jq -r .ociVersionMin <<<"$output") == 1.* ]]
  [ "$(jq -r '.mountOptions | index("nosuid") != null' <<<"$output")" = true ]
  [ "$(jq -r '.linux.namespaces | index("mount") != null' <<<"$output")" = true ]
}

@test "features has every field of the specification's document" {
  run --separate-stderr "$AGENTRUN" features
  [ "$(jq -r '.ociVersionMin + " " + .ociVersionMax' <<<"$output")" = "1.0.0 1.3.0" ]
  [ "$(jq -c 'keys' <<<"$output")" = \
    '["annotations","hooks","linux","mountOptions","ociVersionMax","ociVersionMin","potentiallyUnsafeConfigAnnotations"]' ]
  [ "$(jq -c '.linux | keys' <<<"$output")" = \
    '["apparmor","capabilities","cgroup","intelRdt","memoryPolicy","mountExtensions","namespaces","netDevices","seccomp","selinux"]' ]
  [ "$(jq -c '.linux.seccomp | keys' <<<"$output")" = \
    '["actions","archs","enabled","knownFlags","operators","supportedFlags"]' ]
  [ "$(jq -c '.linux.cgroup | keys' <<<"$output")" = '["rdma","systemd","systemdUser","v1","v2"]' ]
  [ "$(jq -c '.linux.intelRdt | keys' <<<"$output")" = '["enabled","monitoring","schemata"]' ]
  [ "$(jq -r '.linux.mountExtensions.idmap.enabled, .linux.netDevices.enabled' <<<"$output" | sort -u)" = true ]
  [ "$(jq -r '.linux.namespaces | join(" ")' <<<"$output")" = "cgroup ipc mount network pid time user uts" ]
  [ "$(jq -r '.linux.memoryPolicy.modes | index("MPOL_BIND") != null' <<<"$output")" = true ]
  [[ $(jq -r '.annotations["dev.agentrun.policy.digest"]' <<<"$output") == sha256:* ]]
}

@test "unknown commands and flags are refused on standard error" {
  run --separate-stderr "$AGENTRUN" nonsense
  [ "$status" -eq 1 ]
  [ -z "$output" ]
  [[ $stderr == *nonsense* ]]
  run --separate-stderr ar create --nonsense -b "$BUNDLE" "$ID"
  [ "$status" -eq 1 ]
  [ -z "$output" ]
  [[ $stderr == *nonsense* ]]
}
