# SPDX-License-Identifier: Apache-2.0
# A containerd of our own for a test file, with agentrun as its runtime and an image made from
# busybox-static.  Needs root and Debian's containerd.  The host's own containerd, if there is one, is
# neither used nor disturbed.
#
#   containerd_up [POLICY-FILTER]  starts it; sets and exports CTD_DIR.  The filter (jq) changes the policy
#   containerd_restart             ends the daemon, not its containers, and starts it again
#   containerd_left                prints what containers that are gone have left behind
#   containerd_down                ends all, removes all
#   containerd_left_at_end         after containerd_down: prints what is left of the whole set-up
#   ctr ...                        containerd's own client finds it by CONTAINERD_ADDRESS
#   cri METHOD JSON                one call as the kubelet makes it (cri.py)

# shellcheck source=tests/engines/lib.sh
. "${BASH_SOURCE[0]%/*}/lib.sh"

# Not below /tmp: a policy file and an engine's data must have no directory above them that others
# may write.
CTD_IMAGE=docker.io/library/bb:latest
CTD_ROOT_IMAGE=docker.io/library/bbroot:latest # the same, without a user of its own
CTD_PAUSE=docker.io/library/pause:latest

cri ()
{
  # Debian's own: the packages are for no other.
  timeout 70 /usr/bin/python3 "$BATS_TEST_DIRNAME/cri.py" "$CTD_DIR/sock" "$@"
}

# containerd's shim passes no flags: the policy of a test comes with a program of its own.
ctd_write_runtime ()
{
  jq -n --arg d "$CTD_DIR" '{
    version: 1, extends: "builtin:default", never: [],
    engines: {state: [$d + "/root", $d + "/state", $d + "/kubelet"]},
    grants: [{kind: "mount", source: ($d + "/workspace"), mode: "rw", reason: "the test workspace"}]
  } | '"${1:-.}" >"$CTD_DIR/policy.json"
  printf '#!/bin/sh\nexec %s --policy %s "$@"\n' "$AGENTRUN" "$CTD_DIR/policy.json" >"$CTD_DIR/bin/agentrun"
  chmod 755 "$CTD_DIR/bin/agentrun"
}

# What contrib/containerd has, with the paths of this set-up.
ctd_write_config ()
{
  cat >"$CTD_DIR/config.toml" <<TOML
version = 2
root = "$CTD_DIR/root"
state = "$CTD_DIR/state"
[grpc]
  address = "$CTD_DIR/sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "$CTD_PAUSE"
  disable_apparmor = true
  restrict_oom_score_adj = true
  disable_hugetlb_controller = true
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"
[plugins."io.containerd.grpc.v1.cri".cni]
  bin_dir = "$CTD_DIR/bin"
  conf_dir = "$CTD_DIR/cni"
TOML
  sed "s|/usr/local/bin/agentrun|$CTD_DIR/bin/agentrun|" \
    "$BATS_TEST_DIRNAME/../../contrib/containerd/agentrun.toml" >>"$CTD_DIR/config.toml"
}

# A network without any interface but loopback: the plugin tells an address, and nobody sends to it.
ctd_write_network ()
{
  cat >"$CTD_DIR/bin/loopback" <<'SH'
#!/bin/sh
case $CNI_COMMAND in
  VERSION) echo '{"cniVersion": "0.4.0", "supportedVersions": ["0.3.1", "0.4.0"]}' ;;
  ADD)
    nsenter --net="$CNI_NETNS" ip link set lo up
    printf '{"cniVersion": "0.3.1", "interfaces": [{"name": "%s", "sandbox": "%s"}],
      "ips": [{"version": "4", "address": "192.0.2.2/24", "interface": 0}]}\n' "$CNI_IFNAME" "$CNI_NETNS"
    ;;
esac
SH
  chmod 755 "$CTD_DIR/bin/loopback"
  cat >"$CTD_DIR/cni/10-test.conflist" <<'JSON'
{"cniVersion": "0.3.1", "name": "test", "plugins": [{"type": "loopback"}]}
JSON
}

# ctd_image NAME DIRECTORY ENTRYPOINT-JSON USER: one layer, in the form that `docker save` has.
ctd_image ()
{
  local digest
  tar -C "$2" --numeric-owner -cf "$CTD_DIR/layer.tar" .
  digest=$(sha256sum "$CTD_DIR/layer.tar" | cut -d' ' -f1)
  jq -n --arg d "sha256:$digest" --argjson e "$3" --arg u "$4" '{
    architecture: "amd64", os: "linux", config: {Entrypoint: $e, User: $u, Env: ["PATH=/bin"], WorkingDir: "/"},
    rootfs: {type: "layers", diff_ids: [$d]}}' >"$CTD_DIR/image.json"
  jq -n --arg n "$1" '[{Config: "image.json", RepoTags: [$n], Layers: ["layer.tar"]}]' >"$CTD_DIR/manifest.json"
  tar -C "$CTD_DIR" -cf "$CTD_DIR/image.tar" manifest.json image.json layer.tar
  ctr -n default images import "$CTD_DIR/image.tar" && ctr -n k8s.io images import "$CTD_DIR/image.tar"
  rm "$CTD_DIR"/image.tar "$CTD_DIR"/layer.tar "$CTD_DIR"/image.json "$CTD_DIR"/manifest.json
}

ctd_images_up ()
{
  local root="$CTD_DIR/image"
  engine_image_root "$root"
  # Kubernetes' own ends on SIGTERM, as pid 1 of its namespace and for what is there else.
  # shellcheck disable=SC2016
  printf '#!/bin/sh\ntrap "kill \\$!; exit 0" TERM INT\nwhile :; do sleep 1000 & wait $!; done\n' >"$root/pause"
  chmod 755 "$root/pause"
  ctd_image "$CTD_IMAGE" "$root" null 1000:1000 && ctd_image "$CTD_ROOT_IMAGE" "$root" null "" \
    && ctd_image "$CTD_PAUSE" "$root" '["/pause"]' ""
  rm -rf "$root"
}

ctd_answers ()
{
  ! engine_alive "$(cat "$CTD_DIR/pid")" || { ctr version && cri Version; }
}

ctd_daemon_up ()
{
  # Descriptor 3 is bats' own: a daemon that keeps it keeps bats waiting.
  containerd --config "$CTD_DIR/config.toml" >>"$CTD_DIR/log" 2>&1 </dev/null 3>&- &
  echo $! >"$CTD_DIR/pid"
  engine_wait 60 ctd_answers && ctr version >/dev/null || { tail -n 30 "$CTD_DIR/log"; return 1; }
}

# SIGTERM or, given KILL, SIGKILL.
ctd_daemon_down ()
{
  local pid
  pid=$(cat "$CTD_DIR/pid" 2>/dev/null) || return 0
  engine_alive "$pid" || return 0
  kill -"${1:-TERM}" "$pid"
  engine_wait 20 eval "! engine_alive $pid" || kill -KILL "$pid" 2>/dev/null || true
}

containerd_restart ()
{
  ctd_daemon_down "${1:-TERM}"
  ctd_daemon_up
}

containerd_up ()
{
  local program
  : "${AGENTRUN:?the path of the agentrun to test}"
  for program in containerd containerd-shim-runc-v2 ctr busybox jq tar nsenter ip python3; do
    command -v "$program" >/dev/null || { echo "$program is missing"; return 1; }
  done
  [ "$(id -u)" = 0 ] || { echo "only root can start containerd"; return 1; }
  CTD_DIR=$(mktemp -d /var/lib/agentrun-ctd.XXXXXX) || return 1
  export CTD_DIR CONTAINERD_ADDRESS="$CTD_DIR/sock"
  chmod 711 "$CTD_DIR"
  mkdir -p "$CTD_DIR"/{bin,cni,workspace,kubelet,logs}
  chown 1000:1000 "$CTD_DIR/workspace"
  # What is shared with the host by fixed names: removed at the end only if it was not there before.
  ls -d /run/containerd /run/containerd/s /run/containerd/fifo /run/containerd/runc /run/netns /var/run/netns \
    /sys/fs/cgroup/*/default /sys/fs/cgroup/default /sys/fs/cgroup/*/k8s.io /etc/cni/net.d \
    /run/containerd/io.containerd.runtime.v2.task >"$CTD_DIR/before" 2>/dev/null || true
  ctd_write_runtime "${1:-.}"
  ctd_write_config
  ctd_write_network
  ctd_daemon_up && ctd_images_up >"$CTD_DIR/images.log" 2>&1 && return 0
  cat "$CTD_DIR/images.log"
  containerd_down
  return 1
}

# containerd_left ID...: of each.
containerd_left ()
{
  engine_left ctd_left_of_all "$@"
}

ctd_left_of_all ()
{
  local id
  for id; do
    ctd_left_of "$id"
  done
}

ctd_left_of ()
{
  find /sys/fs/cgroup -type d -path "*/$1*" 2>/dev/null | sed 's/^/cgroup: /'
  grep -F "/$1/" /proc/self/mountinfo | sed 's/^/mount: /'
  engine_processes "$1"
  find "$CTD_DIR/state" /run/containerd/runc -path "*/$1*" 2>/dev/null | head -n 5 | sed 's/^/state: /'
}

containerd_down ()
{
  local id pid dir
  [ -n "${CTD_DIR:-}" ] && [ -d "$CTD_DIR" ] || return 0
  if engine_alive "$(cat "$CTD_DIR/pid" 2>/dev/null)"; then
    cri ListPodSandbox 2>/dev/null | jq -r '.items[].id' | while read -r id; do
      cri StopPodSandbox "{\"pod_sandbox_id\": \"$id\"}" >/dev/null 2>&1
      cri RemovePodSandbox "{\"pod_sandbox_id\": \"$id\"}" >/dev/null 2>&1
    done
    ctr tasks ls -q 2>/dev/null | while read -r id; do
      ctr tasks rm --force "$id" >/dev/null 2>&1
    done
  fi
  ctd_daemon_down
  # Shims outlive their daemon; ours are those with our socket's path in the command line.  One that
  # ends by itself between the look and the signal is no failure.
  engine_processes "$CTD_DIR/sock" | while read -r _ pid _; do
    kill -KILL "$pid" 2>/dev/null || true
  done
  engine_unmount "$CTD_DIR"
  ctd_shared_down
  rm -rf --one-file-system "$CTD_DIR"
}

# The directories that daemons make under fixed names, if they are empty and were not there before.
ctd_shared_down ()
{
  local path
  # The cgroups of pods, which a kubelet would remove.
  find /sys/fs/cgroup -depth -type d -path "*/$(basename "$CTD_DIR")*" -exec rmdir {} + 2>/dev/null || true
  for path in /sys/fs/cgroup/*/default /sys/fs/cgroup/default /sys/fs/cgroup/*/k8s.io /run/containerd/fifo \
    /run/containerd/runc/default /run/containerd/runc/k8s.io /run/containerd/runc /run/containerd/s \
    /run/containerd/io.containerd.runtime.v2.task /run/containerd; do
    grep -qxF "$path" "$CTD_DIR/before" || [ ! -d "$path" ] || rmdir "$path" 2>/dev/null || true
  done
}

containerd_left_at_end ()
{
  engine_processes "$CTD_DIR"
  grep -F "$CTD_DIR" /proc/self/mountinfo | sed 's/^/mount: /'
  [ ! -e "$CTD_DIR" ] || echo "file: $CTD_DIR"
}

# The last test of each file.
containerd_leaves_nothing ()
{
  containerd_down || true
  run containerd_left_at_end
  echo "$output"
  [ -z "$output" ]
}
