#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# linux.netDevices: interfaces that move into the container, from a network namespace of the test's own.

load lib.bash

setup_file () { common_setup_file; }
teardown_file () { common_teardown_file; }
setup () { common_setup; }
teardown () { common_teardown; }

need_veth ()
{
  unshare --net ip link add one type veth peer name two 2>/dev/null || skip "the kernel has no veth"
}

# inside SETUP: agentrun in a fresh network namespace in which SETUP has run; then the interfaces that
# are left there.
inside ()
{
  run --separate-stderr unshare --net sh -ec "$1"'
    shift; "$@"; code=$?; ip -o link | sed "s/.*: \([a-z0-9]*\)[@:].*/host: \1/"; exit "$code"' \
    _ - env "$MARK" "$AGENTRUN" --root "$ROOT" "${POLICY[@]}" run -b "$BUNDLE" "$ID"
  echo "$output $stderr"
}

links='ip link add one type veth peer name two; ip addr add 10.9.8.7/24 dev one; ip addr add fd00:9::7/64 dev one nodad; ip link set one up;'

@test "an interface is moved, renamed, keeps its addresses and is up" {
  need_veth
  edit '.linux.netDevices = {one: {name: "inner"}}'
  script 'ip addr show inner'
  inside "$links"
  [ "$status" -eq 0 ]
  [[ $output == *10.9.8.7/24* && $output == *fd00:9::7/64* && $output == *UP* ]]
  [[ $output != *"host: one"* ]]
}

@test "without a name it keeps its own; in a user namespace" {
  need_veth
  as_root
  edit '.linux.netDevices = {one: {}} | .linux.namespaces += [{type: "user"}]
    | .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 1000}] | .linux.gidMappings = .linux.uidMappings'
  script 'ip addr show one'
  inside "$links"
  [ "$status" -eq 0 ]
  [[ $output == *10.9.8.7/24* ]]
}

@test "one that is not there, and a name that is taken" {
  edit '.linux.netDevices = {nowhere0: {}}'
  create_fails 'linux.netDevices: find network interface nowhere0'
  need_veth
  edit '.linux.netDevices = {one: {name: "lo"}}'
  inside "$links"
  [ "$status" -ne 0 ]
  [[ $stderr == *"move network interface one"* ]]
  nothing_left
}

@test "builtin:default refuses it" {
  POLICY=(--policy builtin:default)
  edit '.linux.netDevices = {lo: {}}'
  create_fails 'device.network'
}

@test "a mount label needs a kernel with SELinux" {
  [ ! -e /sys/fs/selinux/enforce ] || skip "the kernel runs SELinux"
  edit '.linux.mountLabel = "system_u:object_r:container_file_t:s0:c1,c2"'
  create_fails 'context=system_u:object_r:container_file_t:s0:c1,c2'
}
