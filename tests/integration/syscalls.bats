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

@test "run of a program under builtin:default: at most 820 system calls" {
  POLICY=(--policy builtin:default)
  args /bin/true
  ar run --bundle "$BUNDLE" "$ID" # the seccomp program is compiled
  count run --bundle "$BUNDLE" "$ID"
  [ "$CALLS" -gt 100 ]
  [ "$CALLS" -le 820 ]
}

@test "a seccomp profile is compiled once" {
  POLICY=(--policy builtin:default)
  # Of nobody else: the number is ours.
  edit '.linux.seccomp.syscalls += [{names: ["personality"], action: "SCMP_ACT_ERRNO", errnoRet: 38, args: [{index: 0, op: "SCMP_CMP_EQ", value: $v}]}]' --argjson v "$((0x70000000 + $$))"
  args /bin/true
  calls ()
  {
    strace -f -qq -e trace=seccomp -o "$T/calls" "$AGENTRUN" --root "$ROOT" "${POLICY[@]}" run --bundle "$BUNDLE" "$ID" </dev/null
    grep -c 'seccomp(' "$T/calls"
  }
  [ "$(calls)" -gt 2 ] # libseccomp asks the kernel what it knows
  [ "$(calls)" -eq 1 ] # the filter is loaded, nothing else
}

@test "exec at most 460, state 110, kill 120, delete 180 system calls" {
  POLICY=(--policy builtin:default)
  args /bin/sleep 60
  create
  start
  count exec "$ID" /bin/true
  [ "$CALLS" -gt 100 ]
  [ "$CALLS" -le 460 ]
  count state "$ID"
  [ "$CALLS" -gt 10 ]
  [ "$CALLS" -le 110 ]
  count kill "$ID" KILL
  [ "$CALLS" -gt 10 ]
  [ "$CALLS" -le 120 ]
  wait_for 30 stopped "$ID"
  count delete "$ID"
  [ "$CALLS" -gt 10 ]
  [ "$CALLS" -le 180 ]
}

@test "--version: at most 45 system calls" {
  count --version
  [ "$CALLS" -gt 10 ]
  [ "$CALLS" -le 45 ]
}
