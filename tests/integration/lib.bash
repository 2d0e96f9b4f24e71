# SPDX-License-Identifier: Apache-2.0
# What the integration tests share: a directory of their own with a state root, bundles made from
# config.json and busybox-static, and a look at what is left when a test ends.  Needs root.
# AGENTRUN is the binary under test.

bats_require_minimum_version 1.5.0

# A policy file and a bundle must have no directory above them that others may write, so not /tmp.
# FILE_DIR holds the root file system that all bundles of a test file share by hard links.
common_setup_file ()
{
  local applet
  : "${AGENTRUN:?the path of the agentrun to test}"
  [ "$(id -u)" = 0 ] || { echo "these tests need root"; return 1; }
  export FILE_DIR
  FILE_DIR=$(mktemp -d /var/lib/agentrun-test.XXXXXX)
  mkdir -p "$FILE_DIR/rootfs"/{bin,dev,etc,home/agent,proc,root,run,sys,tmp,var,mnt}
  cp "$(command -v busybox)" "$FILE_DIR/rootfs/bin/busybox"
  for applet in awk cat chmod chown cp cut date df echo env false find grep head hostname id ip kill \
    ln ls mkdir mknod mount nc ps pwd readlink rm sed seq sh sleep sort stat stty tail tar tee test \
    touch tr true tty umount uname unshare wc xargs; do
    ln -s busybox "$FILE_DIR/rootfs/bin/$applet"
  done
  echo 'agent:x:1000:1000::/home/agent:/bin/sh' >"$FILE_DIR/rootfs/etc/passwd"
  echo 'agent:x:1000:' >"$FILE_DIR/rootfs/etc/group"
  echo 'not a program' >"$FILE_DIR/rootfs/etc/plain"
  chown 1000:1000 "$FILE_DIR/rootfs/home/agent"
  chmod 1777 "$FILE_DIR/rootfs/tmp"
}

common_teardown_file ()
{
  [ -z "${FILE_DIR:-}" ] || rm -rf --one-file-system "$FILE_DIR"
}

# POLICY, a bash array, is the policy that ar gives; files about policy set another one.
common_setup ()
{
  T=$(mktemp -d /var/lib/agentrun-test.XXXXXX)
  chmod 755 "$T"
  ROOT="$T/state"
  LOG="$T/log"
  MARK="AGENTRUN_TEST_MARK=$T"
  CGROUP="/$(basename "$T")" # one component: a parent directory would stay
  POLICY=(--policy builtin:permissive)
  [ -z "${NO_POLICY:-}" ] || POLICY=() # to try the tests themselves with another runtime
  new_bundle main
}

# Ends what still runs, and fails if there was anything: a test removes its own containers.
common_teardown ()
{
  local left path result=0
  [ -n "${T:-}" ] || return 0
  left=$(left_behind)
  for path in "$ROOT"/*/; do
    [ ! -d "$path" ] || ar delete --force "$(basename "$path")" >/dev/null 2>&1 || true
  done
  marked | while read -r path; do kill -KILL "$path" 2>/dev/null || true; done
  find /sys/fs/cgroup -depth -type d -path "*$CGROUP*" -exec rmdir {} + 2>/dev/null || true
  awk '{ print $5 }' /proc/self/mountinfo | grep -F "$T/" | sort -r | while read -r path; do
    busybox umount -l "$path"
  done
  rm -rf --one-file-system "$T"
  if [ -n "$left" ]; then
    printf 'left behind:\n%s\n' "$left"
    result=1
  fi
  return "$result"
}

# new_bundle NAME: makes $T/NAME and points BUNDLE and ID to it.
new_bundle ()
{
  ID=$1
  BUNDLE="$T/$1"
  mkdir "$BUNDLE"
  cp -al "$FILE_DIR/rootfs" "$BUNDLE/rootfs"
  jq --arg c "$CGROUP-$1" '.linux.cgroupsPath = $c' "$BATS_TEST_DIRNAME/config.json" >"$BUNDLE/config.json"
}

# edit FILTER [JQ-OPTION...]: changes the bundle's config.json.
edit ()
{
  local filter=$1
  shift
  jq "$@" "$filter" <"$BUNDLE/config.json" >"$BUNDLE/config.new"
  mv "$BUNDLE/config.new" "$BUNDLE/config.json"
}

# The arguments as a JSON array (jq's own --args takes those with a dash for options).
json_array ()
{
  # Versions of jq differ in what they make of the last NUL.
  printf '%s\0' "$@" | jq -Rsc --argjson n $# '(split("\u0000") + [""])[:$n]'
}

args ()
{
  edit '.process.args = $a' --argjson a "$(json_array "$@")"
}

# Command lines of the payload that are shell scripts.
script ()
{
  args /bin/sh -c "$1"
}

as_root ()
{
  edit '.process.user = {uid: 0, gid: 0}'
}

# A user namespace for the container: uids from 500000, gids from ${1:-500000}.  The root file system is
# copied: its owners are those of the namespace.
own_user_namespace ()
{
  rm -r "$BUNDLE/rootfs"
  cp -a "$FILE_DIR/rootfs" "$BUNDLE/rootfs"
  chown -hR 500000:500000 "$BUNDLE/rootfs"
  edit '.linux.namespaces += [{type: "user"}]
    | .linux.uidMappings = [{containerID: 0, hostID: 500000, size: 65536}]
    | .linux.gidMappings = [{containerID: 0, hostID: $gid, size: 65536}]' --argjson gid "${1:-500000}"
}

# bind SOURCE DESTINATION OPTION...
bind ()
{
  local source=$1 destination=$2
  shift 2
  edit '.mounts += [{destination: $d, type: "bind", source: $s, options: (["bind"] + $o)}]' \
    --arg s "$source" --arg d "$destination" --argjson o "$(json_array "$@")"
}

# agentrun as the tests use it.  The mark is in the environment of agentrun and of all processes it
# makes that are not the payload, so that none can stay unseen.
ar ()
{
  timeout --foreground 30 env "$MARK" "$AGENTRUN" --root "$ROOT" "${POLICY[@]}" "$@"
}

# With a JSON log file, as engines do.
ar_logged ()
{
  timeout --foreground 30 \
    env "$MARK" "$AGENTRUN" --root "$ROOT" --log "$LOG" --log-format json "${POLICY[@]}" "$@"
}

# Without a shell or timeout between: $! is agentrun's own process.
ar_exec ()
{
  exec env "$MARK" "$AGENTRUN" --root "$ROOT" "${POLICY[@]}" "$@"
}

# try_create COMMAND...: like bats' run, but through files: the container keeps the streams that it is
# created with, and `run` would wait for it.
try_create ()
{
  status=0
  "$@" </dev/null >"$T/stdout" 2>"$T/stderr" || status=$?
  output=$(cat "$T/stdout")
  stderr=$(cat "$T/stderr")
  printf 'status: %s\nstdout: %s\nstderr: %s\n' "$status" "$output" "$stderr"
}

# in_container SCRIPT: runs it in the bundle's container; output, stderr and status are set.
in_container ()
{
  script "$1"
  run --separate-stderr ar run -b "$BUNDLE" "$ID"
  printf 'status: %s\nstdout: %s\nstderr: %s\n' "$status" "$output" "$stderr"
}

# create_fails [PATTERN]: create ends with 1, one error line in the log that matches PATTERN, nothing on
# stdout, and leaves nothing.
create_fails ()
{
  rm -f "$LOG"
  try_create ar_logged create -b "$BUNDLE" "$ID"
  echo "log: $(cat "$LOG")"
  [ "$status" -eq 1 ] || return 1
  [ -z "$output" ] || return 1
  [ "$(wc -l <"$LOG")" -eq 1 ] || return 1
  [ "$(jq -r .level "$LOG")" = error ] || return 1
  if [ $# -gt 0 ]; then
    jq -r .msg "$LOG" | grep -qE -- "$1" || { echo "the message does not match: $1"; return 1; }
  fi
  nothing_left
}

# Process ids with the mark in their environment.
marked ()
{
  grep -laFxz "$MARK" /proc/[0-9]*/environ 2>/dev/null | sed 's,^/proc/\([0-9]*\)/.*,\1,'
}

# Every process, mount, cgroup and state directory of this test that exists now; a test that mounts
# something itself sets OWN_MOUNT to the mount point.
left_behind ()
{
  marked | while read -r pid; do
    echo "process: $pid $(tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline")"
  done
  find /sys/fs/cgroup -type d -path "*$CGROUP*" 2>/dev/null | sed 's/^/cgroup: /'
  grep -F "$T" /proc/self/mountinfo | grep -vF " ${OWN_MOUNT:-none} " | sed 's/^/mount: /'
  find "$ROOT" -mindepth 1 -maxdepth 1 2>/dev/null | sed 's/^/state: /'
}

nothing_left ()
{
  local left tries=20
  while left=$(left_behind); [ -n "$left" ] && [ "$tries" -gt 0 ]; do
    tries=$((tries - 1))
    sleep 0.05
  done
  [ -z "$left" ] || { printf 'left behind:\n%s\n' "$left"; return 1; }
}

state_of ()
{
  ar state "$1" | jq -r .status
}

pid_of ()
{
  ar state "$1" | jq -r .pid
}

# wait_for SECONDS COMMAND...
wait_for ()
{
  local tries=$(($1 * 20))
  shift
  while ! "$@" >/dev/null 2>&1; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || return 1
    sleep 0.05
  done
}

stopped ()
{
  [ "$(state_of "$1")" = stopped ]
}

# Directory of the test's cgroup in controller $1 of v1, or in the one tree of v2.
cgroup_dir ()
{
  local dir
  for dir in "/sys/fs/cgroup/$1$CGROUP-$ID" "/sys/fs/cgroup$CGROUP-$ID"; do
    if [ -d "$dir" ]; then
      echo "$dir"
      return 0
    fi
  done
  return 1
}

# create, and start, with no stream of ours in the container.
create ()
{
  ar create -b "$BUNDLE" "$@" "$ID" </dev/null >/dev/null 2>"$T/stderr" || { cat "$T/stderr"; return 1; }
}

start ()
{
  ar start "$ID"
}
