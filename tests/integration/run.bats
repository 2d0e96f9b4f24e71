#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# run in the foreground: exit codes, streams, signals, and that nothing stays behind.

load lib.bash

setup_file () { common_setup_file; }
teardown_file () { common_teardown_file; }
setup () { common_setup; }
teardown () { common_teardown; }

@test "exit codes are passed on" {
  local code
  for code in 0 1 3 42 126 127 255; do
    script "exit $code"
    run "-$code" ar run -b "$BUNDLE" "$ID"
  done
  nothing_left
}

@test "a process that a signal ended gives 128 and the signal's number" {
  # The first process of a pid namespace ignores its own signals, so the signal comes from here.
  local code=0 pid
  args /bin/sleep 100
  ar run -b "$BUNDLE" --pid-file "$T/pid" "$ID" </dev/null >/dev/null 2>&1 3>&- &
  pid=$!
  wait_for 5 test -s "$T/pid"
  wait_for 5 eval '[ "$(state_of "$ID")" = running ]'
  ar kill "$ID" KILL
  wait "$pid" || code=$?
  [ "$code" -eq 137 ]
  nothing_left
}

@test "TERM is forwarded to the process, whose exit code counts" {
  local code=0 pid
  script 'trap "exit 9" TERM; echo up; while :; do sleep 0.05; done'
  ar_exec run -b "$BUNDLE" "$ID" </dev/null >"$T/out" 2>&1 3>&- &
  pid=$!
  wait_for 5 grep -q up "$T/out"
  kill -TERM "$pid"
  wait "$pid" || code=$?
  cat "$T/out"
  [ "$code" -eq 9 ]
  nothing_left
}

@test "HUP, INT, USR1 and USR2 are forwarded" {
  local pid signal
  script 'for s in HUP INT USR1 USR2; do trap "echo $s" $s; done; trap "exit 0" TERM
    echo up; while :; do sleep 0.05; done'
  ar_exec run -b "$BUNDLE" "$ID" </dev/null >"$T/out" 2>&1 3>&- &
  pid=$!
  wait_for 5 grep -q up "$T/out"
  for signal in HUP USR1 USR2; do
    kill -"$signal" "$pid"
    wait_for 5 grep -qx "$signal" "$T/out"
  done
  kill -TERM "$pid"
  wait "$pid"
  nothing_left
}

@test "standard input and output are the process's own" {
  head -c 1048576 /dev/urandom >"$T/in"
  args /bin/cat
  ar run -b "$BUNDLE" "$ID" <"$T/in" >"$T/out"
  cmp "$T/in" "$T/out"
}

@test "standard error stays apart" {
  in_container 'echo out; echo err >&2'
  [ "$output" = out ]
  [ "$stderr" = err ]
}

@test "closed standard streams are no problem" {
  args /bin/true
  ar run -b "$BUNDLE" "$ID" <&- >/dev/null 2>&1
  ar run -b "$BUNDLE" "$ID" <&- >&- 2>&-
  nothing_left
}

@test "processes in the background end with the first one" {
  in_container 'sleep 1000 & sleep 1000 & exit 0'
  [ "$status" -eq 0 ]
  nothing_left
}

@test "a name that is not in PATH, with the words that engines look for" {
  args nosuchprogram
  run --separate-stderr ar run -b "$BUNDLE" "$ID"
  echo "$stderr"
  [ "$status" -ne 0 ]
  [[ $stderr == *'exec: "nosuchprogram": executable file not found in $PATH'* ]]
  nothing_left
}

@test "a path that does not exist, with the words that engines look for" {
  args /bin/nosuchprogram
  run --separate-stderr ar run -b "$BUNDLE" "$ID"
  echo "$stderr"
  [ "$status" -ne 0 ]
  [[ $stderr == *"no such file or directory"* ]]
  [[ $stderr == */bin/nosuchprogram* ]]
  nothing_left
}

@test "a file that is not executable, with the words that engines look for" {
  args /etc/plain
  run --separate-stderr ar run -b "$BUNDLE" "$ID"
  echo "$stderr"
  [ "$status" -ne 0 ]
  [[ $stderr == *"permission denied"* ]]
  nothing_left
}

@test "a name is looked up in the container's PATH and not in the caller's" {
  mkdir "$BUNDLE/rootfs/own"
  ln "$BUNDLE/rootfs/bin/busybox" "$BUNDLE/rootfs/own/echo"
  edit '.process.env = ["PATH=/own"]'
  args echo found
  PATH="$PATH" run ar run -b "$BUNDLE" "$ID"
  [ "$output" = found ]
  args id
  run ar run -b "$BUNDLE" "$ID"
  [ "$status" -ne 0 ]
}

@test "create of a missing program fails in create, not in start" {
  args /bin/nosuchprogram
  create_fails 'no such file or directory'
}

@test "an interpreter that is missing is told apart from success" {
  printf '#!/no/such/interpreter\n' >"$BUNDLE/rootfs/etc/script"
  chmod 755 "$BUNDLE/rootfs/etc/script"
  args /etc/script
  run ar run -b "$BUNDLE" "$ID"
  echo "$output"
  [ "$status" -ne 0 ]
  nothing_left
}

@test "run --detach returns, the container goes on" {
  args /bin/sleep 100
  ar run --detach -b "$BUNDLE" --pid-file "$T/pid" "$ID" </dev/null >/dev/null 2>&1
  [ "$(state_of "$ID")" = running ]
  [ -d "/proc/$(cat "$T/pid")" ]
  ar delete --force "$ID"
}

@test "--keep keeps the container for delete" {
  args /bin/true
  ar run --keep -b "$BUNDLE" "$ID"
  [ "$(state_of "$ID")" = stopped ]
  ar delete "$ID"
  nothing_left
}

@test "the pid file of run" {
  args /bin/sleep 0.2
  ar run -b "$BUNDLE" --pid-file "$T/pid" "$ID"
  [[ $(cat "$T/pid") =~ ^[0-9]+$ ]]
}

@test "ignored and blocked signals of the caller don't reach the process" {
  # Without a shell inside, which may ignore signals itself.
  args /bin/grep -E '^Sig(Ign|Blk)' /proc/self/status
  run --separate-stderr bash -c 'trap "" HUP QUIT USR1 PIPE; exec "$@"' _ \
    env "$MARK" "$AGENTRUN" --root "$ROOT" "${POLICY[@]}" run -b "$BUNDLE" "$ID"
  echo "$output"
  [ "$(grep -c '0000000000000000$' <<<"$output")" -eq 2 ]
}

@test "the caller's environment, umask, nice value and working directory don't reach the process" {
  script 'echo "[$CALLER]"; umask; cut -d" " -f19 /proc/self/stat; pwd'
  run --separate-stderr bash -c 'umask 077; cd /; exec nice -n 5 "$@"' _ \
    env "$MARK" CALLER=leak "$AGENTRUN" --root "$ROOT" "${POLICY[@]}" run -b "$BUNDLE" "$ID"
  echo "$output"
  [ "${lines[0]}" = "[]" ]
  [ "${lines[1]}" = 0022 ]
  [ "${lines[2]}" = 0 ]
  [ "${lines[3]}" = / ]
}
