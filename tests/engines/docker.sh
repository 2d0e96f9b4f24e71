# SPDX-License-Identifier: Apache-2.0
# A Docker of our own for a test file: containerd and dockerd with data, sockets, bridge and
# configuration in one directory, agentrun as a runtime of it, and an image made from
# busybox-static.  Needs root and Debian's docker.io and containerd.  The host's own Docker, if
# there is one, is neither used nor disturbed.
#
#   docker_up            starts all; sets and exports DOCKER_DIR, DOCKER_HOST and DOCKER_CONFIG
#   docker_left          prints what containers that are gone have left behind; nothing if all is well
#   docker_down          ends all, removes all
#   docker_remap_up      before docker_up: the daemon will give all containers a user namespace
#   docker_left_at_end   after docker_down: prints what is left of the whole set-up
#
# AGENTRUN is the binary under test, DOCKER_CLI the client (default: docker).

# shellcheck source=tests/engines/lib.sh
. "${BASH_SOURCE[0]%/*}/lib.sh"

# Not below /tmp: a policy file and an engine's data must have no directory above them that others
# may write.
DOCKER_PARENT=${DOCKER_PARENT:-/var/lib}
DOCKER_IMAGE=bb

docker ()
{
  command "${DOCKER_CLI:-docker}" "$@"
}

docker_need ()
{
  local program
  for program in dockerd containerd containerd-shim-runc-v2 runc busybox jq ip tar; do
    command -v "$program" >/dev/null || { echo "$program is missing"; return 1; }
  done
  [ "$(id -u)" = 0 ] || { echo "only root can start dockerd"; return 1; }
}

# The policy is builtin:default plus what an administrator has to say once: where this engine keeps
# its data, and one directory that containers may use.
docker_write_policy ()
{
  jq -n --arg d "$DOCKER_DIR" '{
    version: 1, extends: "builtin:default", never: [],
    engines: {state: [$d + "/data"]},
    grants: [{kind: "mount", source: ($d + "/workspace"), mode: "rw", reason: "the test workspace"}]
  }' >"$DOCKER_DIR/policy.json"
  jq '.extends = "builtin:strict"' "$DOCKER_DIR/policy.json" >"$DOCKER_DIR/strict.json"
}

docker_write_config ()
{
  cat >"$DOCKER_DIR/containerd.toml" <<TOML
version = 2
root = "$DOCKER_DIR/c/root"
state = "$DOCKER_DIR/c/state"
disabled_plugins = ["io.containerd.grpc.v1.cri"]
[grpc]
  address = "$DOCKER_DIR/c/containerd.sock"
TOML
  # What an operator copies from contrib, with this binary and what keeps the daemon to itself.
  jq --arg d "$DOCKER_DIR" --arg agentrun "$AGENTRUN" --argjson args "$1" \
    --arg bridge "$DOCKER_BRIDGE" --argjson old "$(docker_old_key)" '.runtimes[].path = $agentrun
    | if $args == [] then . else .runtimes.agentrun.runtimeArgs = $args end
    | .runtimes["agentrun-strict"].runtimeArgs = ["--policy", $d + "/strict.json"]
    | . + {
    "data-root": ($d + "/data"), "exec-root": ($d + "/exec"), "pidfile": ($d + "/dockerd.pid"),
    "containerd": ($d + "/c/containerd.sock"), "bridge": $bridge, "storage-driver": $ENV.DOCKER_STORAGE,
    "iptables": false, "ip6tables": false, "ip-forward": false, "ip-masq": false,
    "userland-proxy": false, "default-runtime": "runc"
  } + $old + if $ENV.DOCKER_REMAP then {"userns-remap": $ENV.DOCKER_REMAP} else {} end
  ' "$BATS_TEST_DIRNAME/../../contrib/docker/daemon.json" >"$DOCKER_DIR/daemon.json"
}

# Up to 23.0 the daemon keeps an identity key, by default in /etc/docker; later ones don't know it.
docker_old_key ()
{
  local major
  major=$(dockerd --version | sed -n 's/.*version \([0-9]*\)\..*/\1/p')
  if [ "${major:-99}" -lt 24 ]; then
    jq -n --arg d "$DOCKER_DIR" '{"deprecated-key-path": ($d + "/key.json")}'
  else
    echo '{}'
  fi
}

# The daemon takes the ids of the user DOCKER_REMAP from /etc/subuid and /etc/subgid and from nowhere
# else: one line for a user that every host has, taken out again by docker_down.
DOCKER_REMAP_FIRST=1700000
docker_remap_up ()
{
  local file
  export DOCKER_REMAP=nobody:nogroup
  for file in /etc/subuid /etc/subgid; do
    touch "$file"
    ! grep -q '^nobody:' "$file" || { echo "$file has ids for nobody already"; return 1; }
  done
  for file in /etc/subuid /etc/subgid; do
    echo "nobody:$DOCKER_REMAP_FIRST:65536" >>"$file"
  done
}

docker_remap_down ()
{
  [ -n "${DOCKER_REMAP:-}" ] || return 0
  sed -i "/^nobody:$DOCKER_REMAP_FIRST:65536\$/d" /etc/subuid /etc/subgid
}

# A bridge of our own on an address range that nobody here uses.
docker_bridge_up ()
{
  local third
  DOCKER_BRIDGE="arb$$"
  for third in 17 43 91 137 201; do
    DOCKER_GATEWAY="10.213.$third.1"
    ip -4 route show | grep -q "^10\.213\.$third\." || break
  done
  export DOCKER_BRIDGE DOCKER_GATEWAY
  ip link add "$DOCKER_BRIDGE" type bridge \
    && ip addr add "$DOCKER_GATEWAY/24" dev "$DOCKER_BRIDGE" && ip link set "$DOCKER_BRIDGE" up
}

docker_image_up ()
{
  local root="$DOCKER_DIR/image"
  engine_image_root "$root"
  tar -C "$root" -c . | docker import --change 'CMD ["/bin/sh"]' - "$DOCKER_IMAGE" >/dev/null
  rm -rf "$root"
}

# Everything of a container carries its id: cgroups, mounts, shim, bundle, state.  The daemon's own
# events tell every id that it ever made, also those of containers that were refused and removed.
docker_events_up ()
{
  (
    cd "$DOCKER_DIR" || exit
    exec "${DOCKER_CLI:-docker}" events --filter type=container --filter event=create --format '{{.ID}}'
  ) >>"$DOCKER_DIR/ids" 2>/dev/null 3>&- &
  echo $! >"$DOCKER_DIR/events.pid"
  sleep 0.3
}

# docker_up [RUNTIME-ARGUMENT...]; by default --policy with docker_write_policy's file.
docker_up ()
{
  docker_need || return 1
  docker_up_all "$@" && return 0
  docker_down
  return 1
}

docker_up_all ()
{
  local args
  DOCKER_DIR=$(mktemp -d "$DOCKER_PARENT/agentrun-docker.XXXXXX") || return 1
  chmod 711 "$DOCKER_DIR"
  mkdir -p "$DOCKER_DIR"/{c,config,workspace}
  chown 1000:1000 "$DOCKER_DIR/workspace"
  export DOCKER_DIR DOCKER_HOST="unix://$DOCKER_DIR/docker.sock" DOCKER_CONFIG="$DOCKER_DIR/config"
  export DOCKER_STORAGE=${DOCKER_STORAGE:-overlay2}
  unset DOCKER_CONTEXT DOCKER_TLS_VERIFY DOCKER_CERT_PATH
  # What is shared with the host by fixed names: removed at the end only if it was not there before.
  ls -d /run/containerd /run/docker /sys/fs/cgroup/docker /sys/fs/cgroup/*/docker /run/docker.sock \
    /run/containerd/s /run/docker/plugins /etc/docker >"$DOCKER_DIR/before" 2>/dev/null
  docker_bridge_up || return 1
  docker_write_policy
  if [ $# = 0 ] && [ "$(basename "$AGENTRUN")" = agentrun ]; then
    set -- --policy "$DOCKER_DIR/policy.json"
  fi
  args=$(printf '%s\0' "$@" | jq -Rsc --argjson n $# '(split("\u0000") + [""])[:$n]')
  docker_write_config "$args"
  docker_daemons_up && docker_image_up
}

# True when the daemon answers, and when it has ended and never will.
docker_answers ()
{
  ! engine_alive "$(cat "$DOCKER_DIR/daemon.pid")" || docker version
}

docker_daemons_up ()
{
  docker_containerd_up && docker_daemon_up
}

docker_containerd_up ()
{
  rm -f "$DOCKER_DIR/c/containerd.sock" # of one that was killed
  # Descriptor 3 is bats' own: a daemon that keeps it keeps bats waiting.
  containerd --config "$DOCKER_DIR/containerd.toml" >>"$DOCKER_DIR/containerd.log" 2>&1 </dev/null 3>&- &
  echo $! >"$DOCKER_DIR/containerd.pid"
  engine_wait 20 test -S "$DOCKER_DIR/c/containerd.sock" || { cat "$DOCKER_DIR/containerd.log"; return 1; }
}

# docker_daemon_up [DOCKERD-ARGUMENT...]
docker_daemon_up ()
{
  set -- "$@" -H "$DOCKER_HOST"
  # The well-known name too, so that tests can mount what users mount.
  if [ ! -e /run/docker.sock ]; then
    set -- "$@" -H unix:///run/docker.sock
  fi
  dockerd --config-file "$DOCKER_DIR/daemon.json" "$@" \
    >>"$DOCKER_DIR/dockerd.log" 2>&1 </dev/null 3>&- &
  echo $! >"$DOCKER_DIR/daemon.pid"
  engine_wait 40 docker_answers && docker version >/dev/null \
    || { tail -n 20 "$DOCKER_DIR/dockerd.log"; return 1; }
  docker_events_up
}

# The ids that are gone: seen in an event, and not a running container now.
docker_gone ()
{
  [ -s "$DOCKER_DIR/ids" ] || return 0
  grep -vxF -f <(docker ps -q --no-trunc 2>/dev/null; echo none) "$DOCKER_DIR/ids"
}

docker_left_now ()
{
  local ids
  ids=$(docker_gone)
  [ -n "$ids" ] || return 0
  find /sys/fs/cgroup -type d -path '*/docker/*' 2>/dev/null | grep -F "$ids" | sed 's/^/cgroup: /'
  grep -F "$ids" /proc/self/mountinfo | sed 's/^/mount: /'
  grep -lF "$ids" /proc/[0-9]*/cgroup 2>/dev/null | sed 's/^/process: /'
  engine_processes "$ids"
  find "$DOCKER_DIR"/exec/runtime-* "$DOCKER_DIR"/exec/runtimes-* "$DOCKER_DIR"/c/state -mindepth 2 \
    2>/dev/null | grep -F "$ids" | sed 's/^/state: /'
}

# Shims end a moment after the client has its answer.
docker_left ()
{
  engine_left docker_left_now
}

# docker_end PID SECONDS: asks, waits, then does not ask any more.
docker_end ()
{
  engine_alive "$1" || return 0
  kill -TERM "$1" 2>/dev/null
  engine_wait "$2" eval "! engine_alive $1" || kill -KILL "$1" 2>/dev/null
}

docker_down ()
{
  local pid dir
  docker_remap_down
  [ -n "${DOCKER_DIR:-}" ] && [ -d "$DOCKER_DIR" ] || return 0
  # shellcheck disable=SC2046
  docker rm -f $(docker ps -aq 2>/dev/null) >/dev/null 2>&1
  docker_end "$(cat "$DOCKER_DIR/events.pid" 2>/dev/null)" 5
  docker_end "$(cat "$DOCKER_DIR/daemon.pid" 2>/dev/null)" 30
  docker_end "$(cat "$DOCKER_DIR/containerd.pid" 2>/dev/null)" 10
  # Shims outlive their daemon; ours are those with our socket's path in the command line.
  engine_processes "$DOCKER_DIR/c/containerd.sock" | while read -r _ pid _; do
    kill -KILL "$pid" 2>/dev/null
  done
  engine_unmount "$DOCKER_DIR"
  ip link del "$DOCKER_BRIDGE" 2>/dev/null
  DOCKER_IDS=$(cat "$DOCKER_DIR/ids" 2>/dev/null)
  docker_shared_down
  rm -rf --one-file-system "$DOCKER_DIR"
}

# The directories that daemons make under fixed names, if they are empty and were not there before.
docker_shared_down ()
{
  local path
  for path in /sys/fs/cgroup/docker /sys/fs/cgroup/*/docker /run/docker.sock /etc/docker \
    /run/containerd/s /run/containerd /run/docker/plugins /run/docker; do
    grep -qxF "$path" "$DOCKER_DIR/before" && continue
    if [ -d "$path" ]; then
      rmdir "$path" 2>/dev/null
    else
      rm -f "$path"
    fi
  done
}

docker_left_at_end ()
{
  engine_processes "$DOCKER_DIR"
  grep -F "$DOCKER_DIR" /proc/self/mountinfo | sed 's/^/mount: /'
  ip -o link show dev "$DOCKER_BRIDGE" 2>/dev/null | sed 's/^/link: /'
  if [ -n "$DOCKER_IDS" ]; then
    find /sys/fs/cgroup -type d -path '*/docker/*' 2>/dev/null | grep -F "$DOCKER_IDS" \
      | sed 's/^/cgroup: /'
    grep -F "$DOCKER_IDS" /proc/self/mountinfo | sed 's/^/mount: /'
    engine_processes "$DOCKER_IDS"
  fi
  [ ! -e "$DOCKER_DIR" ] || echo "file: $DOCKER_DIR"
}
