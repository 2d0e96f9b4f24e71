#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Times are noisy, counts of system calls are not: what a command makes of them, all its processes
# together, may not grow unnoticed.  The bounds are what was counted when they were set, and a little room
# for other libraries; make them smaller when the code gets better.

load lib.bash

setup_file () { common_setup_file; }
teardown_file () { common_teardown_file; }
setup () { common_setup; }
teardown () { common_teardown; }

# count COMMAND...: sets CALLS.
count ()
{
  strace -f -c -o "$T/calls" "$AGENTRUN" --root "$ROOT" "${POLICY[@]}" "$@" </dev/null >/dev/null 2>"$T/err"
  CALLS=$(awk '$NF == "total" { print $4 }' "$T/calls")
  echo "system calls: $CALLS"
}

@test "run of a program under builtin:default: at most 940 system calls" {
  POLICY=(--policy builtin:default)
  args /bin/true
  count run --bundle "$BUNDLE" "$ID"
  [ "$CALLS" -gt 100 ]
  [ "$CALLS" -le 940 ]
}

@test "state of a container: at most 250 system calls" {
  args /bin/sleep 60
  ar create --bundle "$BUNDLE" "$ID" </dev/null >/dev/null 2>&1
  count state "$ID"
  ar delete --force "$ID"
  [ "$CALLS" -gt 10 ]
  [ "$CALLS" -le 250 ]
}

@test "--version: at most 90 system calls" {
  count --version
  [ "$CALLS" -gt 10 ]
  [ "$CALLS" -le 90 ]
}
