#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Id-mapped bind mounts: who owns what inside, and what lands on disk.

load lib.bash

setup_file () { common_setup_file; }
teardown_file () { common_teardown_file; }

setup ()
{
  common_setup
  mkdir -p "$T/data/below"
  touch "$T/data/file"
  chown -R 1000:1000 "$T/data"
}

teardown () { common_teardown; }

maps='[{containerID: 1000, hostID: 2000, size: 10}]'

user_namespace ()
{
  as_root
  edit '.linux.namespaces += [{type: "user"}] | .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}]
    | .linux.gidMappings = .linux.uidMappings'
}

@test "maps of the mount, without a user namespace: shown, and written back to disk" {
  bind "$T/data" /mnt
  edit ".mounts[-1].uidMappings = $maps | .mounts[-1].gidMappings = $maps | .process.user = {uid: 2000, gid: 2000}"
  in_container 'stat -c %u:%g /mnt/file && touch /mnt/new && stat -c %u:%g /mnt/new'
  [ "$status" -eq 0 ]
  [ "$output" = $'2000:2000\n2000:2000' ]
  [ "$(stat -c %u:%g "$T/data/new")" = 1000:1000 ]
}

@test "the container's maps, in a user namespace" {
  chmod 777 "$T/data"
  bind "$T/data" /mnt idmap
  user_namespace
  in_container 'stat -c %u:%g /mnt/file && touch /mnt/new'
  [ "$status" -eq 0 ]
  [ "$output" = 1000:1000 ]
  [ "$(stat -c %u:%g "$T/data/new")" = 0:0 ]
}

@test "maps of the mount in a user namespace" {
  bind "$T/data" /mnt
  edit '.mounts[-1].uidMappings = [{containerID: 1000, hostID: 100000, size: 1}]
    | .mounts[-1].gidMappings = .mounts[-1].uidMappings'
  user_namespace
  in_container 'stat -c %u:%g /mnt/file && touch /mnt/new'
  [ "$status" -eq 0 ]
  [ "$output" = 0:0 ]
  [ "$(stat -c %u:%g "$T/data/new")" = 1000:1000 ]
}

@test "ridmap maps the mounts below, idmap does not" {
  local word
  busybox mount -t tmpfs -o uid=1000,gid=1000 below "$T/data/below"
  OWN_MOUNT="$T/data/below"
  for word in idmap ridmap; do
    new_bundle "$word"
    edit '.mounts += [{destination: "/mnt", type: "bind", source: $s, options: ["rbind", $w]}]' \
      --arg s "$T/data" --arg w "$word"
    edit ".mounts[-1].uidMappings = $maps | .mounts[-1].gidMappings = $maps"
    in_container 'stat -c %u /mnt /mnt/below'
    if [ "$word" = idmap ]; then [ "$output" = $'2000\n1000' ]; else [ "$output" = $'2000\n2000' ]; fi
  done
  busybox umount "$T/data/below"
}

@test "a map that lacks one side, and a file system that can't be mapped" {
  bind "$T/data" /mnt
  edit ".mounts[-1].uidMappings = $maps"
  create_fails 'mounts/.*/gidMappings is empty'
  edit '.mounts[-1].source = "/proc/sys"'
  edit ".mounts[-1].gidMappings = $maps"
  create_fails 'id-mapped mount on /mnt'
}
