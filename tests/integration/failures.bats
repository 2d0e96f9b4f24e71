#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# A create that fails leaves no process, mount, cgroup or state directory, whatever step failed;
# create_fails looks after each.

load lib.bash

setup_file () { common_setup_file; }
teardown_file () { common_teardown_file; }
setup () { common_setup; }
teardown () { common_teardown; }

@test "missing program" {
  args /bin/nosuchprogram
  create_fails 'no such file or directory'
}

@test "missing bind source" {
  bind /does/not/exist /mnt ro
  create_fails /does/not/exist
}

@test "a bind source that is a link to nothing" {
  ln -s /does/not/exist "$T/link"
  bind "$T/link" /mnt ro
  create_fails "$T/link|/does/not/exist"
}

@test "bad mount option" {
  edit '.mounts[-1].options += ["size=nonsense"]'
  create_fails size
}

@test "a bind of a file over a directory" {
  bind /etc/passwd /mnt ro
  create_fails /mnt
}

@test "a bind of a directory over a file" {
  bind "$T" /etc/plain ro
  create_fails /etc/plain
}

@test "a destination below a file" {
  bind "$T" /etc/plain/x ro
  create_fails /etc/plain
}

@test "a destination that would have to be made in a read-only place" {
  edit '.mounts += [{destination: "/sys/not/there", type: "tmpfs", source: "tmpfs", options: []}]'
  create_fails /sys/not/there
}

@test "a rootfs that is a file" {
  rm -rf "$BUNDLE/rootfs"
  echo x >"$BUNDLE/rootfs"
  create_fails rootfs
}

@test "a rootfs that is missing" {
  edit '.root.path = "nowhere"'
  create_fails nowhere
}

@test "a hook that fails" {
  edit '.hooks = {prestart: [{path: "/bin/false", args: ["false"]}]}'
  create_fails 'hook|/bin/false'
}

@test "a hook that does not exist" {
  edit '.hooks = {createRuntime: [{path: "/does/not/exist"}]}'
  create_fails /does/not/exist
}

@test "a hook that takes too long" {
  edit '.hooks = {prestart: [{path: "/bin/sleep", args: ["sleep", "100"], timeout: 1}]}'
  create_fails 'hook|/bin/sleep|time'
}

@test "a resource that the kernel refuses" {
  edit '.linux.resources.cpu = {cpus: "9999"}'
  create_fails
}

@test "an unknown seccomp action, operator and architecture" {
  edit '.linux.seccomp.syscalls += [{names: ["read"], action: "SCMP_ACT_NONSENSE"}]'
  create_fails SCMP_ACT_NONSENSE
  edit '.linux.seccomp.syscalls[-1] = {names: ["read"], action: "SCMP_ACT_ALLOW", args: [{index: 0, value: 1, op: "SCMP_CMP_NONSENSE"}]}'
  create_fails SCMP_CMP_NONSENSE
  edit 'del(.linux.seccomp.syscalls[-1]) | .linux.seccomp.architectures += ["SCMP_ARCH_NONSENSE"]'
  create_fails SCMP_ARCH_NONSENSE
}

@test "an unknown namespace type, rlimit and signal-like nonsense" {
  edit '.linux.namespaces += [{type: "nonsense"}]'
  create_fails nonsense
  edit 'del(.linux.namespaces[-1]) | .process.rlimits += [{type: "RLIMIT_NONSENSE", soft: 1, hard: 1}]'
  create_fails RLIMIT_NONSENSE
}

@test "a soft limit above the hard one" {
  edit '.process.rlimits = [{type: "RLIMIT_NOFILE", soft: 20, hard: 10}]'
  create_fails 'RLIMIT_NOFILE|rlimits'
}

@test "a namespace to join that is no namespace" {
  edit '(.linux.namespaces[] | select(.type == "network")).path = "/etc/passwd"'
  create_fails /etc/passwd
}

@test "a pid file that can't be written" {
  try_create ar_logged create -b "$BUNDLE" --pid-file "$T/nowhere/pid" "$ID"
  [ "$status" -eq 1 ]
  grep -qF "$T/nowhere/pid" "$LOG"
  nothing_left
}

@test "a console socket where no terminal was asked for, and a terminal without one" {
  edit '.process.terminal = true'
  create_fails 'terminal|console'
}

@test "a working directory that is missing in a read-only rootfs" {
  edit '.process.cwd = "/nowhere"'
  try_create ar_logged create -b "$BUNDLE" "$ID"
  if [ "$status" -eq 0 ]; then
    # made, as other runtimes do: then it has to be usable
    start
    ar delete --force "$ID"
  fi
  nothing_left
}

@test "what this build does not support is named, not skipped" {
  edit '.linux.personality = {domain: "LINUX", flags: ["ADDR_NO_RANDOMIZE"]}'
  create_fails linux.personality.flags
  edit 'del(.linux.personality) | .vm = {kernel: {path: "/k"}}'
  create_fails /vm
  edit 'del(.vm) | .linux.resources.memory.kernel = 1000000'
  create_fails memory.kernel
}

@test "the id can be used again after each failure" {
  args /bin/nosuchprogram
  create_fails
  args /bin/echo works
  run ar run -b "$BUNDLE" "$ID"
  [ "$output" = works ]
}

@test "killing create in the middle leaves something that delete --force removes" {
  local pid
  edit '.hooks = {prestart: [{path: "/bin/sleep", args: ["sleep", "2"]}]}'
  ar_exec create -b "$BUNDLE" "$ID" </dev/null >/dev/null 2>&1 3>&- &
  pid=$!
  sleep 0.5
  kill -KILL "$pid"
  wait "$pid" || true
  sleep 0.3
  ar delete --force "$ID"
  wait_for 5 nothing_left
}

# The state directory, the cgroups, init just made and not yet known, known, led, parked.
@test "create that is killed at any step leaves what delete --force removes" {
  local point
  for point in mkdirat:1 renameat:1 mkdirat:2 mkdirat:4 socketpair:1 clone3:1 renameat:2 sendmsg:1 sendmsg:2 renameat:3; do
    echo "killed at $point"
    env "$MARK" strace -qq -o /dev/null -e "trace=${point%:*}" \
      -e "inject=${point%:*}:signal=KILL:when=${point#*:}" "$AGENTRUN" --root "$ROOT" "${POLICY[@]}" \
      create -b "$BUNDLE" "$ID" </dev/null >/dev/null 2>&1 3>&- && return 1
    ar delete --force "$ID"
    wait_for 30 nothing_left
  done
}
