#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Kubernetes: what a kubelet asks of containerd for pods under the runtime handler `agentrun`, by the CRI.
# AGENTRUN is the binary under test.

bats_require_minimum_version 1.5.0
load containerd.sh
load kubelet.sh

setup_file () { containerd_up; }
teardown_file () { containerd_down || true; }
teardown () { pod_down; }

exec_sync ()
{
  cri_try ExecSync "$(of_container "{cmd: $(printf '%s\0' "$@" | jq -Rsc --argjson n $# '(split("\u0000") + [""])[:$n]'), timeout: 30}")"
}

@test "a pod with one container: state, log, exit code, and nothing left" {
  pod_up life
  container_up main '.command = ["sh", "-c", "id -u; echo $A; touch /x || echo read-only >&2; exit 7"]'
  engine_wait 30 container_is "2 7"
  engine_wait 10 wrote main stdout $'1000\n1'
  engine_wait 10 logged main read-only
  cri RemoveContainer "$(of_container)" >/dev/null
  id=$POD
  pod_down
  [ -z "$(containerd_left "$CID" "$id")" ]
}

@test "limits of the pod's specification reach the cgroup, and update changes them" {
  local dir
  pod_up limits
  container_up main
  dir=$(find /sys/fs/cgroup -type d -path "*memory*/$CID" -o -type d -path "/sys/fs/cgroup/$(basename "$CTD_DIR")/*/$CID" | head -n 1)
  [ "$(cat "$dir"/memory.limit_in_bytes "$dir"/memory.max 2>/dev/null)" = 134217728 ]
  cri UpdateContainerResources "$(of_container '{linux: {memory_limit_in_bytes: 67108864}}')"
  [ "$(cat "$dir"/memory.limit_in_bytes "$dir"/memory.max 2>/dev/null)" = 67108864 ]
  # Beyond what the policy lets a container have.
  cri_try UpdateContainerResources "$(of_container '{linux: {memory_limit_in_bytes: 1099511627776}}')"
  [ "$status" -ne 0 ]
  [[ $stderr == *"update.limit: "* ]]
  [ "$(cat "$dir"/memory.limit_in_bytes "$dir"/memory.max 2>/dev/null)" = 67108864 ]
}

@test "stats" {
  pod_up stats
  container_up main
  run cri ContainerStats "$(of_container)"
  echo "$output"
  [ "$(jq .stats.memory.working_set_bytes.value <<<"$output")" -gt 0 ]
  [ "$(jq .stats.cpu.usage_core_nano_seconds.value <<<"$output")" -gt 0 ]
}

@test "probes: ExecSync with output, exit code and time-out" {
  pod_up probes
  container_up main
  exec_sync sh -c 'echo out; echo err >&2; exit 3'
  [ "$(jq -c '[.stdout, .stderr, .exit_code]' <<<"$output")" = '["out\n","err\n",3]' ]
  exec_sync grep -E 'Uid|CapEff|NoNewPrivs' /proc/self/status
  [[ $(jq -r .stdout <<<"$output" | tr -d '\t') == *Uid:1000100010001000*CapEff:0000000000000000*NoNewPrivs:1* ]]
  cri_try ExecSync "$(of_container '{cmd: ["sleep", "50"], timeout: 1}')"
  [ "$status" -ne 0 ]
  [[ $stderr == *DEADLINE* || $stderr == *timeout* ]]
  exec_sync nothing-like-it
  [ "$status" -ne 0 ]
  [[ $stderr == *'executable file not found'* ]]
}

@test "kubectl exec: streams, a terminal with a size, the exit code" {
  pod_up streams
  container_up main
  run --separate-stderr cri stream Exec "$(of_container '{cmd: ["sh", "-c", "echo out; echo err >&2; exit 5"], stdout: true, stderr: true}')"
  echo "$output $stderr"
  [ "$status" -eq 5 ]
  [ "$output" = out ]
  [[ $stderr == err* ]]
  run bash -c 'printf "line\n" | timeout 70 /usr/bin/python3 "$1" "$2" stream Exec "$3"' - "$BATS_TEST_DIRNAME/cri.py" \
    "$CTD_DIR/sock" "$(of_container '{cmd: ["sh", "-c", "read x; echo got $x"], stdin: true, stdout: true, stderr: true}')"
  echo "$output"
  [ "$output" = "got line" ]
  # Under any runtime containerd shows nothing of a terminal without standard input.
  run bash -c 'sleep 4 | timeout 70 /usr/bin/python3 "$1" "$2" stream Exec "$3"' - "$BATS_TEST_DIRNAME/cri.py" "$CTD_DIR/sock" \
    "$(of_container '{cmd: ["sh", "-c", "sleep 2; stty size; test -t 0"], tty: true, stdin: true, stdout: true, rows: [33, 77]}')"
  echo "$output"
  [ "$status" -eq 0 ]
  [ "$(tr -d '\r' <<<"$output")" = "33 77" ]
}

@test "kubectl attach" {
  pod_up attach
  container_up main '.stdin = true | .stdin_once = true | .command = ["sh", "-c", "read x; echo got $x; exit 6"]'
  run bash -c '{ sleep 1; echo line; } | timeout 70 /usr/bin/python3 "$1" "$2" stream Attach "$3"' - "$BATS_TEST_DIRNAME/cri.py" \
    "$CTD_DIR/sock" "$(of_container '{stdin: true, stdout: true, stderr: true}')"
  echo "$output"
  [[ $output == *"got line"* ]]
  engine_wait 30 container_is "2 6"
}

@test "stop: SIGTERM with its time, then SIGKILL" {
  pod_up stop
  container_up polite
  engine_wait 30 logged polite ready
  cri StopContainer "$(of_container '{timeout: 30}')"
  container_is "2 9"
  container_up deaf '.command = ["sh", "-c", "trap : TERM; echo ready; while :; do sleep 0.1; done"]'
  engine_wait 30 logged deaf ready
  cri StopContainer "$(of_container '{timeout: 1}')"
  container_is "2 137"
}

@test "the volumes of a pod: emptyDir, configMap, subPath, /etc/hosts, the termination log" {
  export PODS="$CTD_DIR/kubelet/pods/6f2b0a5e-0d1c-4f56-9d36-0123456789ab"
  export VOLUMES="$PODS/volumes"
  mkdir -p "$VOLUMES/kubernetes.io~empty-dir/work/part" "$VOLUMES/kubernetes.io~configmap/conf" \
    "$PODS/volume-subpaths/work/main/0" "$PODS/containers/main"
  chmod 777 "$VOLUMES/kubernetes.io~empty-dir/work" "$VOLUMES/kubernetes.io~empty-dir/work/part"
  echo value >"$VOLUMES/kubernetes.io~configmap/conf/key"
  echo '127.0.0.1 localhost' >"$PODS/etc-hosts"
  # As the kubelet does it: the subPath is bound to a place of the pod's own.
  mount --bind "$VOLUMES/kubernetes.io~empty-dir/work/part" "$PODS/volume-subpaths/work/main/0"
  install -m 666 /dev/null "$PODS/containers/main/1234abcd"
  pod_up volumes
  container_up main '.mounts = [
    {container_path: "/work", host_path: (env.VOLUMES + "/kubernetes.io~empty-dir/work")},
    {container_path: "/conf", host_path: (env.VOLUMES + "/kubernetes.io~configmap/conf"), readonly: true},
    {container_path: "/part", host_path: (env.PODS + "/volume-subpaths/work/main/0")},
    {container_path: "/etc/hosts", host_path: (env.PODS + "/etc-hosts")},
    {container_path: "/dev/termination-log", host_path: (env.PODS + "/containers/main/1234abcd")}]
    | .command = ["sh", "-c", "echo made >/work/file; echo part >/part/file; cat /conf/key /etc/hosts; echo the end >/dev/termination-log"]
'
  engine_wait 30 container_is "2 0"
  engine_wait 10 wrote main stdout $'value\n127.0.0.1 localhost'
  [ "$(cat "$VOLUMES/kubernetes.io~empty-dir/work/file")" = made ]
  [ "$(cat "$VOLUMES/kubernetes.io~empty-dir/work/part/file")" = part ]
  umount "$PODS/volume-subpaths/work/main/0"
  [ "$(cat "$PODS/containers/main/1234abcd")" = "the end" ]
}

@test "shareProcessNamespace: the containers of a pod see each other, with a warning" {
  pod_up share '.linux.security_context.namespace_options.pid = 0'
  container_up one '.linux.security_context.namespace_options.pid = 0 | .command = ["sh", "-c", "exec sleep 4321"]'
  container_up two '.linux.security_context.namespace_options.pid = 0'
  exec_sync ps
  [[ $output == *"sleep 4321"* ]]
  [[ $output == *pause* ]]
}

@test "ten pods at once" {
  local i pids=()
  for i in $(seq 10); do
    ( pod_up "many$i" && container_up main ".command = [\"sh\", \"-c\", \"exit $i\"]" && engine_wait 60 container_is "2 $i" && pod_down ) \
      >"$BATS_TEST_TMPDIR/$i" 2>&1 3>&- &
    pids+=($!)
  done
  for i in $(seq 10); do
    wait "${pids[i - 1]}" || { cat "$BATS_TEST_TMPDIR/$i"; false; }
  done
  [ "$(cri ListPodSandbox | jq '.items | length')" -eq 0 ]
  [ -z "$(engine_processes containerd-shim | grep -F "$CTD_DIR")" ]
}

all_wrote ()
{
  [ "$(cat "$CTD_DIR/logs/$POD_NAME"/m*.log 2>/dev/null | wc -l)" -eq "$1" ]
}

# More at once would be a test of the shim, of which a pod has one: it waits a second for each end that nobody takes.
@test "ten containers of one pod at once" {
  local i pids=()
  pod_up crowd
  for i in $(seq 10); do
    container_up "m$i" ".command = [\"sh\", \"-c\", \"echo $i\"]" >"$BATS_TEST_TMPDIR/$i" 2>&1 3>&- &
    pids+=($!)
  done
  for i in $(seq 10); do
    wait "${pids[i - 1]}" || { cat "$BATS_TEST_TMPDIR/$i"; false; }
  done
  engine_wait 60 all_wrote 10
  for i in $(seq 10); do
    [ "$(log_of "m$i")" = "$i" ]
  done
  i=$POD
  pod_down
  [ "$(cri ListContainers | jq '.containers | length')" -eq 0 ]
  [ -z "$(containerd_left "$i")" ]
}

@test "containerd ends and comes back under a running pod" {
  pod_up restart
  container_up main
  engine_wait 30 logged main ready
  containerd_restart KILL
  container_is "1 0"
  exec_sync echo alive
  [ "$(jq -r .stdout <<<"$output")" = alive ]
  cri StopContainer "$(of_container '{timeout: 30}')"
  container_is "2 9"
}

@test "nothing is left when containerd is gone" {
  containerd_leaves_nothing
}
