#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Podman of an ordinary user: it enters a user namespace of its own first and runs agentrun there as
# root of it.  The user is `games`, whom every Debian has, and he gets sub-ids in copies of the
# account files, which a mount namespace of the test's own puts in place: the host's stay as they
# are.  AGENTRUN is the binary under test.  Needs root, podman, uidmap and busybox-static.

bats_require_minimum_version 1.5.0
load lib.sh

setup_file ()
{
  local applet image file
  : "${AGENTRUN:?the path of the agentrun to test}"
  [ "$(id -u)" = 0 ] || { echo "these tests need root"; return 1; }
  for file in podman newuidmap newgidmap setpriv nsenter busybox; do
    command -v "$file" >/dev/null || { echo "$file is missing"; return 1; }
  done
  export DIR
  DIR=$(mktemp -d /var/lib/agentrun-podman.XXXXXX)
  chmod 755 "$DIR"
  mkdir -p "$DIR"/{home,run,etc,work}
  cp "$AGENTRUN" "$DIR/agentrun"
  cp /etc/passwd /etc/group "$DIR/etc"
  echo games:2300000:65536 >"$DIR/etc/subuid"
  cp "$DIR/etc/subuid" "$DIR/etc/subgid"
  chmod 644 "$DIR"/etc/*
  chown games:games "$DIR/home" "$DIR/run" "$DIR/work"
  chmod 700 "$DIR/home" "$DIR/run"
  # Where its files lie is left to Podman: the policy knows the places.
  printf '[storage]\ndriver = "vfs"\n' >"$DIR/storage.conf"
  sed "s|/usr/local/bin/agentrun|$DIR/agentrun|; s|^\[engine\]|&\nevents_logger = \"file\"|" \
    "$BATS_TEST_DIRNAME/../../contrib/podman/50-agentrun.conf" >"$DIR/containers.conf"
  jq -n --arg d "$DIR" '{version: 1, extends: "builtin:default", never: [],
    grants: [{kind: "mount", source: ($d + "/work"), mode: "rw", reason: "the test workspace"}]}' >"$DIR/policy.json"
  unshare --mount sh -c 'mount --make-rshared /
    for f in passwd group subuid subgid; do [ -e "/etc/$f" ] && mount --bind "$DIR/etc/$f" "/etc/$f"; done
    touch "$DIR/ready"; exec sleep 3000' </dev/null >/dev/null 2>&1 3>&- &
  echo $! >"$DIR/holder.pid"
  while [ ! -e "$DIR/ready" ]; do sleep 0.05; done
  image="$DIR/image"
  mkdir -p "$image"/{bin,dev,etc,proc,root,run,sys,tmp,var}
  cp "$(command -v busybox)" "$image/bin/busybox"
  for applet in $(busybox --list); do
    [ -e "$image/bin/$applet" ] || ln -s busybox "$image/bin/$applet"
  done
  printf 'root:x:0:0::/root:/bin/sh\nagent:x:1000:1000::/:/bin/sh\n' >"$image/etc/passwd"
  printf 'root:x:0:\nagent:x:1000:\n' >"$image/etc/group"
  tar -C "$image" -c . | pm import --change 'CMD ["/bin/sh"]' - bb
  rm -rf "$image"
}

# /etc/subuid and subgid are there where uidmap is installed; the test can't do without them.
pm ()
{
  nsenter -t "$(cat "$DIR/holder.pid")" -m setpriv --reuid games --regid games --clear-groups \
    env -i -C "$DIR" USER=games LOGNAME=games PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME="$DIR/home" \
    XDG_RUNTIME_DIR="$DIR/run" CONTAINERS_STORAGE_CONF="$DIR/storage.conf" CONTAINERS_CONF="$DIR/containers.conf" \
    timeout 60 podman --runtime agentrun --runtime-flag "policy=$DIR/policy.json" "$@" 3>&-
}

teardown_file ()
{
  local pid
  [ -n "${DIR:-}" ] || return 0
  pm rm -af >/dev/null 2>&1 || true
  # Podman's pause process keeps its namespaces.
  for pid in $(cat "$DIR"/run/libpod/tmp/pause.pid 2>/dev/null) $(cat "$DIR/holder.pid"); do
    kill "$pid" 2>/dev/null || true
  done
  rm -rf --one-file-system "$DIR"
}

hardened ()
{
  pm run --rm --network none --read-only "$@"
}

quietly ()
{
  "$@" 2>"$BATS_TEST_TMPDIR/stderr"
}

# Processes of the user's own that are no podman, and what agentrun keeps.
nothing_left ()
{
  local left tries=50
  while left=$(ls "$DIR/run/agentrun" 2>/dev/null; pgrep -a -f "$DIR/agentrun" || true);
    [ -n "$left" ] && [ "$tries" -gt 0 ]; do
    tries=$((tries - 1))
    sleep 0.1
  done
  [ -z "$left" ] || { echo "left behind: $left"; return 1; }
}

@test "the hardened run is admitted by the default policy" {
  run quietly hardened --user 1000:1000 bb sh -c 'id -u; tr -s " " </proc/self/uid_map; awk "\$5 == \"/\" { print \$6 }" /proc/self/mountinfo | cut -d, -f1'
  echo "$output"; cat "$BATS_TEST_TMPDIR/stderr"
  [ "$status" -eq 0 ]
  [ "$output" = $'1000\n'" 0 $(id -u games) 1"$'\n 1 2300000 65536\nro' ]
  nothing_left
}

@test "keep-id: the process is the caller, inside and outside" {
  local uid
  uid=$(id -u games)
  run quietly hardened --userns keep-id -v "$DIR/work:/work" bb sh -c 'id -u; touch /work/file; stat -c %u /work/file'
  echo "$output"; cat "$BATS_TEST_TMPDIR/stderr"
  [ "$status" -eq 0 ]
  [ "$output" = "$uid"$'\n'"$uid" ]
  [ "$(stat -c %u "$DIR/work/file")" = "$uid" ]
}

@test "devices, masks and read-only paths" {
  run quietly hardened --user 1000:1000 bb sh -c 'echo x >/dev/null; head -c 2 /dev/zero | wc -c
    cat /proc/timer_list | wc -c; ls /sys/firmware | wc -l; echo 1 2>&1 >/proc/sys/kernel/printk; touch /x 2>&1'
  echo "$output"
  [ "${lines[0]}" = 2 ]
  [ "${lines[1]}" = 0 ]
  [ "${lines[2]}" = 0 ]
  [[ ${lines[3]} == *"Read-only file system"* ]]
  [[ ${lines[4]} == *"Read-only file system"* ]]
}

@test "exit code, streams and a terminal" {
  run quietly hardened -i --user 1000:1000 bb sh -c 'cat; exit 7' <<<"input"
  [ "$status" -eq 7 ]
  [ "$output" = input ]
  run quietly hardened -t --user 1000:1000 bb tty
  [ "$status" -eq 0 ]
  [ "${output//$'\r'/}" = /dev/pts/0 ]
}

@test "a named volume" {
  run quietly hardened --user 1000:1000 -v vol:/data:U bb sh -c 'echo x >/data/file && cat /data/file'
  echo "$output"; cat "$BATS_TEST_TMPDIR/stderr"
  [ "$status" -eq 0 ]
  [ "$output" = x ]
}

@test "detached: exec, logs, stop and rm" {
  pm run -d --name detached --network none --read-only --user 1000:1000 bb sh -c 'echo started; exec sleep 100'
  run quietly pm exec detached sh -c 'id -u; readlink /proc/self/ns/user /proc/1/ns/user 2>/dev/null; exit 3'
  echo "$output"; cat "$BATS_TEST_TMPDIR/stderr"
  [ "$status" -eq 3 ]
  [ "${lines[0]}" = 1000 ]
  run quietly pm logs detached
  [ "$output" = started ]
  pm stop -t 1 detached
  pm rm detached
  nothing_left
}

exit_with ()
{
  hardened --user 1000:1000 bb sh -c "exit $1"
}

@test "a secret, a tmpfs, and fifty at once" {
  printf hidden | pm secret create rootless-secret - >/dev/null
  run quietly hardened --user 1000:1000 --secret rootless-secret --tmpfs /scratch bb sh -c 'cat /run/secrets/rootless-secret; echo x >/scratch/f'
  echo "$output"; cat "$BATS_TEST_TMPDIR/stderr"
  pm secret rm rootless-secret >/dev/null
  [ "$status" -eq 0 ]
  [ "$output" = hidden ]
  engine_at_once 50 exit_with
  nothing_left
}

@test "a pod: its containers share a network, and the infra container is nobody" {
  local infra a
  pm pod create --name rootless-pod --network none >/dev/null
  pm run -d --pod rootless-pod --name pod-a --user 1000:1000 --read-only bb sleep 1000 >/dev/null
  infra=$(pm inspect -f '{{.State.Pid}}' "$(pm pod inspect -f '{{.InfraContainerID}}' rootless-pod)")
  a=$(pm inspect -f '{{.State.Pid}}' pod-a)
  [ "$(readlink "/proc/$a/ns/net")" = "$(readlink "/proc/$infra/ns/net")" ]
  [ "$(awk '/^Cap(Bnd|Eff)/ { print $2 }' "/proc/$infra/status" | sort -u)" = 0000000000000000 ]
  run ! grep -q "^Uid:.$(id -u games)" "/proc/$infra/status"
  pm kill pod-a >/dev/null
  pm start pod-a >/dev/null
  pm restart -t 1 pod-a >/dev/null
  pm pod rm -f -t 1 rootless-pod >/dev/null
  nothing_left
}

@test "a run as root is refused by the message that the user sees" {
  run pm run --rm --network none bb true
  echo "$output"
  [ "$status" -ne 0 ]
  [[ $output == *"denied by policy"* ]]
  [[ $output == *user.root* ]]
  nothing_left
}

@test "somebody else's file is refused" {
  run hardened --user 1000:1000 -v "$DIR/etc/passwd:/x:ro" bb true
  echo "$output"
  [ "$status" -ne 0 ]
  [[ $output == *"denied by policy"* ]]
}

@test "a limit that was asked for and can't be held is an error" {
  [ ! -e /sys/fs/cgroup/cgroup.controllers ] || skip "on cgroup v2 podman delegates"
  # Podman itself drops --memory on v1; an annotation can't bring it back, so by hand.
  cat >"$DIR/limit.sh" <<'SH'
cd "$1" && mkdir -p bundle/rootfs && exec ./agentrun --policy builtin:permissive run -b bundle limited
SH
  mkdir -p "$DIR/bundle/rootfs"
  jq '.linux.resources = {memory: {limit: 67108864}} | .process.user = {uid: 0, gid: 0}' \
    "$BATS_TEST_DIRNAME/../integration/config.json" >"$DIR/bundle/config.json"
  run pm unshare sh "$DIR/limit.sh" "$DIR"
  echo "$output"
  [ "$status" -ne 0 ]
  [[ $output == *cgroup* ]]
  nothing_left
}
