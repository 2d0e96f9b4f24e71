# SPDX-License-Identifier: Apache-2.0
# What the kubelet sends for a pod, as the CRI has it.  To be loaded after containerd.sh.
#
#   pod_up NAME [FILTER]          a sandbox under the handler `agentrun`; sets POD and POD_CONFIG
#   container_make NAME [FILTER]  a container of it, created; sets CID
#   container_up NAME [FILTER]    the same, and started
#   pod_down                      stops and removes the pod with its containers
#
# A FILTER (jq) changes the configuration, which is that of a pod under the restricted Pod Security
# Standard with readOnlyRootFilesystem.

# cri_try METHOD JSON: like cri, with the answer in `status`, `output` and `stderr`.
cri_try ()
{
  run --separate-stderr cri "$@"
  echo "$1: $status $output $stderr"
}

pod_config ()
{
  jq -nc --arg n "$1" --arg d "$CTD_DIR" --arg c "$(basename "$CTD_DIR")" '{
    metadata: {name: $n, uid: ("uid-" + $n), namespace: "default", attempt: 0}, hostname: $n,
    log_directory: ($d + "/logs/" + $n), labels: {app: $n},
    linux: {cgroup_parent: ("/" + $c + "/" + $n), security_context: {
      namespace_options: {network: 0, pid: 1, ipc: 0}, run_as_user: {value: 65535}, run_as_group: {value: 65535},
      seccomp: {profile_type: 0}}}
  } | '"${2:-.}"
}

pod_try ()
{
  POD_NAME="$1-$$-$BATS_TEST_NUMBER"
  POD_CONFIG=$(pod_config "$POD_NAME" "${2:-.}")
  cri_try RunPodSandbox "$(jq -nc --argjson c "$POD_CONFIG" '{config: $c, runtime_handler: "agentrun"}')"
  [ "$status" -ne 0 ] || POD=$(jq -r .pod_sandbox_id <<<"$output")
}

pod_up ()
{
  pod_try "$@"
  [ "$status" -eq 0 ]
}

container_config ()
{
  jq -nc --arg n "$1" --arg i "$CTD_IMAGE" '{
    metadata: {name: $n, attempt: 0}, image: {image: $i}, log_path: ($n + ".log"), labels: {name: $n},
    command: ["sh", "-c", "trap \"exit 9\" TERM; echo ready; while :; do sleep 0.1; done"], envs: [{key: "A", value: "1"}],
    linux: {resources: {memory_limit_in_bytes: 134217728, cpu_period: 100000, cpu_quota: 50000, oom_score_adj: 900},
      security_context: {
        namespace_options: {network: 0, pid: 1, ipc: 0}, run_as_user: {value: 1000}, run_as_group: {value: 1000},
        readonly_rootfs: true, no_new_privs: true, capabilities: {drop_capabilities: ["ALL"]}, seccomp: {profile_type: 0}}}
  } | '"${2:-.}"
}

container_try ()
{
  cri_try CreateContainer "$(jq -nc --arg p "$POD" --argjson c "$(container_config "$1" "${2:-.}")" --argjson s "$POD_CONFIG" \
    '{pod_sandbox_id: $p, config: $c, sandbox_config: $s}')"
  [ "$status" -eq 0 ] || return 0
  CID=$(jq -r .container_id <<<"$output")
}

container_make ()
{
  container_try "$@"
  [ "$status" -eq 0 ]
}

of_container ()
{
  jq -nc --arg c "$CID" '{container_id: $c} + '"${1:-{\}}"
}

# Here the runtime is asked: a denial comes at the start.
container_start ()
{
  cri_try StartContainer "$(of_container)"
}

container_up ()
{
  container_make "$@"
  container_start
  [ "$status" -eq 0 ]
}

container_state ()
{
  cri ContainerStatus "$(of_container)" | jq -r '.status | "\(.state) \(.exit_code)"'
}

container_is ()
{
  [ "$(container_state)" = "$1" ]
}

# What a container wrote, without the time, stream and flag before each line: `log_of NAME [stdout|stderr]`. containerd copies
# each stream by itself, so that the lines of one keep no order to those of the other.
log_of ()
{
  awk -v stream="${2:-}" 'stream == "" || $2 == stream' "$CTD_DIR/logs/$POD_NAME/$1.log" | cut -d' ' -f4-
}

# Whether all that a container wrote to a stream is LINES.
wrote ()
{
  [ "$(log_of "$1" "$2")" = "$3" ]
}

logged ()
{
  log_of "$1" | grep -qx "$2"
}

pod_down ()
{
  [ -n "${POD:-}" ] && [ -d "$CTD_DIR" ] || return 0
  cri StopPodSandbox "{\"pod_sandbox_id\": \"$POD\"}" >/dev/null 2>&1 || true
  cri RemovePodSandbox "{\"pod_sandbox_id\": \"$POD\"}" >/dev/null 2>&1 || true
  POD=''
}
