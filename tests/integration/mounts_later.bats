#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# mounts add and mounts remove: of a running container.

load lib.bash

setup_file () { common_setup_file; }
teardown_file () { common_teardown_file; }

setup ()
{
  common_setup
  mkdir "$T/data" "$BUNDLE/rootfs/mnt/data" "$BUNDLE/rootfs/mnt/tmp"
  echo hello >"$T/data/file"
  chown -R 1000:1000 "$T/data"
  jq -n --arg s "$T/data" '[{destination: "/mnt/data", type: "bind", source: $s, options: ["bind", "ro", "nosuid", "nodev"]},
    {destination: "/mnt/tmp", type: "tmpfs", source: "tmpfs", options: ["size=64k", "mode=1777", "nosuid", "nodev"]}]' >"$T/mounts"
}

teardown () { common_teardown; }

running ()
{
  script 'sleep 100'
  create
  start
}

@test "a bind and a tmpfs come and go, read-only where asked" {
  running
  ar mounts add "$ID" "$T/mounts"
  run ar exec "$ID" sh -c 'cat /mnt/data/file; touch /mnt/data/x; touch /mnt/tmp/x && ls /mnt/tmp'
  echo "$output"
  [ "${lines[0]}" = hello ]
  [[ $output == *"Read-only file system"* ]]
  [ "${lines[-1]}" = x ]
  [ "$(grep -cF "$T/data" /proc/self/mountinfo)" -eq 0 ]
  ar mounts remove "$ID" "$T/mounts"
  run ar exec "$ID" ls /mnt/data /mnt/tmp
  [[ $output != *file* ]]
  run ar mounts remove "$ID" "$T/mounts"
  [ "$status" -eq 1 ]
  [[ $output == *"no mount was added on"* ]]
  ar delete --force "$ID"
}

@test "in a user namespace" {
  as_root
  edit '.linux.namespaces += [{type: "user"}] | .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}]
    | .linux.gidMappings = .linux.uidMappings'
  running
  ar mounts add "$ID" "$T/mounts"
  run ar exec "$ID" cat /mnt/data/file
  echo "$output"
  [ "$output" = hello ]
  ar mounts remove "$ID" "$T/mounts"
  ar delete --force "$ID"
}

@test "a failure halfway takes away what was made; a mask can't be removed" {
  running
  jq '. + [{destination: "/proc/x", type: "bind", source: .[0].source, options: ["bind"]}]' "$T/mounts" >"$T/bad"
  run ar mounts add "$ID" "$T/bad"
  echo "$output"
  [ "$status" -eq 1 ]
  run ar exec "$ID" cat /proc/self/mountinfo
  [[ $output != *" /mnt/"* ]]
  echo '{"mounts": [{"destination": "/proc/kcore"}]}' >"$T/mask"
  run ar mounts remove "$ID" "$T/mask"
  [ "$status" -eq 1 ]
  [[ $output == *"no mount was added on /proc/kcore"* ]]
  ar delete --force "$ID"
}

@test "a policy judges what is added as if it had been there" {
  POLICY=(--policy builtin:default)
  running
  run ar mounts add "$ID" "$T/mounts"
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *mount.source* ]]
  jq '[.[1]]' "$T/mounts" >"$T/tmpfs"
  ar mounts add "$ID" "$T/tmpfs"
  run ar exec "$ID" sh -c 'touch /mnt/tmp/x && ls /mnt/tmp'
  [ "$output" = x ]
  edit '.hostname = "other"'
  run ar mounts add "$ID" "$T/tmpfs"
  [ "$status" -eq 1 ]
  [[ $output == *lifecycle.record* ]]
  ar delete --force "$ID"
}

@test "bad input" {
  run ar mounts swap nobody "$T/mounts"
  [[ $output == *"add or remove"* ]]
  run ar mounts add nobody "$T/mounts"
  [ "$status" -eq 1 ]
  [[ $output == *"does not exist"* ]]
  running
  jq '[.[1] | .destination = "/mnt/missing"]' "$T/mounts" >"$T/missing"
  run ar mounts add "$ID" "$T/missing"
  [ "$status" -eq 1 ]
  [[ $output == *"/mnt/missing inside the root"* ]] # which is read-only
  echo '[]' >"$T/none"
  run ar mounts add "$ID" "$T/none"
  [[ $output == *"lists no mount"* ]]
  echo '[{' >"$T/broken"
  run ar mounts add "$ID" "$T/broken"
  [ "$status" -eq 1 ]
  [[ $output == *"$T/broken"* ]]
  jq '[.[0] | .type = "proc" | .options = []]' "$T/mounts" >"$T/proc"
  run ar mounts add "$ID" "$T/proc"
  [[ $output == *"only binds and tmpfs"* ]]
  ar delete --force "$ID"
}
