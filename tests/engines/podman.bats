#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Podman as root: the life of a container under agentrun.  AGENTRUN is the binary under test.

bats_require_minimum_version 1.5.0
load podman.sh

setup_file () { podman_up; }
teardown_file () { podman_down || true; }

setup ()
{
  NAME="pm-$BATS_TEST_NUMBER"
  HARDENED=(-u 1000:1000 --read-only --network none)
  TERMINAL="$BATS_TEST_DIRNAME/../integration/terminal.py"
}

teardown ()
{
  [ -d "$PODMAN_DIR" ] || return 0
  pm unpause "$NAME" >/dev/null 2>&1 || true
  pm rm -f -t 1 "$NAME" >/dev/null 2>&1 || true
}

once ()
{
  run --separate-stderr pm run --rm --name "$NAME" "${HARDENED[@]}" "$@"
  echo "status: $status stdout: $output stderr: $stderr"
}

started ()
{
  pm run -d --name "$NAME" "${HARDENED[@]}" "$@" bb sh -c 'trap "exit 9" TERM; echo ready; while :; do sleep 0.1; done' >/dev/null
  engine_wait 30 logged ready
}

logged ()
{
  pm logs "$NAME" 2>&1 | grep -qx "$1"
}

inspected ()
{
  pm inspect -f "$1" "$NAME"
}

is ()
{
  [ "$(inspected '{{.State.Status}}')" = "$1" ]
}

@test "run: user, exit code, streams, a read-only root, no capability, nothing left" {
  once bb sh -c 'id -u; grep -E "CapBnd|NoNewPrivs|Seccomp:" /proc/self/status; touch /x 2>/dev/null || echo read-only; echo err >&2; exit 7'
  [ "$status" -eq 7 ]
  [ "$(tr -d '\t' <<<"$output")" = $'1000\nCapBnd:0000000000000000\nNoNewPrivs:1\nSeccomp:2\nread-only' ]
  [ "$stderr" = err ]
  [ -z "$(podman_left)" ]
}

@test "a program that is missing, one that can't be executed, a signal" {
  run -127 --separate-stderr pm run --rm --name "$NAME" "${HARDENED[@]}" bb nothing-like-it
  [[ $stderr == *"executable file \`nothing-like-it\` not found"* || $stderr == *'executable file not found in $PATH'* ]]
  once bb /etc/plain
  [ "$status" -eq 126 ]
  [[ $stderr == *ermission\ denied* ]]
  once bb sh -c 'exit 143'
  [ "$status" -eq 143 ]
  # A first process is not killed from inside; by the host it is.
  started
  pm kill -s KILL "$NAME"
  [ "$(pm wait "$NAME")" -eq 137 ]
}

@test "standard input comes through whole" {
  head -c 300000 /dev/urandom >"$BATS_TEST_TMPDIR/in"
  pm run --rm -i "${HARDENED[@]}" bb cat <"$BATS_TEST_TMPDIR/in" >"$BATS_TEST_TMPDIR/back"
  cmp "$BATS_TEST_TMPDIR/in" "$BATS_TEST_TMPDIR/back"
}

@test "a terminal, detach by its keys, attach again" {
  run python3 "$TERMINAL" -s 33x77 -w ready -k 0.1 -i 'one\n\x10\x11' "$BATS_TEST_DIRNAME/podman_run.sh" run -it --name "$NAME" "${HARDENED[@]}" bb \
    sh -c 'stty size; tty; echo ready; while read x; do echo got-$x; test $x != end || exit 6; done'
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"33 77"*"/dev/pts/0"* ]]
  is running
  engine_wait 30 eval 'pm logs "$NAME" | grep -q got-one'
  run python3 "$TERMINAL" -i 'end\n' "$BATS_TEST_DIRNAME/podman_run.sh" attach "$NAME"
  echo "$output"
  [[ $output == *got-end* ]]
  [ "$(pm wait "$NAME")" -eq 6 ]
}

@test "exec: output, exit code, user, input, detached, a terminal; root is refused" {
  started
  run --separate-stderr pm exec -i "$NAME" sh -c 'id -u; cat; exit 3' <<<in
  [ "$status" -eq 3 ]
  [ "$output" = $'1000\nin' ]
  pm exec -d "$NAME" sleep 4242
  engine_wait 30 eval 'pm top "$NAME" args | grep -q "sleep 4242"'
  run python3 "$TERMINAL" "$BATS_TEST_DIRNAME/podman_run.sh" exec -it "$NAME" sh -c 'test -t 0 && exit 5'
  [ "$status" -eq 5 ]
  run --separate-stderr pm exec -u 0 "$NAME" id
  echo "$stderr"
  [ "$status" -ne 0 ]
  [[ $stderr == *"user.root: "* ]]
  run --separate-stderr pm exec --privileged "$NAME" id
  echo "$stderr"
  [ "$status" -ne 0 ]
  [[ $stderr == *"denied by policy"* ]]
}

@test "stop, kill, restart, start again, wait" {
  started
  pm stop -t 30 "$NAME"
  [ "$(inspected '{{.State.ExitCode}}')" -eq 9 ]
  pm start "$NAME"
  is running
  pm kill -s KILL "$NAME"
  [ "$(pm wait "$NAME")" -eq 137 ]
  pm restart -t 1 "$NAME"
  is running
}

@test "pause, unpause, stats, update, top" {
  started -m 128m
  pm pause "$NAME"
  is paused
  pm unpause "$NAME"
  is running
  run pm stats --no-stream --format '{{.MemUsage}} {{.PIDs}}' "$NAME"
  echo "$output"
  [[ $output == *"134.2MB"* ]]
  if pm update --help >/dev/null 2>&1; then
    pm update -m 64m "$NAME"
    [ "$(cat /sys/fs/cgroup/memory/libpod_parent/libpod-"$(inspected '{{.Id}}')"/memory.limit_in_bytes)" = 67108864 ]
  fi
}

@test "named volumes, tmpfs, secrets, the granted workspace, --init" {
  echo -n hidden | pm secret create "$NAME-secret" - >/dev/null
  once -v "$NAME-data:/data:U" --tmpfs /scratch --secret "$NAME-secret" -v "$PODMAN_DIR/workspace:/work" --init bb \
    sh -c 'echo x >/data/f && echo y >/scratch/f && cat /run/secrets/* && echo z >/work/f && cat /proc/1/comm'
  pm secret rm "$NAME-secret" >/dev/null
  [ "$status" -eq 0 ]
  [ "$output" = "hiddenpodman-init" ]
  [ "$(cat "$PODMAN_DIR/workspace/f")" = z ]
  once -v "$NAME-data:/data" bb cat /data/f
  [ "$output" = x ]
  pm volume rm "$NAME-data" >/dev/null
}

@test "a health check" {
  started --health-cmd 'test ! -e /tmp/ill' --health-interval disable
  pm healthcheck run "$NAME"
  pm exec "$NAME" touch /tmp/ill
  run pm healthcheck run "$NAME"
  [ "$status" -ne 0 ]
}

@test "ids of the host in a user namespace that Podman chooses" {
  once --uidmap 0:1900000:65536 --gidmap 0:1900000:65536 bb sh -c 'id -u; tr -s " " </proc/self/uid_map'
  [ "$status" -eq 0 ]
  [ "$output" = $'1000\n 0 1900000 65536' ]
}

@test "--userns=auto" {
  # Ranges of the account that Podman takes them from; the host's own files stay as they are.
  printf 'containers:2400000:200000\n' >"$PODMAN_DIR/subids"
  run --separate-stderr unshare --mount bash -c 'mount --bind "$0/subids" /etc/subuid && mount --bind "$0/subids" /etc/subgid && shift && exec "$@"' \
    "$PODMAN_DIR" x bash "$BATS_TEST_DIRNAME/podman_run.sh" run --rm --name "$NAME" "${HARDENED[@]}" --userns=auto bb \
    sh -c 'id -u; tr -s " " </proc/self/uid_map'
  echo "$output $stderr"
  [ "$status" -eq 0 ]
  [[ $output == $'1000\n 0 24'* ]]
}

@test "no limit of processes and none of memory: the policy's hold" {
  local group
  started --pids-limit -1
  group=$(grep -l . /sys/fs/cgroup/pids/libpod_parent/libpod-"$(inspected '{{.Id}}')"/pids.max)
  [ "$(cat "$group")" = 512 ]
  [ "$(cat "${group//pids/memory}" 2>/dev/null || cat /sys/fs/cgroup/memory/libpod_parent/libpod-"$(inspected '{{.Id}}')"/memory.limit_in_bytes)" = 2147483648 ]
}

@test "podman itself is killed, attached to a container and beside one: they go on" {
  local client
  bash "$BATS_TEST_DIRNAME/podman_run.sh" run --name "$NAME" "${HARDENED[@]}" bb \
    sh -c 'trap "exit 9" TERM; echo ready; while :; do sleep 0.1; done' </dev/null >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
  client=$!
  engine_wait 30 grep -qx ready "$BATS_TEST_TMPDIR/out"
  pkill -KILL -f "^podman .* run --name $NAME "
  wait "$client" || true
  is running
  [ "$(pm exec "$NAME" id -u)" = 1000 ]
  pm stop -t 30 "$NAME" >/dev/null
  [ "$(inspected '{{.State.ExitCode}}')" -eq 9 ]
}

exit_with ()
{
  pm run --rm --name "$NAME-$1" "${HARDENED[@]}" bb sh -c "exit $1"
}

@test "fifty at once" {
  engine_at_once 50 exit_with
  run podman_left
  echo "$output"
  [ -z "$output" ]
}

@test "conmon is killed under a running container: it can be ended and removed" {
  local pid
  started
  pid=$(inspected '{{.State.Pid}}')
  kill -KILL "$(inspected '{{.State.ConmonPid}}')"
  pm kill -s KILL "$NAME" || true
  engine_wait 30 eval "! engine_alive $pid"
  pm rm -f -t 1 "$NAME" >/dev/null
  run podman_left
  echo "$output"
  [ -z "$output" ]
}

@test "nothing is left at the end" {
  podman_leaves_nothing
}
