#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Root of the container's own user namespace, with every capability in it: what agentrun mounted, masked and
# made read-only stays as it is.

load lib.bash

setup_file () { common_setup_file; }
teardown_file () { common_teardown_file; }
teardown () { common_teardown; }

setup ()
{
  common_setup
  own_user_namespace
  mkdir "$T/shared"
  echo kept >"$T/shared/file"
  chown -R 500000:500000 "$T/shared"
  bind "$T/shared" /mnt ro nosuid nodev noexec
  local all
  all=$(seq 0 40 | while read -r n; do capsh --decode="$(printf %x $((1 << n)))" | cut -d= -f2; done | tr a-z A-Z | jq -Rnc '[inputs]')
  edit '.process.user = {uid: 0, gid: 0} | .process.noNewPrivileges = false | del(.linux.seccomp)
    | .process.capabilities = {bounding: $all, effective: $all, permitted: $all}' --argjson all "$all"
}

attack='
  grep -q "CapEff:.*0*1ffffffffff" /proc/self/status && echo "all capabilities"
  mount -t tmpfs none /tmp && echo "may mount"
  umount /tmp && echo "may unmount its own"
  for path in /mnt /proc /dev /sys /proc/kcore /proc/sys; do umount $path 2>/dev/null && echo "unmounted $path"; done
  umount -l /mnt 2>/dev/null && echo "detached /mnt"
  for path in / /mnt /proc/sys /sys; do
    mount -o remount,bind,rw $path 2>/dev/null && echo "writable $path"
  done
  for path in /mnt /proc /sys; do
    mount -o remount,bind,ro,suid,dev,exec $path 2>/dev/null && echo "suid, dev and exec on $path"
  done
  { echo gone >/mnt/file; } 2>/dev/null && echo "wrote to /mnt"
  head -c 1 /proc/kcore 2>/dev/null | grep -q . && echo "read kcore"
  cat /mnt/file'
expected=$'all capabilities\nmay mount\nmay unmount its own\nkept'

@test "masks, read-only binds and the root file system can't be undone" {
  in_container "$attack"
  [ "$output" = "$expected" ]
  [ "$(cat "$T/shared/file")" = kept ]
  nothing_left
}

@test "nor in a mount namespace that the workload makes" {
  in_container "unshare -m sh -c '$attack'"
  [ "$output" = "$expected" ]
  in_container "unshare -rm sh -c '$attack'"
  [ "$output" = "$expected" ]
}

@test "nor by exec" {
  args /bin/sleep 100
  create
  start
  run --separate-stderr ar exec "$ID" sh -c "$attack"
  echo "$output $stderr"
  [ "$output" = "$expected" ]
  ar delete --force "$ID"
  nothing_left
}

@test "the terminal has its name" {
  edit '.process.terminal = true'
  script 'tty; readlink /proc/self/fd/0'
  run python3 "$BATS_TEST_DIRNAME/terminal.py" timeout --foreground 30 "$AGENTRUN" --root "$ROOT" --policy builtin:permissive run -b "$BUNDLE" "$ID"
  echo "$output"
  [ "$(tr -d '\r' <<<"$output")" = $'/dev/pts/0\n/dev/pts/0' ]
}
