# SPDX-License-Identifier: Apache-2.0
# A Podman of our own for a test file, run by root: storage, state and configuration in one directory,
# agentrun as its runtime by contrib's drop-in, and an image made from busybox-static.  Needs root and
# Debian's podman.  The host's own containers are neither used nor disturbed.
#
#   podman_up              makes all; sets and exports PODMAN_DIR
#   podman_left            prints what containers that are gone have left behind; nothing if all is well
#   podman_down            ends all, removes all
#   podman_left_at_end     after podman_down: prints what is left of the whole set-up
#   pm ...                 podman with all of it, and at most a minute

# shellcheck source=tests/engines/lib.sh
. "${BASH_SOURCE[0]%/*}/lib.sh"

# Not below /tmp: a policy file and an engine's data must have no directory above them that others
# may write.
podman_up ()
{
  local program
  : "${AGENTRUN:?the path of the agentrun to test}"
  for program in podman conmon busybox jq tar; do
    command -v "$program" >/dev/null || { echo "$program is missing"; return 1; }
  done
  [ "$(id -u)" = 0 ] || { echo "these tests need root"; return 1; }
  PODMAN_DIR=$(mktemp -d /var/lib/agentrun-podman.XXXXXX) || return 1
  export PODMAN_DIR
  chmod 711 "$PODMAN_DIR"
  mkdir -p "$PODMAN_DIR"/{root,run,tmp,net,home,workspace}
  chown 1000:1000 "$PODMAN_DIR/workspace"
  # Fixed names of Podman's: removed at the end if they were not there before.
  ls -d /sys/fs/cgroup/*/libpod_parent /sys/fs/cgroup/libpod_parent /run/libpod /run/netns /run/containers /run/crun \
    /var/lib/cni /var/lib/containers >"$PODMAN_DIR/before" 2>/dev/null || true
  jq -n --arg d "$PODMAN_DIR" '{
    version: 1, extends: "builtin:default", never: [],
    engines: {state: [$d + "/root", $d + "/run", $d + "/tmp"]},
    grants: [{kind: "mount", source: ($d + "/workspace"), mode: "rw", reason: "the test workspace"}]
  }' >"$PODMAN_DIR/policy.json"
  printf '[storage]\ndriver = "overlay"\nrunroot = "%s"\ngraphroot = "%s"\n' "$PODMAN_DIR/run" "$PODMAN_DIR/root" \
    >"$PODMAN_DIR/storage.conf"
  { sed "s|/usr/local/bin/agentrun|$AGENTRUN|; s|^\[engine\]|&\nevents_logger = \"file\"\ntmp_dir = \"$PODMAN_DIR/tmp\"|" \
      "$BATS_TEST_DIRNAME/../../contrib/podman/50-agentrun.conf"
    # More descriptors than the caller has take a right that not every test machine's root has.
    printf '[containers]\ndefault_ulimits = ["nofile=%s:%s", "nproc=1024:1024"]\n' "$(ulimit -Hn)" "$(ulimit -Hn)"
    printf '[network]\nnetwork_config_dir = "%s"\n' "$PODMAN_DIR/net"
  } >"$PODMAN_DIR/containers.conf"
  podman_image_up && return 0
  podman_down
  return 1
}

pm ()
{
  env HOME="$PODMAN_DIR/home" CONTAINERS_STORAGE_CONF="$PODMAN_DIR/storage.conf" CONTAINERS_CONF="$PODMAN_DIR/containers.conf" \
    timeout --foreground 60 podman --runtime agentrun --runtime-flag "policy=$PODMAN_DIR/policy.json" "$@" 3>&-
}

podman_image_up ()
{
  local root="$PODMAN_DIR/image"
  engine_image_root "$root"
  tar -C "$root" -c . | pm import -q --change 'CMD ["/bin/sh"]' - bb >/dev/null
  rm -rf "$root"
}

# All ids of containers that Podman ever gave, by its own event log, that none has now.  A pod's own
# cgroup stays, empty, where no controller is: Podman makes and removes it only where there is one.
podman_gone ()
{
  local now
  now=$(pm ps -aq --no-trunc)
  find "$PODMAN_DIR" -name events.log -exec cat {} + 2>/dev/null | jq -r 'select(.Type == "container") | .ID' | sort -u \
    | grep -vxF -e none -f <(echo "$now" | grep .) || true
}

podman_left_now ()
{
  local ids
  ids=$(podman_gone)
  [ -n "$ids" ] || return 0
  find /sys/fs/cgroup -type d -path '*libpod*' 2>/dev/null | grep -F "$ids" | sed 's/^/cgroup: /'
  grep -F "$ids" /proc/self/mountinfo | sed 's/^/mount: /'
  ls -d /run/agentrun/* 2>/dev/null | grep -F "$ids" | sed 's/^/state: /'
  engine_processes "$ids"
}

# conmon ends a moment after the client has its answer.
podman_left ()
{
  engine_left podman_left_now
}

podman_down ()
{
  local path pid
  [ -n "${PODMAN_DIR:-}" ] && [ -d "$PODMAN_DIR" ] || return 0
  pm pod rm -af >/dev/null 2>&1 || true
  pm rm -af -t 1 >/dev/null 2>&1 || true
  engine_processes "$PODMAN_DIR/" | while read -r _ pid _; do
    kill -KILL "$pid" 2>/dev/null || true
  done
  engine_unmount "$PODMAN_DIR"
  grep -q libpod_parent "$PODMAN_DIR/before" \
    || find /sys/fs/cgroup -depth -type d -path '*/libpod_parent/*' -exec rmdir {} + 2>/dev/null || true
  for path in /sys/fs/cgroup/*/libpod_parent /sys/fs/cgroup/libpod_parent /run/netns /run/libpod /run/containers /run/crun; do
    grep -qxF "$path" "$PODMAN_DIR/before" || [ ! -d "$path" ] || rmdir "$path" 2>/dev/null || true
  done
  rm -rf --one-file-system "$PODMAN_DIR"
}

podman_left_at_end ()
{
  engine_processes "$PODMAN_DIR"
  grep -F "$PODMAN_DIR" /proc/self/mountinfo | sed 's/^/mount: /'
  [ ! -e "$PODMAN_DIR" ] || echo "file: $PODMAN_DIR"
}

# The last test of each file: before and after the whole set-up has gone.
podman_leaves_nothing ()
{
  run podman_left
  echo "$output"
  [ -z "$output" ]
  podman_down || true
  run podman_left_at_end
  echo "$output"
  [ -z "$output" ]
}
