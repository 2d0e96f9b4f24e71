#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Podman: every denial as its user sees it, one line behind "Error:", and nothing left.  AGENTRUN is the binary under test.

bats_require_minimum_version 1.5.0
load podman.sh

setup_file () { podman_up; }
teardown_file () { podman_down || true; }

HARDENED=(-u 1000:1000 --read-only --network none)

# refused RULE TEXT ARGUMENT...
refused ()
{
  local rule=$1 text=$2
  shift 2
  run --separate-stderr pm run --rm "$@"
  echo "$rule: $status $stderr"
  [ "$status" -eq 126 ]
  [[ $stderr == "Error: "*"denied by policy"*"$rule: "*"$text"*"a policy decision, not a fault"* ]]
  [ "$(grep -c . <<<"$stderr")" -eq 1 ]
}

@test "root, a writable root file system, the host's network, all at once" {
  run --separate-stderr pm run --rm --network host bb id
  [ "$status" -eq 126 ]
  for rule in user.root rootfs.readonly namespace.host; do
    [[ $stderr == *"$rule: "* ]]
  done
  [[ $stderr == *"add --user 1000:1000"* ]]
  [[ $stderr == *"add --read-only --tmpfs /tmp"* ]]
  [[ $stderr == *"remove --network host"* ]]
}

@test "users and groups" {
  refused user.root 'add --user 1000:1000' --read-only --network none bb id
  refused user.root '' --user 0:1000 --read-only --network none bb id
  refused user.group-zero '' "${HARDENED[@]}" --group-add 0 bb id
}

@test "privileged, capabilities, unconfined seccomp" {
  refused capability.extra '' "${HARDENED[@]}" --privileged bb id
  refused capability.extra CAP_SYS_ADMIN "${HARDENED[@]}" --cap-add SYS_ADMIN bb id
  # What is left open is closed, not refused.
  run pm run --rm "${HARDENED[@]}" --security-opt seccomp=unconfined bb grep Seccomp: /proc/self/status
  [ "$(tr -d '\t' <<<"$output")" = Seccomp:2 ]
}

@test "namespaces of the host and of others" {
  refused namespace.host 'remove --pid host' "${HARDENED[@]}" --pid host bb id
  refused namespace.host 'remove --ipc host' "${HARDENED[@]}" --ipc host bb id
  refused namespace.host 'remove --uts host' "${HARDENED[@]}" --uts host bb id
  refused namespace.host 'remove --network host' -u 1000:1000 --read-only --network host bb id
  refused namespace.host '' -u 1000:1000 --read-only --network ns:/proc/self/ns/net bb id
}

@test "mounts: sockets of engines, the host's directories, credentials, what nobody granted" {
  local home="$PODMAN_DIR/home"
  mkdir -p "$home/.ssh"
  refused mount.never '' "${HARDENED[@]}" -v /:/host:ro bb id
  refused mount.never '' "${HARDENED[@]}" -v /etc:/host:ro bb id
  refused mount.never '' "${HARDENED[@]}" -v /var/run:/host bb id
  refused mount.never '' "${HARDENED[@]}" -v /root:/host bb id
  refused mount.source '"kind": "mount"' "${HARDENED[@]}" -v "$home:/data" bb id
  python3 -c 'import socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen()' "$PODMAN_DIR/workspace/s.sock"
  refused mount.socket '' "${HARDENED[@]}" -v "$PODMAN_DIR/workspace/s.sock:/s" bb id
  rm "$PODMAN_DIR/workspace/s.sock"
  # With it Podman mounts a directory that holds a socket of its own.
  NOTIFY_SOCKET="$PODMAN_DIR/workspace/notify" refused mount.socket '' "${HARDENED[@]}" --sdnotify=container bb id
  refused mount.propagation '' "${HARDENED[@]}" -v "$PODMAN_DIR/workspace:/work:rshared" bb id
}

@test "devices, sysctls, limits" {
  refused device.node /dev/kmsg "${HARDENED[@]}" --device /dev/kmsg bb id
  refused sysctl.name net.core.somaxconn "${HARDENED[@]}" --sysctl net.core.somaxconn=4096 bb id
  refused limit.memory '' "${HARDENED[@]}" -m 900g bb id
  refused limit.pids '' "${HARDENED[@]}" --pids-limit 1000000 bb id
  refused limit.oom '' "${HARDENED[@]}" --oom-score-adj -1000 bb id
  # Without a limit of its own a container has the policy's.
  run --separate-stderr pm run --rm "${HARDENED[@]}" --pids-limit 0 bb true
  echo "$stderr"
  [ "$status" -eq 0 ]
}

@test "nothing is left at the end" {
  podman_leaves_nothing
}
