#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# A user namespace by path: the containers of a Kubernetes pod with `hostUsers: false` join that of its sandbox.

load lib.bash

setup_file () { common_setup_file; }
teardown_file () { common_teardown_file; }
teardown () { common_teardown; }

# The sandbox runs as $SANDBOX, with maps; BUNDLE is a container of its pod.
setup ()
{
  common_setup
  POLICY=(--policy builtin:default)
  new_bundle sandbox
  own_user_namespace
  in_pod
  script 'sleep 60'
  create
  start
  SANDBOX=$(pid_of sandbox)
  new_bundle member
  own_user_namespace
  in_pod
  edit '.linux.namespaces |= map(if (.type | IN("user", "ipc", "uts", "network"))
      then .path = "/proc/\($p)/ns/\({network: "net"}[.type] // .type)" else . end)
    | del(.hostname)' --argjson p "$SANDBOX"
}

in_pod ()
{
  edit '.annotations = {"io.kubernetes.cri.sandbox-id": "sandbox"}'
}

end_sandbox ()
{
  ar delete --force sandbox
  nothing_left
}

# of_sandbox NAMESPACE: as `readlink /proc/self/ns/NAMESPACE` prints it inside.
of_sandbox ()
{
  readlink "/proc/$SANDBOX/ns/$1"
}

@test "a container of the pod is in the sandbox's user namespace, with new namespaces that belong to it" {
  in_container 'id -u; tr -s " " </proc/self/uid_map; for n in user ipc uts net pid mnt; do readlink /proc/self/ns/$n; done; hostname; touch /tmp/x; stat -c %u /tmp/x; touch /x 2>&1'
  [ "$status" -eq 0 ] || [ "$status" -eq 1 ]
  [ "${lines[0]}" = 1000 ]
  [ "${lines[1]}" = " 0 500000 65536" ]
  [ "${lines[2]}" = "$(of_sandbox user)" ]
  [ "${lines[3]}" = "$(of_sandbox ipc)" ]
  [ "${lines[4]}" = "$(of_sandbox uts)" ]
  [ "${lines[5]}" = "$(of_sandbox net)" ]
  [ "${lines[6]}" != "$(of_sandbox pid)" ]
  [ "${lines[7]}" != "$(of_sandbox mnt)" ]
  [ "${lines[9]}" = 1000 ]
  [[ ${lines[10]} == *"Read-only file system"* ]]
  end_sandbox
}

@test "exec into it, its state and its end" {
  script 'sleep 60'
  create
  start
  grep -q '^Uid:	501000	' "/proc/$(pid_of member)/status"
  [ "$(stat -Lc %i "/proc/$(pid_of member)/ns/user")" = "$(stat -Lc %i "/proc/$SANDBOX/ns/user")" ]
  run --separate-stderr ar exec member sh -c 'id -u; readlink /proc/self/ns/user'
  [ "$output" = $'1000\n'"$(of_sandbox user)" ]
  ar kill member KILL
  wait_for 10 stopped member
  ar delete member
  end_sandbox
}

@test "a pid namespace that the pod shares is joined as well" {
  edit '.linux.namespaces |= map(if .type == "pid" then .path = "/proc/\($p)/ns/pid" else . end)' --argjson p "$SANDBOX"
  in_container 'readlink /proc/self/ns/pid; tr "\0" " " </proc/1/cmdline'
  [ "$status" -eq 0 ]
  [ "${lines[0]}" = "$(of_sandbox pid)" ]
  [[ ${lines[1]} == *"sleep 60"* ]]
  end_sandbox
}

@test "no process of the create stays behind in the namespace" {
  local pid namespace
  in_container true
  [ "$status" -eq 0 ]
  namespace=$(of_sandbox user)
  for pid in /proc/[0-9]*; do
    [ "$(readlink "$pid/ns/user")" != "$namespace" ] || [ "$pid" = "/proc/$SANDBOX" ]
  done
  end_sandbox
}

refused ()
{
  run --separate-stderr ar create -b "$BUNDLE" member
  echo "$stderr"
  [ "$status" -eq 1 ]
  [[ $stderr == *"$1"* ]]
  [ ! -e "$ROOT/member" ]
}

@test "other maps than the namespace has are refused, and none" {
  edit '.linux.uidMappings[0].hostID = 0'
  refused "namespace.entry: the user namespace /proc/$SANDBOX/ns/user has other maps than linux.uidMappings and linux.gidMappings say"
  edit 'del(.linux.uidMappings, .linux.gidMappings)'
  refused "namespace.entry: "
  edit '.linux.uidMappings = [{containerID: 0, hostID: 500000, size: 65536}]'
  refused "linux.gidMappings is missing"
  end_sandbox
}

@test "the user namespace of another pod is refused, and the host's" {
  edit '.annotations["io.kubernetes.cri.sandbox-id"] = "other"'
  refused "namespace.foreign: "
  in_pod
  edit '(.linux.namespaces[] | select(.type == "user") | .path) = "/proc/self/ns/user"'
  refused "namespace.entry: "
  end_sandbox
}

@test "without a policy the namespace's own maps hold" {
  POLICY=(--policy builtin:permissive)
  edit 'del(.linux.uidMappings, .linux.gidMappings)'
  in_container 'id -u; tr -s " " </proc/self/uid_map'
  [ "$status" -eq 0 ]
  [ "$output" = $'1000\n 0 500000 65536' ]
  as_root
  in_container 'id -u; cut -c -30 /proc/self/setgroups'
  [ "$output" = $'0\nallow' ]
  end_sandbox
}

@test "a namespace that is gone, and a file that is none" {
  edit '(.linux.namespaces[] | select(.type == "user") | .path) = $p' --arg p "$T/gone"
  refused "namespace.entry: $T/gone can't be opened (ENOENT)"
  touch "$T/file"
  edit '(.linux.namespaces[] | select(.type == "user") | .path) = $p' --arg p "$T/file"
  refused "namespace.entry: $T/file is not a namespace file"
  edit '(.linux.namespaces[] | select(.type == "user") | .path) = "/proc/\($p)/ns/net"' --argjson p "$SANDBOX"
  refused "is a namespace of another type"
  end_sandbox
}
