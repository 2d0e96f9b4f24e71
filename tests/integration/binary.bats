#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The runtime as a program is out of reach for the container: a payload that runs, reads or writes
# /proc/self/exe of the runtime changes nothing on the host.

load lib.bash

setup_file () { common_setup_file; }
teardown_file () { common_teardown_file; }
setup () { common_setup; }
teardown () { common_teardown; }

own_copy ()
{
  cp "$AGENTRUN" "$T/agentrun"
  AGENTRUN="$T/agentrun"
  sum=$(sha256sum <"$T/agentrun")
}

@test "a script whose interpreter is /proc/self/exe can't change the runtime's file" {
  local sum try
  own_copy
  as_root
  printf '#!/proc/self/exe\n' >"$BUNDLE/rootfs/bin/again"
  chmod 755 "$BUNDLE/rootfs/bin/again"
  bind "$BUNDLE/rootfs" /mnt rw
  args /bin/again
  for try in 1 2 3 4 5; do
    timeout 20 env "$MARK" "$AGENTRUN" --root "$ROOT" "${POLICY[@]}" run -b "$BUNDLE" "$ID" </dev/null >/dev/null 2>&1 || true
  done
  [ "$(sha256sum <"$T/agentrun")" = "$sum" ]
}

@test "no process of a container shows the runtime's file as its executable" {
  as_root
  in_container 'for p in /proc/[0-9]*; do readlink $p/exe; done'
  [[ $output != *agentrun* ]]
}

@test "while create waits, init's executable can't be opened for writing" {
  local sum pid
  own_copy
  as_root
  create
  pid=$(pid_of "$ID")
  run bash -c 'exec 5>>/proc/'"$pid"'/exe && printf x >&5'
  echo "$output"
  ar delete --force "$ID"
  [ "$(sha256sum <"$T/agentrun")" = "$sum" ]
}

@test "a process that joins the pid namespace can't open the runtime's descriptors" {
  # A payload that looks at all other processes of its namespace while the runtime is busy.
  as_root
  in_container 'i=0; while [ $i -lt 50 ]; do for f in /proc/[0-9]*/fd/*; do readlink $f; done; i=$((i + 1)); done 2>/dev/null | sort -u'
  [[ $output != *"$T"* ]]
  [[ $output != *"/run/agentrun"* ]]
}

@test "vm.memfd_noexec does not matter" {
  [ -e /proc/sys/vm/memfd_noexec ] || skip "this kernel has no vm.memfd_noexec"
  # The setting is the pid namespace's: it is changed in one of our own.
  args /bin/echo works
  run unshare --pid --fork --mount-proc bash -c 'echo 2 >/proc/sys/vm/memfd_noexec 2>/dev/null; exec "$@"' _ \
    timeout --foreground 30 env "$MARK" "$AGENTRUN" --root "$ROOT" "${POLICY[@]}" run -b "$BUNDLE" "$ID"
  echo "$output"
  [ "$output" = works ]
}
