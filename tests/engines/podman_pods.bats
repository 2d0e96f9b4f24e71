#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Podman's pods and `kube play`: the infra container, shared namespaces, volumes.  AGENTRUN is the binary under test.

bats_require_minimum_version 1.5.0
load podman.sh

setup_file ()
{
  podman_up
}

teardown_file () { podman_down || true; }

setup ()
{
  POD="pod$BATS_TEST_NUMBER"
}

teardown ()
{
  [ -d "$PODMAN_DIR" ] || return 0
  pm pod rm -f -t 1 "$POD" >/dev/null 2>&1 || true
}

# A pod's infra image is built by Podman from catatonit: no registry is asked.
pod_up ()
{
  pm pod create --name "$POD" --network none "$@" >/dev/null
}

member ()
{
  local name=$1
  shift
  pm run -d --pod "$POD" --name "$POD-$name" -u 1000:1000 --read-only "$@" >/dev/null
}

@test "a pod: its containers share network, ipc and host name with the infra container, which is nobody" {
  local infra a b
  pod_up
  member a bb sleep 1000
  member b bb sleep 1000
  infra=$(pm inspect -f '{{.State.Pid}}' "$(pm pod inspect -f '{{.InfraContainerID}}' "$POD")")
  a=$(pm inspect -f '{{.State.Pid}}' "$POD-a")
  b=$(pm inspect -f '{{.State.Pid}}' "$POD-b")
  for ns in net ipc uts; do
    [ "$(readlink "/proc/$a/ns/$ns")" = "$(readlink "/proc/$infra/ns/$ns")" ]
    [ "$(readlink "/proc/$b/ns/$ns")" = "$(readlink "/proc/$infra/ns/$ns")" ]
  done
  [ "$(readlink "/proc/$a/ns/pid")" != "$(readlink "/proc/$b/ns/pid")" ]
  grep -q '^Uid:	65535	65535	65535	65535$' "/proc/$infra/status"
  [ "$(awk '/^Cap(Bnd|Eff)/ { print $2 }' "/proc/$infra/status" | sort -u)" = 0000000000000000 ]
  pm pod stop -t 1 "$POD"
  pm pod start "$POD"
  pm pod rm -f -t 1 "$POD"
  run podman_left
  echo "$output"
  [ -z "$output" ]
}

@test "a pod with a user namespace: its containers join the infra container's by path" {
  local infra a
  pod_up --uidmap 0:700000:65536 --gidmap 0:800000:65536
  member a bb sleep 1000
  infra=$(pm inspect -f '{{.State.Pid}}' "$(pm pod inspect -f '{{.InfraContainerID}}' "$POD")")
  a=$(pm inspect -f '{{.State.Pid}}' "$POD-a")
  [ "$(readlink "/proc/$a/ns/user")" = "$(readlink "/proc/$infra/ns/user")" ]
  [ "$(readlink "/proc/$a/ns/user")" != "$(readlink /proc/self/ns/user)" ]
  grep -q '^Uid:	701000	701000	701000	701000$' "/proc/$a/status"
  grep -q '^Gid:	801000	801000	801000	801000$' "/proc/$a/status"
  [ "$(pm exec "$POD-a" id -u)" = 1000 ]
  pm pod stop -t 1 "$POD"
  pm pod start "$POD"
  [ "$(pm exec "$POD-a" id -u)" = 1000 ]
}

@test "a pod that shares its processes" {
  pod_up --share pid,ipc,net,uts
  member a bb sleep 4321
  run pm run --rm --pod "$POD" -u 1000:1000 --read-only bb ps
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"sleep 4321"* ]]
}

@test "a container of a pod is judged like any other" {
  pod_up
  run --separate-stderr pm run --rm --pod "$POD" --read-only bb id
  echo "$stderr"
  [ "$status" -eq 126 ]
  [[ $stderr == *"user.root: "* ]]
}

@test "kube play: a hardened pod with emptyDir and configMap, and down again" {
  cat >"$BATS_TEST_TMPDIR/pod.yaml" <<YAML
apiVersion: v1
kind: ConfigMap
metadata: {name: $POD-conf}
data: {key: value}
---
apiVersion: v1
kind: Pod
metadata: {name: $POD}
spec:
  restartPolicy: Never
  containers:
  - name: main
    image: localhost/bb:latest
    imagePullPolicy: Never
    command: [/bin/sh, -c, "cat /conf/key; echo; id -u; echo x >/work/f && cat /work/f; sleep 1000"]
    securityContext: {runAsUser: 1000, runAsGroup: 1000, readOnlyRootFilesystem: true, allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
    volumeMounts:
    - {name: conf, mountPath: /conf, readOnly: true}
    - {name: work, mountPath: /work}
  volumes:
  - name: conf
    configMap: {name: $POD-conf}
  - name: work
    emptyDir: {}
YAML
  run pm play kube --network none "$BATS_TEST_TMPDIR/pod.yaml"
  echo "$output"
  [ "$status" -eq 0 ]
  engine_wait 30 eval 'pm logs "$POD-main" | grep -qx x'
  [ "$(pm logs "$POD-main")" = $'value\n1000\nx' ]
  pm play kube --down "$BATS_TEST_TMPDIR/pod.yaml" >/dev/null
  pm volume prune -f >/dev/null
  run podman_left
  echo "$output"
  [ -z "$output" ]
}

@test "kube play: what a pod's specification may not ask for" {
  cat >"$BATS_TEST_TMPDIR/pod.yaml" <<YAML
apiVersion: v1
kind: Pod
metadata: {name: $POD}
spec:
  containers:
  - name: main
    image: localhost/bb:latest
    imagePullPolicy: Never
    command: [/bin/sleep, "1000"]
    securityContext: {runAsUser: 1000, readOnlyRootFilesystem: true}
    volumeMounts: [{name: host, mountPath: /host}]
  volumes:
  - name: host
    hostPath: {path: /etc}
YAML
  run pm play kube --network none "$BATS_TEST_TMPDIR/pod.yaml"
  echo "$output"
  [[ $output == *"mount.never: "* ]]
}

@test "nothing is left at the end" {
  pm pod rm -af -t 1 >/dev/null 2>&1 || true
  podman_leaves_nothing
}
