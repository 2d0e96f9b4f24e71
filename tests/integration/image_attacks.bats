#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What an image, or somebody who shares its directory, tries on the runtime that mounts it.

load lib.bash

setup_file () { common_setup_file; }
teardown_file () { common_teardown_file; }
setup () { common_setup; }
teardown () { common_teardown; }

tmpfs_on ()
{
  edit '.mounts += [{destination: $d, type: "tmpfs", source: "tmpfs", options: ["size=1m"]}]' --arg d "$1"
}

@test "a link of the image does not bring a mount to /dev, /proc or /" {
  local link
  for link in dev proc/sys . dev/shm; do
    new_bundle "to-${link//[^a-z]/-}x"
    ln -s "$link" "$BUNDLE/rootfs/x"
    tmpfs_on /x
    script true
    run ar run --bundle "$BUNDLE" "$ID"
    [ "$status" -ne 0 ]
    [[ $output == *"mount.destination: a link of the image leads from /x"* ]]
  done
}

@test "a bound directory does not become /dev by a link: nothing is made in it" {
  mkdir "$T/shared"
  ln -s dev "$BUNDLE/rootfs/x"
  bind "$T/shared" /x rw
  script true
  run ar run --bundle "$BUNDLE" "$ID"
  [ "$status" -ne 0 ]
  [ -z "$(ls -A "$T/shared")" ]
}

@test "links of the image are followed inside the root" {
  mkdir "$BUNDLE/rootfs/real"
  ln -s real "$BUNDLE/rootfs/alias"
  tmpfs_on /alias
  in_container 'grep -c " /real " /proc/self/mountinfo'
  [ "$output" = 1 ]
}

@test "ro and rrw together are read-only" {
  edit '(.mounts[] | select(.destination == "/sys") | .options) = ["nosuid", "noexec", "nodev", "ro", "rrw"]'
  in_container 'grep " /sys " /proc/self/mountinfo | cut -d " " -f 6'
  [[ ,$output, == *,ro,* ]]
}

@test "no option of a bind undoes what the host's administrator set" {
  mkdir "$T/locked"
  busybox mount -t tmpfs -o ro,nosuid,nodev,noexec tmpfs "$T/locked"
  bind "$T/locked" /locked rw rrw rexec rsuid rdev suid dev exec
  in_container 'grep " /locked " /proc/self/mountinfo | cut -d " " -f 6'
  busybox umount "$T/locked"
  local option
  for option in ro nosuid nodev noexec; do
    [[ ,$output, == *,$option,* ]]
  done
}

@test "/etc/passwd that leads to a file of the kernel is not read" {
  rm "$BUNDLE/rootfs/etc/passwd"
  ln -s /proc/kmsg "$BUNDLE/rootfs/etc/passwd"
  edit '.process.env = ["PATH=/bin"]'
  in_container 'echo "$HOME"'
  [ "$output" = / ]
}

# Either the create fails, or /proc is a procfs with every mask on it.
@test "/proc that is swapped during create: no container without its masks" {
  local round
  mkdir "$BUNDLE/rootfs/evil"
  ln -s evil "$BUNDLE/rootfs/plink"
  edit '.linux.maskedPaths = ["/proc/keys", "/proc/timer_list"] | .linux.readonlyPaths = ["/proc/sys"]'
  # The swapper goes on while this is read, so a mount point may be called by either name.
  script 'grep -c "[ck]/\(keys\|timer_list\|sys\) " /proc/self/mountinfo'
  python3 - "$BUNDLE/rootfs" <<'PYTHON' &
import ctypes, os, sys, time
libc = ctypes.CDLL(None, use_errno=True)
root = os.open(sys.argv[1], os.O_RDONLY)
end = time.time() + 15
while time.time() < end and not os.path.exists(sys.argv[1] + "/../stop"):
    libc.renameat2(root, b"proc", root, b"plink", 2)
PYTHON
  local swapper=$! bad=0
  for round in 1 2 3 4 5 6 7 8 9 10 11 12; do
    run ar run --bundle "$BUNDLE" "swap$round"
    [ "$status" -ne 0 ] || [ "$output" = 3 ] || { bad=1; echo "started with: $output"; }
  done
  touch "$BUNDLE/stop"
  wait "$swapper"
  [ "$bad" = 0 ]
}

@test "create killed between making its cgroups and recording them: delete --force removes them" {
  script 'sleep 60'
  run strace -qq -o /dev/null -f -e trace=renameat -e inject=renameat:signal=SIGKILL:when=2 \
    env "$MARK" "$AGENTRUN" --root "$ROOT" "${POLICY[@]}" create --bundle "$BUNDLE" "$ID"
  [ "$status" -ne 0 ]
  ar delete --force "$ID"
  [ -z "$(find /sys/fs/cgroup -type d -path "*$CGROUP*")" ]
  [ ! -e "$ROOT/$ID" ]
}

@test "a damaged state is an error that names it, and delete --force does not lose its process" {
  script 'sleep 60'
  ar create --bundle "$BUNDLE" "$ID" </dev/null >/dev/null 2>&1
  cp "$ROOT/$ID/state.json" "$T/kept"
  local filter command
  for filter in 'del(.plan)' '.cgroups = [{}]' 'del(.status)'; do
    jq "$filter" "$T/kept" >"$ROOT/$ID/state.json"
    for command in state start "delete --force"; do
      # shellcheck disable=SC2086 # a command and its flag
      run ar $command "$ID"
      [ "$status" -eq 1 ]
      [[ $output == *state.json* ]]
    done
  done
  cat "$T/kept" >"$ROOT/$ID/state.json"
  ar delete --force "$ID"
}
