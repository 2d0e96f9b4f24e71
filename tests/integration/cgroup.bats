#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Control groups: limits as the kernel has them, devices, and that the groups go with the container.

load lib.bash

setup_file () { common_setup_file; }
teardown_file () { common_teardown_file; }
setup () { common_setup; }
teardown () { common_teardown; }

# value CONTROLLER V1-FILE V2-FILE
value ()
{
  local dir
  dir=$(cgroup_dir "$1")
  if [ -e "$dir/$2" ]; then
    cat "$dir/$2"
  else
    cat "$dir/$3"
  fi
}

on_v1 ()
{
  [ -d /sys/fs/cgroup/memory ]
}

@test "memory, pids and cpu limits are written" {
  edit '.linux.resources.memory = {limit: 67108864, reservation: 33554432} | .linux.resources.pids.limit = 17 | .linux.resources.cpu = {shares: 512, quota: 50000, period: 200000}'
  create
  [ "$(value memory memory.limit_in_bytes memory.max)" = 67108864 ]
  [ "$(value memory memory.soft_limit_in_bytes memory.low)" = 33554432 ]
  [ "$(value pids pids.max pids.max)" = 17 ]
  if on_v1; then
    [ "$(value cpu cpu.shares none)" = 512 ]
    [ "$(value cpu cpu.cfs_quota_us none)" = 50000 ]
    [ "$(value cpu cpu.cfs_period_us none)" = 200000 ]
  else
    [ "$(value cpu none cpu.max)" = "50000 200000" ]
  fi
  ar delete --force "$ID"
}

@test "cpuset" {
  edit '.linux.resources.cpu.cpus = "0" | .linux.resources.cpu.mems = "0"'
  in_container 'grep Cpus_allowed_list /proc/self/status'
  [ "$output" = $'Cpus_allowed_list:\t0' ]
}

@test "the process is in its cgroup in every hierarchy" {
  create
  local line
  while IFS= read -r line; do
    [[ $line == *":$CGROUP-$ID" || $line == *:/ ]] || { echo "$line"; false; }
  done </proc/"$(pid_of "$ID")"/cgroup
  grep -q ":$CGROUP-$ID$" /proc/"$(pid_of "$ID")"/cgroup
  ar delete --force "$ID"
}

@test "the pids limit holds" {
  edit '.linux.resources.pids.limit = 5'
  in_container 'i=0; while [ $i -lt 10 ]; do sleep 1 & i=$((i + 1)); done; echo all'
  [[ $output != *all* ]]
  nothing_left
}

@test "the memory limit holds" {
  edit '.linux.resources.memory = {limit: 16777216, swap: 16777216} | (.mounts[] | select(.destination == "/tmp") | .options) = ["mode=1777", "size=64m"]'
  in_container 'head -c 50000000 /dev/zero >/tmp/big; echo survived'
  [[ $output != *survived* ]] || [ "$status" -ne 0 ] || [[ $stderr == *Killed* ]]
  nothing_left
}

@test "devices: only those allowed can be opened" {
  as_root
  edit '.linux.devices = [{path: "/dev/mine", type: "c", major: 10, minor: 229, fileMode: 438, uid: 0, gid: 0}]'
  in_container 'head -c 1 /dev/zero | wc -c; (exec 5</dev/mine) 2>/dev/null || echo refused'
  [ "$output" = $'1\nrefused' ]
}

@test "devices: without any rule those that are listed can be opened" {
  [ -c /dev/fuse ] || skip "no /dev/fuse"
  edit '.linux.devices = [{path: "/dev/mine", type: "c", major: 10, minor: 229, fileMode: 438, uid: 0, gid: 0}]
    | del(.linux.resources.devices)'
  in_container ': <>/dev/mine && echo opened'
  [ "$output" = opened ]
}

@test "--cgroup-manager=disabled makes no group, and can't hold a limit" {
  edit 'del(.linux.resources)'
  args /bin/sleep 100
  ar --cgroup-manager disabled create -b "$BUNDLE" "$ID" </dev/null >/dev/null 2>"$T/stderr"
  [ "$(find /sys/fs/cgroup -type d | grep -F "$CGROUP" || true)" = "" ]
  ar start "$ID"
  ar exec "$ID" true
  ar kill "$ID" KILL
  wait_for 10 stopped "$ID"
  ar delete "$ID"
  edit '.linux.resources.pids.limit = 10'
  run --separate-stderr ar --cgroup-manager disabled run -b "$BUNDLE" "$ID"
  [ "$status" -eq 1 ]
  [[ $stderr == *'linux.resources asks for limits'*'--cgroup-manager=disabled'* ]]
  POLICY=(--policy builtin:default)
  edit 'del(.linux.resources)'
  run --separate-stderr ar --cgroup-manager disabled run -b "$BUNDLE" "$ID"
  [ "$status" -eq 1 ]
  [[ $stderr == *'cli.unsafe: --cgroup-manager=disabled leaves the container without limits'* ]]
  nothing_left
}

@test "devices: a rule of config.json opens one" {
  as_root
  edit '.linux.devices = [{path: "/dev/mine", type: "c", major: 10, minor: 229, fileMode: 438, uid: 0, gid: 0}]
    | .linux.resources.devices += [{allow: true, type: "c", major: 10, minor: 229, access: "r"}]'
  in_container 'exec 5</dev/mine && echo opened; (exec 6>/dev/mine) 2>/dev/null || echo "not for writing"'
  [ "$output" = $'opened\nnot for writing' ]
}

@test "devices: making a node of a disk gives no access to it" {
  as_root
  edit '.process.capabilities = {bounding: ["CAP_MKNOD"], permitted: ["CAP_MKNOD"], effective: ["CAP_MKNOD"]} | .root.readonly = false'
  in_container 'mknod /node b 254 0 2>/dev/null; mknod /node b 8 0 2>/dev/null; head -c 1 /node >/dev/null 2>&1 && echo read; true'
  [[ $output != *read* ]]
}

@test "the cgroup mount is the container's own and can't be written" {
  as_root
  in_container 'find /sys/fs/cgroup -name cgroup.procs | head -n 3; find /sys/fs/cgroup -name "*.max" -o -name "*limit_in_bytes" | while read -r f; do echo max 2>/dev/null >$f && echo "wrote $f"; done; true'
  [[ $output != *wrote* ]]
}

@test "the cgroups go with the container, also those made below" {
  create
  local dir
  find /sys/fs/cgroup -maxdepth 2 -type d -path "*$CGROUP-$ID" | while read -r dir; do
    mkdir "$dir/below" "$dir/below/deep"
  done
  ar delete --force "$ID"
  nothing_left
}

@test "parents that create made go with the container, those of others stay" {
  local group="$CGROUP-parent"
  args /bin/true
  mkdir "/sys/fs/cgroup/pids$group-own" 2>/dev/null || skip "no pids hierarchy of v1"
  edit '.linux.cgroupsPath = $c' --arg c "$group/deep/$ID"
  create
  ar delete --force "$ID"
  [ -z "$(find /sys/fs/cgroup -type d -path "*$group/*")" ]
  [ -z "$(find /sys/fs/cgroup -maxdepth 2 -type d -name "$(basename "$group")")" ]
  edit '.linux.cgroupsPath = $c' --arg c "$group-own/$ID"
  create
  ar delete --force "$ID"
  [ -d "/sys/fs/cgroup/pids$group-own" ]
  [ "$(find /sys/fs/cgroup -maxdepth 2 -type d -name "$(basename "$group")-own" | wc -l)" -eq 1 ]
  rmdir "/sys/fs/cgroup/pids$group-own"
}

@test "run removes its cgroup" {
  in_container true
  nothing_left
}

@test "a cgroup path that leaves its place is refused" {
  local path
  for path in /../x /a/../../x ../x "/a/./b/../.."; do
    edit '.linux.cgroupsPath = $p' --arg p "$path"
    create_fails
  done
}

@test "a limit that can't be set is an error that names it" {
  edit '.linux.resources.cpu.cpus = "9999"'
  create_fails 'cpu'
  edit 'del(.linux.resources.cpu.cpus) | .linux.resources.hugepageLimits = [{pageSize: "3MB", limit: 1}]'
  create_fails '3MB|hugetlb'
}

@test "linux.intelRdt where there is no resctrl is an error, and builtin:default refuses it" {
  [ ! -e /sys/fs/resctrl/schemata ] || skip "the host has resctrl"
  edit '.linux.intelRdt = {memBwSchema: "MB:0=50"}'
  create_fails 'linux.intelRdt: no resctrl file system'
  POLICY=(--policy builtin:default)
  create_fails 'scheduling.special'
}
