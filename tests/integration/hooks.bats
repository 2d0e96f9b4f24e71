#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Hooks: when they run, where, with what input and environment.

load lib.bash

setup_file () { common_setup_file; }
teardown_file () { common_teardown_file; }
setup () { common_setup; }
teardown () { common_teardown; }

# hook KIND SCRIPT: appends a hook that runs a shell script on the host; $OUT is $T/hooks.
hook ()
{
  local file="$T/hook.$1.$RANDOM"
  printf '#!/bin/sh\n%s\n' "$2" >"$file"
  chmod 755 "$file"
  edit '.hooks[$k] += [{path: $p, args: ["hook", "argument"], env: ["PATH=/usr/bin:/bin", "OUT=\($o)"]}]' \
    --arg k "$1" --arg p "$file" --arg o "$T/hooks"
}

@test "prestart gets the state on standard input" {
  hook prestart 'cat >"$OUT"'
  create
  cat "$T/hooks"
  [ "$(jq -r .id "$T/hooks")" = "$ID" ]
  [ "$(jq -r .bundle "$T/hooks")" = "$BUNDLE" ]
  [ "$(jq -r .pid "$T/hooks")" -eq "$(pid_of "$ID")" ]
  [[ $(jq -r .ociVersion "$T/hooks") == 1.* ]]
  [[ $(jq -r .status "$T/hooks") == creat* ]]
  ar delete --force "$ID"
}

@test "prestart runs in the runtime's namespaces, while the container's exist" {
  hook prestart 'pid=$(jq .pid); { readlink /proc/self/ns/net; readlink /proc/self/ns/mnt; readlink /proc/$pid/ns/net; } >"$OUT"'
  create
  cat "$T/hooks"
  [ "$(sed -n 1p "$T/hooks")" = "$(readlink /proc/self/ns/net)" ]
  [ "$(sed -n 2p "$T/hooks")" = "$(readlink /proc/self/ns/mnt)" ]
  [ "$(sed -n 3p "$T/hooks")" = "$(readlink "/proc/$(pid_of "$ID")/ns/net")" ]
  ar delete --force "$ID"
}

# A hook that is a program of the image.
inside_hook ()
{
  edit '.hooks[$k] += [{path: "/bin/sh", args: ["sh", "-c", $s], env: ["PATH=/bin"]}]' --arg k "$1" --arg s "$2"
}

# /tmp/hooks of the container is $T/hooks.
share_output ()
{
  : >"$T/hooks"
  chmod 666 "$T/hooks"
  touch "$BUNDLE/rootfs/tmp/hooks"
  edit '.mounts |= map(select(.destination != "/tmp"))'
  bind "$T/hooks" /tmp/hooks rw
}

@test "hooks of all six kinds run in the specification's order, each before and after what it names" {
  local kind
  share_output
  for kind in prestart createRuntime createContainer poststart poststop; do
    hook $kind "echo $kind \$(jq -r .status) >>\"\$OUT\""
  done
  inside_hook startContainer 'grep -q "\"status\": *\"created\"" && echo startContainer created >>/tmp/hooks'
  script 'echo program >>/tmp/hooks'
  create
  [ "$(cat "$T/hooks")" = $'prestart creating\ncreateRuntime creating\ncreateContainer creating' ]
  start
  wait_for 5 grep -q poststart "$T/hooks"
  wait_for 5 stopped "$ID"
  ar delete "$ID"
  cat "$T/hooks"
  # The program and the poststart hooks run at the same time.
  [ "$(grep -v -e program -e poststart "$T/hooks")" = $'prestart creating\ncreateRuntime creating\ncreateContainer creating\nstartContainer created\npoststop stopped' ]
  [ "$(sed -n 5,6p "$T/hooks" | sort)" = $'poststart running\nprogram' ]
}

@test "where the kinds run: the runtime's namespaces or the container's" {
  local kind
  for kind in prestart createRuntime createContainer poststart poststop; do
    hook $kind "echo $kind \$(readlink /proc/self/ns/mnt) \$(readlink /proc/self/ns/uts) >>\"\$OUT\""
  done
  args /bin/sleep 100
  create
  start
  local own theirs
  own="$(readlink /proc/self/ns/mnt) $(readlink /proc/self/ns/uts)"
  theirs="$(readlink "/proc/$(pid_of "$ID")/ns/mnt") $(readlink "/proc/$(pid_of "$ID")/ns/uts")"
  ar delete --force "$ID"
  [ "$(cat "$T/hooks")" = "prestart $own
createRuntime $own
createContainer $theirs
poststart $own
poststop $own" ]
}

@test "arguments and environment are the hook's own" {
  hook prestart '{ echo "$# $1"; env | grep -v -e ^PWD= -e ^SHLVL= -e ^_= | sort; } >"$OUT"'
  CALLER=leak create
  cat "$T/hooks"
  [ "$(cat "$T/hooks")" = "$(printf '1 argument\nOUT=%s\nPATH=/usr/bin:/bin' "$T/hooks")" ]
  ar delete --force "$ID"
}

@test "no descriptor of the runtime reaches a hook" {
  hook prestart 'ls -l /proc/self/fd >"$OUT"'
  create
  cat "$T/hooks"
  # 0 to 2, the directory that ls reads, and the script that the shell reads.
  [ "$(grep -c -e '->' "$T/hooks")" -le 5 ]
  ar delete --force "$ID"
}

@test "after a failed hook the next does not run, and what it says on standard error is told" {
  hook prestart 'echo "reason of the hook" >&2; exit 3'
  hook prestart 'touch "$OUT"'
  create_fails 'hook'
  [ ! -e "$T/hooks" ]
}

@test "a failing poststop hook does not stop delete, nor the hooks behind it, and is a warning" {
  hook poststop 'exit 1'
  hook poststop 'echo second >"$OUT"'
  args /bin/true
  create
  start
  wait_for 5 stopped "$ID"
  ar --log "$LOG" --log-format json --log-level warning delete "$ID"
  [ "$(cat "$T/hooks")" = second ]
  [ "$(jq -r .level "$LOG")" = warning ]
  [[ $(jq -r .msg "$LOG") == "poststop hook "*"ended with exit code 1"* ]]
  nothing_left
}

@test "a hook that fails during create ends what was made, and poststop runs after that" {
  local kind
  for kind in prestart createRuntime createContainer; do
    edit 'del(.hooks)'
    rm -f "$T/hooks"
    hook $kind 'exit 4'
    hook poststop 'jq -r .status >"$OUT"; ls "$(dirname "$OUT")/state" >>"$OUT"'
    create_fails "^agentrun: $kind hook .* ended with exit code 4|^$kind hook .* ended with exit code 4"
    [ "$(cat "$T/hooks")" = stopped ]
  done
}

@test "what fails without a hook's doing runs no poststop" {
  hook poststop 'echo poststop >"$OUT"'
  args /no/such/program
  create_fails 'no such file'
  [ ! -e "$T/hooks" ]
}

@test "a hook that runs over its time is killed with what it started, and counts as failed" {
  hook prestart 'sleep 300 & sleep 300'
  hook poststop 'echo poststop >"$OUT"'
  edit '.hooks.prestart[0].timeout = 1'
  create_fails 'longer than its timeout of 1 s'
  [ "$(cat "$T/hooks")" = poststop ]
}

@test "a startContainer hook that fails: no program runs, the container is destroyed and poststop runs" {
  share_output
  inside_hook startContainer 'echo reason >&2; exit 5'
  hook poststop 'echo poststop >>"$OUT"'
  script 'echo program >>/tmp/hooks'
  create
  run --separate-stderr ar start "$ID"
  echo "$stderr"
  [ "$status" -eq 1 ]
  [[ $stderr == *"startContainer hook /bin/sh ended with exit code 5; it said: "*reason* ]]
  [ "$(cat "$T/hooks")" = poststop ]
  nothing_left
}

@test "a startContainer hook has no right that the workload could not have" {
  script 'cat /tmp/hook'
  mkdir "$T/shared"
  chmod 777 "$T/shared"
  bind "$T/shared" /tmp rw
  edit '.hooks.startContainer = [{path: "/bin/sh", args: ["sh", "-c", "grep -E ^\\(Cap\\|NoNewPrivs\\|Seccomp:\\) /proc/self/status >/tmp/hook; mkdir /tmp/x"], env: ["PATH=/bin"]}]
    | (.linux.seccomp.syscalls[].names) |= map(select(. != "mkdir" and . != "mkdirat"))
    | .process.capabilities.bounding = ["CAP_KILL"]'
  run --separate-stderr ar run -b "$BUNDLE" "$ID"
  echo "$output $stderr"
  [ "$status" -ne 0 ]
  [[ $stderr == *"startContainer hook /bin/sh ended with exit code 1"*"/tmp/x"* ]]
  cat "$T/shared/hook"
  [ "$(tr -d '\t' <"$T/shared/hook")" = $'CapInh:0000000000000000\nCapPrm:0000000000000020\nCapEff:0000000000000020\nCapBnd:0000000000000020\nCapAmb:0000000000000000\nNoNewPrivs:1\nSeccomp:2' ]
}

@test "a poststart hook that fails ends and removes the container, and poststop runs" {
  hook poststart 'exit 3'
  hook poststop 'echo poststop >"$OUT"'
  args /bin/sleep 100
  create
  run --separate-stderr ar start "$ID"
  echo "$stderr"
  [ "$status" -eq 1 ]
  [[ $stderr == *"poststart hook"*"ended with exit code 3"* ]]
  run --separate-stderr ar state "$ID"
  [[ $stderr == *"does not exist"* ]]
  [ "$(cat "$T/hooks")" = poststop ]
  nothing_left
}
