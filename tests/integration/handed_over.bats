#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What goes out by a socket: the terminal in the size of process.consoleSize, and --pidfd-socket.

load lib.bash

setup_file () { common_setup_file; }
teardown_file () { common_teardown_file; }

setup ()
{
  common_setup
  RECEIVER=
}

teardown ()
{
  [ -z "$RECEIVER" ] || kill "$RECEIVER" 2>/dev/null || true
  common_teardown
}

receiver ()
{
  rm -f "$T/socket" "$T/received" # nor is what another one wrote taken for it
  python3 "$BATS_TEST_DIRNAME/receive.py" "$T/socket" "$1" >"$T/received" 2>&1 3>&- &
  RECEIVER=$!
  wait_for 30 grep -q listening "$T/received"
}

@test "process.consoleSize is the size of the terminal from the first moment" {
  receiver terminal
  edit '.process.terminal = true | .process.consoleSize = {height: 31, width: 117}'
  script 'stty size'
  create --console-socket "$T/socket"
  start
  wait_for 30 grep -q '31 117' "$T/received"
  wait_for 30 stopped "$ID"
  ar delete "$ID"
}

@test "--pidfd-socket of create, and of exec" {
  receiver pidfd
  script 'sleep 100'
  create --pidfd-socket "$T/socket"
  wait_for 30 grep -q Pid "$T/received"
  [ "$(sed -n 's/^Pid:[[:space:]]*//p' "$T/received")" = "$(pid_of "$ID")" ]
  start
  local first=$RECEIVER
  cp "$T/received" "$T/first"
  receiver pidfd
  ar exec --pidfd-socket "$T/socket" "$ID" true
  wait_for 30 grep -q ended "$T/received"
  [ "$(sed -n 's/^Pid:[[:space:]]*//p' "$T/received")" != "$(pid_of "$ID")" ]
  ar kill "$ID" KILL
  wait "$first"
  wait_for 30 stopped "$ID"
  ar delete "$ID"
}

@test "a pidfd socket that is not there" {
  script 'sleep 100'
  run ar create -b "$BUNDLE" --pidfd-socket "$T/nowhere" "$ID" </dev/null
  [ "$status" -eq 1 ]
  [[ $output == *"pidfd socket $T/nowhere"* ]]
  nothing_left
  create
  start
  run ar exec --pidfd-socket "$T/nowhere" "$ID" true
  [ "$status" -ne 0 ]
  [[ $output == *"pidfd socket $T/nowhere"* ]]
  ar delete --force "$ID"
}
