#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Descriptors and working directories: nothing of the host may reach the container by them.

load lib.bash

setup_file () { common_setup_file; }
teardown_file () { common_teardown_file; }
setup () { common_setup; }
teardown () { common_teardown; }

# agentrun with descriptors that an engine might have leaked: a directory of the host, a file, a socket.
leaky ()
{
  bash -c 'exec 7<"$1" 8<>"$2" 9</etc/passwd; shift 2; exec "$@"' _ / "$T/file" \
    timeout --foreground 30 env "$MARK" "$AGENTRUN" --root "$ROOT" "${POLICY[@]}" "$@"
}

@test "descriptors of the caller from 3 up are closed in run" {
  script 'ls -l /proc/self/fd | tail -n +2'
  run --separate-stderr leaky run -b "$BUNDLE" "$ID"
  echo "$output"
  # 0 to 2, and the directory that ls reads.
  [ "${#lines[@]}" -le 4 ]
  [[ $output != *passwd* ]]
  [[ $output != *"-> $T"* ]]
}

@test "descriptors of the caller from 3 up are closed in create and start" {
  script 'ls -l /proc/self/fd | tail -n +2 >/mnt/fds'
  as_root
  bind "$BUNDLE" /mnt rw
  leaky create -b "$BUNDLE" "$ID" </dev/null >/dev/null
  leaky start "$ID"
  wait_for 5 stopped "$ID"
  cat "$BUNDLE/fds"
  [ "$(wc -l <"$BUNDLE/fds")" -le 5 ]
  run ! grep -e passwd -e "-> $T" -e '-> /$' "$BUNDLE/fds"
  ar delete "$ID"
}

@test "the parked init of a created container holds no directory of the host" {
  local fd object
  leaky create -b "$BUNDLE" "$ID" </dev/null >/dev/null
  # By device and inode: the root of a detached procfs is called / as well.
  for fd in /proc/"$(pid_of "$ID")"/fd/*; do
    object=$(stat -L -c %d:%i "$fd")
    echo "$fd $(readlink "$fd") $object"
    [ "$object" != "$(stat -c %d:%i /)" ]
    [ "$object" != "$(stat -c %d:%i /etc/passwd)" ]
    [ "$object" != "$(stat -c %d:%i "$T")" ]
    [ "$object" != "$(stat -c %d:%i "$ROOT")" ]
  done
  ar delete --force "$ID"
}

@test "--preserve-fds passes exactly so many" {
  script 'ls /proc/self/fd; cat <&3; cat <&4'
  echo three >"$T/3"
  echo four >"$T/4"
  run --separate-stderr bash -c 'exec 3<"$1" 4<"$2" 5</etc/passwd; shift 2; exec "$@"' _ "$T/3" "$T/4" \
    timeout --foreground 30 env "$MARK" "$AGENTRUN" --root "$ROOT" "${POLICY[@]}" \
    run --preserve-fds 2 -b "$BUNDLE" "$ID"
  echo "$output"
  [[ $output == *$'three\nfour' ]]
  [ "${#lines[@]}" -le 8 ] # 0 to 4, the directory of ls, two lines of text
}

@test "LISTEN_FDS of the caller: the sockets from 3 up and the two variables, with the workload's own number" {
  script 'ls -l /proc/self/fd | grep -c socket:; echo $LISTEN_FDS $LISTEN_PID'
  edit '.process.env += ["LISTEN_PID=77"]'
  run --separate-stderr python3 - timeout --foreground 30 env "$MARK" LISTEN_FDS=2 LISTEN_PID=1 "$AGENTRUN" --root "$ROOT" \
    "${POLICY[@]}" run -b "$BUNDLE" "$ID" <<'PY'
import os, socket, sys
listening = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
numbers = [os.dup(s.fileno()) for s in listening]
for i, n in enumerate(numbers):
    os.dup2(n, 3 + i)
os.execvp(sys.argv[1], sys.argv[1:])
PY
  echo "$output $stderr"
  [ "$status" -eq 0 ]
  [ "$output" = $'2\n2 1' ]
}

@test "LISTEN_FDS of more than the caller has open is refused, and no number is none" {
  run --separate-stderr bash -c 'exec 3<&- 4<&- ; exec "$@"' _ timeout --foreground 30 env "$MARK" LISTEN_FDS=2 "$AGENTRUN" --root "$ROOT" \
    "${POLICY[@]}" run -b "$BUNDLE" "$ID"
  echo "$stderr"
  [ "$status" -ne 0 ]
  nothing_left
  script 'echo ${LISTEN_FDS:-none}'
  run --separate-stderr timeout --foreground 30 env "$MARK" LISTEN_FDS=two "$AGENTRUN" --root "$ROOT" "${POLICY[@]}" run -b "$BUNDLE" "$ID"
  [ "$output" = none ]
}

@test "a closed standard input, output and error are /dev/null for the workload" {
  script 'for n in 0 1 2; do readlink /proc/self/fd/$n; done >/tmp/out; sort -u /tmp/out >/tmp/one; read -r x </tmp/one; test "$x" = /dev/null && exit 7'
  run bash -c 'exec 0<&- 1>&- 2>&-; exec "$@"' _ timeout --foreground 30 env "$MARK" "$AGENTRUN" --root "$ROOT" "${POLICY[@]}" run -b "$BUNDLE" "$ID"
  [ "$status" -eq 7 ]
}

@test "--preserve-fds of a descriptor that is not open is refused" {
  run bash -c 'exec 3<&- 4<&- ; exec "$@"' _ timeout --foreground 30 env "$MARK" "$AGENTRUN" --root "$ROOT" \
    "${POLICY[@]}" run --preserve-fds 2 -b "$BUNDLE" "$ID"
  echo "$output"
  [ "$status" -ne 0 ]
  nothing_left
}

@test "a number for --preserve-fds that is none is refused" {
  local value
  for value in -1 x 0x2 2x 99999999999 ""; do
    try_create ar create --preserve-fds "$value" -b "$BUNDLE" "$ID"
    [ "$status" -eq 1 ]
  done
  nothing_left
}

@test "a working directory under /proc/self/fd reaches nothing of the host" {
  local n
  for n in 3 4 5 6 7 8 9 10 11 12; do
    edit '.process.cwd = $c' --arg c "/proc/self/fd/$n"
    script 'ls ../../../etc/shadow ../../etc/shadow ./etc/shadow 2>/dev/null; pwd -P'
    run --separate-stderr leaky run -b "$BUNDLE" "$ID"
    echo "$n: $status $output $stderr"
    [ "$status" -ne 0 ]
    [[ $output != *shadow* ]]
  done
  nothing_left
}

@test "a working directory that an image's link points to /proc/self/fd reaches nothing of the host" {
  local n
  for n in 3 5 7 8 9; do
    ln -sfn "/proc/self/fd/$n" "$BUNDLE/rootfs/cwd"
    edit '.process.cwd = "/cwd"'
    script 'ls ../../../etc/shadow ../../etc/shadow ./etc/shadow 2>/dev/null; true'
    run --separate-stderr leaky run -b "$BUNDLE" "$ID"
    echo "$n: $status $output $stderr"
    [[ $output != *shadow* ]]
  done
  nothing_left
}

@test "a working directory through a link of the image stays in the root file system" {
  ln -s /home/agent "$BUNDLE/rootfs/cwd"
  edit '.process.cwd = "/cwd"'
  in_container 'pwd -P'
  [ "$output" = /home/agent ]
}

@test "a working directory that the user can't enter is an error" {
  mkdir -m 700 "$BUNDLE/rootfs/closed"
  edit '.process.cwd = "/closed"'
  in_container 'pwd'
  [ "$status" -ne 0 ]
  nothing_left
}

@test "a working directory that is a file is an error" {
  edit '.process.cwd = "/etc/plain"'
  in_container 'pwd'
  [ "$status" -ne 0 ]
  nothing_left
}

@test "the host's null device does not reach the process as a standard stream" {
  local before
  before=$(stat -c '%a %u %g' /dev/null)
  # Its own one differs from the host's by the device that it lies on.
  script 'seen=$(for file in /proc/$$/fd/0 /proc/$$/fd/1 /proc/$$/fd/2 /dev/null; do stat -Lc "%d %t:%T" $file; done)
    (echo "$seen" >/mnt/streams)
    chmod 600 /proc/self/fd/0; chown 7:7 /proc/self/fd/1; : </dev/stdin >/dev/stdout'
  as_root
  edit '.process.capabilities = {bounding: $c, effective: $c, permitted: $c}' --argjson c '["CAP_FOWNER", "CAP_CHOWN", "CAP_DAC_OVERRIDE"]'
  bind "$BUNDLE" /mnt rw
  ar run -b "$BUNDLE" "$ID" </dev/null >/dev/null 2>&1
  cat "$BUNDLE/streams"
  [ "$(sort -u "$BUNDLE/streams" | wc -l)" -eq 1 ]
  [ "$(cut -d' ' -f1 "$BUNDLE/streams" | head -n 1)" != "$(stat -c %d /dev/null)" ]
  [ "$(stat -c '%a %u %g' /dev/null)" = "$before" ]
}
