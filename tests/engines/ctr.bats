#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# containerd by its own client: what `ctr run` and `ctr tasks` do through agentrun.  AGENTRUN is the binary under test.

bats_require_minimum_version 1.5.0
load containerd.sh

setup_file () { containerd_up; }
teardown_file () { containerd_down || true; }

setup ()
{
  NAME="ctr-$$-$BATS_TEST_NUMBER"
  HARDENED=(--runc-binary "$CTD_DIR/bin/agentrun" --read-only --mount type=tmpfs,src=tmpfs,dst=/tmp)
}

teardown ()
{
  [ -d "$CTD_DIR" ] || return 0
  ctr tasks rm --force "$NAME" >/dev/null 2>&1 || true
  ctr containers rm "$NAME" >/dev/null 2>&1 || true
}

# once COMMAND...: a container that runs it and goes; exit code and output are the program's.
once ()
{
  run --separate-stderr timeout 60 ctr run --rm "${HARDENED[@]}" "$CTD_IMAGE" "$NAME" "$@"
  echo "status: $status stdout: $output stderr: $stderr"
}

# started OPTION...: one that sleeps in the background.
started ()
{
  ctr run -d "${HARDENED[@]}" "$@" "$CTD_IMAGE" "$NAME" sh -c 'trap "exit 9" TERM; echo ready; while :; do sleep 0.1; done' \
    >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- </dev/null || { cat "$BATS_TEST_TMPDIR/out"; return 1; }
}

task_status ()
{
  ctr tasks ls | awk -v n="$NAME" '$1 == n { print $3 }'
}

task_pid ()
{
  ctr tasks ls | awk -v n="$NAME" '$1 == n { print $2 }'
}

is ()
{
  [ "$(task_status)" = "$1" ]
}

# refused RULE TEXT: one denial, and nothing is left.
refused ()
{
  [ "$status" -eq 1 ]
  [[ $stderr == *"denied by policy"*"$1: "*"$2"* ]]
  ctr containers rm "$NAME" >/dev/null 2>&1 || true
  [ -z "$(containerd_left "$NAME")" ]
}

@test "run: output, exit code, user, a read-only root and nothing left" {
  once sh -c 'id -u; touch /x 2>/dev/null || echo read-only; echo err >&2; exit 7'
  [ "$status" -eq 7 ]
  [ "$output" = $'1000\nread-only' ]
  [[ $stderr == *err* ]]
  [ -z "$(containerd_left "$NAME")" ]
}

@test "the policy's limits, no capabilities and no new privileges" {
  once grep -E 'CapEff|CapBnd|NoNewPrivs|Seccomp:' /proc/self/status
  [ "$(tr -d '\t' <<<"$output")" = $'CapEff:0000000000000000\nCapBnd:0000000000000000\nNoNewPrivs:1\nSeccomp:2' ]
}

@test "a program that is missing, and one that can't be executed" {
  once nothing-like-it
  [ "$status" -ne 0 ]
  [[ $stderr == *'exec: "nothing-like-it": executable file not found in $PATH'* ]]
  once /etc/plain
  [[ $stderr == *'"/etc/plain"'*'permission denied'* ]]
  [ -z "$(containerd_left "$NAME")" ]
}

@test "standard input comes through whole" {
  head -c 300000 /dev/urandom >"$BATS_TEST_TMPDIR/in"
  timeout 60 ctr run --rm "${HARDENED[@]}" "$CTD_IMAGE" "$NAME" cat <"$BATS_TEST_TMPDIR/in" >"$BATS_TEST_TMPDIR/back"
  cmp "$BATS_TEST_TMPDIR/in" "$BATS_TEST_TMPDIR/back"
}

@test "a terminal" {
  run timeout 60 /usr/bin/python3 "$BATS_TEST_DIRNAME/../integration/terminal.py" \
    ctr run --rm -t "${HARDENED[@]}" "$CTD_IMAGE" "$NAME" sh -c 'tty; exit 5'
  echo "$output"
  [ "$status" -eq 5 ]
  [[ $output == *"/dev/pts/0"* ]]
}

@test "detached: listed, signalled, its exit code kept, removed" {
  started
  is RUNNING
  ctr tasks kill -s SIGTERM "$NAME"
  engine_wait 30 is STOPPED
  run ctr tasks rm "$NAME"
  echo "$output"
  [[ $output == *"exit code 9"* || $status -eq 9 ]]
  ctr containers rm "$NAME"
  [ -z "$(containerd_left "$NAME")" ]
}

@test "exec: output, exit code, as the container's user and within its limits" {
  started
  run --separate-stderr timeout 60 ctr tasks exec --exec-id e1 "$NAME" sh -c 'id -u; grep CapEff /proc/self/status; exit 3'
  echo "$output $stderr"
  [ "$status" -eq 3 ]
  [ "$(tr -d '\t' <<<"$output")" = $'1000\nCapEff:0000000000000000' ]
  run --separate-stderr timeout 60 ctr tasks exec --exec-id e2 --user 0 "$NAME" id
  [ "$status" -ne 0 ]
  [[ $stderr == *"user.root: "* ]]
}

@test "exec in a terminal, and one in the background" {
  started
  run timeout 60 /usr/bin/python3 "$BATS_TEST_DIRNAME/../integration/terminal.py" \
    ctr tasks exec -t --exec-id e1 "$NAME" sh -c 'test -t 0 && exit 4'
  [ "$status" -eq 4 ]
  ctr tasks exec -d --exec-id e2 "$NAME" sleep 500 >/dev/null 2>&1 3>&- </dev/null
  [ "$(ctr tasks ps "$NAME" | tail -n +2 | wc -l)" -ge 2 ]
}

@test "pause and resume" {
  started
  ctr tasks pause "$NAME"
  is PAUSED
  ctr tasks resume "$NAME"
  is RUNNING
}

@test "a checkpoint is refused, and the container runs on" {
  started
  run --separate-stderr timeout 60 ctr tasks checkpoint "$NAME"
  echo "$status: $stderr"
  [ "$status" -eq 1 ]
  # The client shows that it was the runtime, and not why: for this call the shim does not read the log.
  [[ $stderr == *bin/agentrun* ]]
  [[ $(ctr images ls -q) != *checkpoint* ]]
  is RUNNING
  timeout 60 ctr tasks exec --exec-id after "$NAME" true
}

@test "metrics" {
  started --memory-limit 67108864
  run ctr tasks metrics "$NAME"
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *memory* ]]
  [[ $output == *67108864* ]]
}

exit_with ()
{
  ctr run --rm "${HARDENED[@]}" "$CTD_IMAGE" "$NAME-$1" sh -c "exit $1"
}

@test "fifty at once" {
  engine_at_once 50 exit_with
  [ -z "$(containerd_left "$NAME")" ]
}

@test "containerd ends and comes back, by SIGTERM and by SIGKILL: the container lives on" {
  local signal pid
  started
  pid=$(task_pid)
  for signal in TERM KILL; do
    containerd_restart "$signal"
    is RUNNING
    [ "$(task_pid)" = "$pid" ]
    timeout 60 ctr tasks exec --exec-id "e$signal" "$NAME" true
  done
  ctr tasks kill -s SIGKILL "$NAME"
  engine_wait 30 is STOPPED
}

@test "the shim is killed under a running container: the container goes with it" {
  local pid
  started
  pid=$(task_pid)
  kill -KILL "$(engine_processes "$NAME" | awk '/containerd-shim/ { print $2 }' | head -n 1)"
  engine_wait 30 eval "! engine_alive $pid"
  ctr tasks rm --force "$NAME" >/dev/null 2>&1 || true
  ctr containers rm "$NAME"
  [ -z "$(containerd_left "$NAME")" ]
}

@test "refused: root, a writable root file system, --privileged, capabilities" {
  run --separate-stderr timeout 60 ctr run --rm "${HARDENED[@]}" "$CTD_ROOT_IMAGE" "$NAME" id
  refused user.root 'add --user 1000:1000'
  run --separate-stderr timeout 60 ctr run --rm --runc-binary "$CTD_DIR/bin/agentrun" "$CTD_IMAGE" "$NAME" id
  refused rootfs.readonly 'add --read-only'
  run --separate-stderr timeout 60 ctr run --rm "${HARDENED[@]}" --privileged "$CTD_IMAGE" "$NAME" id
  refused capability.extra ''
  run --separate-stderr timeout 60 ctr run --rm "${HARDENED[@]}" --cap-add CAP_SYS_ADMIN "$CTD_IMAGE" "$NAME" id
  refused capability.extra CAP_SYS_ADMIN
}

@test "refused: containerd's socket, the host's network, a device, a namespace of the host" {
  run --separate-stderr timeout 60 ctr run --rm "${HARDENED[@]}" \
    --mount "type=bind,src=$CTD_DIR/sock,dst=/ctd.sock,options=rbind:ro" "$CTD_IMAGE" "$NAME" id
  refused mount.socket ''
  run --separate-stderr timeout 60 ctr run --rm "${HARDENED[@]}" --net-host "$CTD_IMAGE" "$NAME" id
  refused namespace.host 'network'
  run --separate-stderr timeout 60 ctr run --rm "${HARDENED[@]}" --device /dev/kmsg "$CTD_IMAGE" "$NAME" id
  refused device.node /dev/kmsg
  run --separate-stderr timeout 60 ctr run --rm "${HARDENED[@]}" --with-ns "ipc:/proc/self/ns/ipc" "$CTD_IMAGE" "$NAME" id
  refused namespace.host ipc
}

@test "the granted workspace, and no other directory" {
  once true
  run --separate-stderr timeout 60 ctr run --rm "${HARDENED[@]}" \
    --mount "type=bind,src=$CTD_DIR/workspace,dst=/work,options=rbind:rw" "$CTD_IMAGE" "$NAME" sh -c 'echo done >/work/file'
  echo "$stderr"
  [ "$status" -eq 0 ]
  [ "$(cat "$CTD_DIR/workspace/file")" = done ]
  run --separate-stderr timeout 60 ctr run --rm "${HARDENED[@]}" \
    --mount "type=bind,src=$CTD_DIR/logs,dst=/work,options=rbind:rw" "$CTD_IMAGE" "$NAME" true
  refused mount.source '"kind": "mount"'
}

@test "nothing is left when containerd is gone" {
  containerd_leaves_nothing
}
