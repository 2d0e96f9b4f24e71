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

@test "hooks run in the specification's order" {
  local kind
  for kind in prestart createRuntime poststart poststop; do
    hook $kind "echo $kind >>\"\$OUT\""
  done
  args /bin/true
  create
  [ "$(cat "$T/hooks")" = $'prestart\ncreateRuntime' ]
  start
  wait_for 5 grep -q poststart "$T/hooks"
  wait_for 5 stopped "$ID"
  ar delete "$ID"
  [ "$(cat "$T/hooks")" = $'prestart\ncreateRuntime\npoststart\npoststop' ]
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

@test "a failing poststop hook does not stop delete" {
  hook poststop 'exit 1'
  args /bin/true
  create
  start
  wait_for 5 stopped "$ID"
  ar delete "$ID" || true
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
