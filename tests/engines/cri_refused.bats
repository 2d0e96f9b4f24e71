#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Kubernetes: every denial that a pod's specification can bring about, as the kubelet gets it (it becomes the
# event "Error: failed to create containerd task ... denied by policy ...").  AGENTRUN is the binary under test.

bats_require_minimum_version 1.5.0
load containerd.sh
load kubelet.sh

setup_file () { containerd_up; }
teardown_file () { containerd_down || true; }
teardown () { pod_down; }

# denied RULE TEXT: what the last call said, with the fix in Kubernetes' words somewhere in it.
denied ()
{
  echo "expecting $1: $2"
  [ "$status" -ne 0 ]
  [[ $stderr == *"denied by policy"*"$1: "*"$2"*"a policy decision, not a fault"* ]]
}

# container_denied FILTER RULE TEXT: a container of the pod is made, refused at its start, and removed.
container_denied ()
{
  container_make "refused-$((++MADE))" "$1"
  container_start
  denied "$2" "${3:-}"
  cri RemoveContainer "$(of_container)" >/dev/null
  [ -z "$(containerd_left "$CID")" ]
}

@test "users: root, by default and asked for, group 0, a group of the host" {
  pod_up users
  container_denied 'del(.linux.security_context.run_as_user, .linux.security_context.run_as_group) | .image.image = "docker.io/library/bbroot:latest"' \
    user.root 'runAsUser: 1000'
  container_denied '.linux.security_context.run_as_user.value = 0' user.root runAsNonRoot
  container_denied '.linux.security_context.run_as_username = "root" | del(.linux.security_context.run_as_user, .linux.security_context.run_as_group)' user.root ''
  container_denied '.linux.security_context.supplemental_groups = [0]' user.group-zero ''
}

@test "a writable root file system, capabilities, privileged" {
  pod_up rights
  container_denied '.linux.security_context.readonly_rootfs = false' rootfs.readonly 'readOnlyRootFilesystem: true'
  container_denied '.linux.security_context.capabilities.add_capabilities = ["SYS_ADMIN"]' capability.extra CAP_SYS_ADMIN
  container_denied '.linux.security_context.capabilities.add_capabilities = ["NET_ADMIN"] | .linux.security_context.capabilities.drop_capabilities = []' \
    capability.extra CAP_NET_ADMIN
}

@test "a privileged container needs a privileged pod, and that is refused as a whole" {
  pod_try privileged '.linux.security_context.privileged = true'
  [ "$status" -ne 0 ] || container_denied '.linux.security_context.privileged = true | del(.linux.security_context.seccomp)' capability.extra ''
  [[ $stderr == *"denied by policy"* ]]
}

@test "seccomp unconfined, procMount unmasked" {
  pod_up seccomp
  # What the specification leaves open is closed, not refused.
  container_up open '.linux.security_context.seccomp.profile_type = 1 | .linux.security_context.masked_paths = [] | .linux.security_context.readonly_paths = []
    | .linux.security_context.no_new_privs = false'
  run cri ExecSync "$(of_container '{cmd: ["sh", "-c", "grep -E ^\\(Seccomp:\\|NoNewPrivs\\) /proc/self/status; head -c1 /proc/kcore | wc -c; echo 1 >/proc/sysrq-trigger"], timeout: 20}')"
  echo "$output"
  [ "$(jq -r .stdout <<<"$output" | tr -d '\t')" = $'NoNewPrivs:1\nSeccomp:2\n0' ]
  [ "$(jq -r .exit_code <<<"$output")" -ne 0 ]
}

@test "hostPath: sockets of engines, directories above them, the host's own directories, credentials" {
  pod_up hostpath
  container_denied '.mounts = [{container_path: "/s", host_path: (env.CTD_DIR + "/sock")}]' mount.socket ''
  container_denied '.mounts = [{container_path: "/s", host_path: env.CTD_DIR, readonly: true}]' mount.socket ''
  container_denied '.mounts = [{container_path: "/host", host_path: "/"}]' mount.never ''
  container_denied '.mounts = [{container_path: "/host", host_path: "/etc", readonly: true}]' mount.never ''
  container_denied '.mounts = [{container_path: "/host", host_path: "/var/run"}]' mount.never ''
  container_denied '.mounts = [{container_path: "/host", host_path: "/root"}]' mount.never ''
  container_denied '.mounts = [{container_path: "/host", host_path: "/proc"}]' mount.never ''
  container_denied '.mounts = [{container_path: "/data", host_path: (env.CTD_DIR + "/logs")}]' mount.source '"kind": "mount"'
}

@test "a granted hostPath is mounted, and shared propagation is not had with it" {
  pod_up granted
  container_up ok '.mounts = [{container_path: "/work", host_path: (env.CTD_DIR + "/workspace")}] | .command = ["sh", "-c", "echo x >/work/f"]'
  engine_wait 30 container_is "2 0"
  [ "$(cat "$CTD_DIR/workspace/f")" = x ]
  # Bidirectional; containerd itself refuses it where the host's mount is not shared.
  container_make shared '.mounts = [{container_path: "/work", host_path: (env.CTD_DIR + "/workspace"), propagation: 2}]' || return 0
  container_start
  [ "$status" -ne 0 ]
  [[ $stderr == *mount.propagation:* || $stderr == *"not a shared mount"* ]]
}

@test "a service account token" {
  local volume="$CTD_DIR/kubelet/pods/6f2b0a5e-0d1c-4f56-9d36-0123456789ab/volumes/kubernetes.io~projected/kube-api-access-abcde"
  mkdir -p "$volume/..data"
  echo secret >"$volume/..data/token"
  ln -sfn ..data/token "$volume/token"
  export TOKEN=$volume
  pod_up token
  container_denied '.mounts = [{container_path: "/var/run/secrets/kubernetes.io/serviceaccount", host_path: env.TOKEN, readonly: true}]' \
    mount.token 'automountServiceAccountToken: false'
}

@test "the host's network, processes and IPC" {
  pod_try hostnet '.linux.security_context.namespace_options.network = 2'
  denied namespace.host 'hostNetwork: false'
  pod_try hostpid '.linux.security_context.namespace_options.pid = 2'
  denied namespace.host 'hostPID: false'
  pod_try hostipc '.linux.security_context.namespace_options.ipc = 2'
  denied namespace.host 'hostIPC: false'
}

@test "a container can't join another pod's processes" {
  pod_up first '.linux.security_context.namespace_options.pid = 0'
  local other=$POD
  container_up victim '.linux.security_context.namespace_options.pid = 0'
  local target=$CID
  pod_up second
  container_try spy ".linux.security_context.namespace_options = {network: 0, pid: 3, ipc: 0, target_id: \"$target\"}"
  if [ "$status" -eq 0 ]; then
    container_start
    denied namespace.foreign ''
  fi
  [ "$status" -ne 0 ]
  pod_down
  POD=$other
}

@test "devices, sysctls, annotations of runtimes" {
  pod_up devices
  container_denied '.devices = [{container_path: "/dev/kmsg", host_path: "/dev/kmsg", permissions: "rwm"}]' device.node /dev/kmsg
  pod_down
  pod_try sysctls '.linux.sysctls = {"net.core.somaxconn": "4096"}'
  denied sysctl.name net.core.somaxconn
}

@test "limits over the policy's maximum" {
  pod_up limits
  container_denied '.linux.resources.memory_limit_in_bytes = 1099511627776' limit.memory ''
  container_denied '.linux.resources.cpu_quota = 10000000' limit.cpu ''
}

@test "what a loader reads from the environment is warned of, not refused" {
  pod_up env
  container_up ok '.envs += [{key: "LD_PRELOAD", value: "/x.so"}] | .command = ["sh", "-c", "exec sleep 1000"]'
}

@test "nothing is left when containerd is gone" {
  containerd_leaves_nothing
}
