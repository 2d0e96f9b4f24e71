#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Docker with userns-remap: every container has a user namespace whose ids are nobody's on the host.
# AGENTRUN is the binary under test.

bats_require_minimum_version 1.5.0
load docker.sh

setup_file ()
{
  : "${AGENTRUN:?the path of the agentrun to test}"
  docker_remap_up && docker_up || { docker_remap_down; return 1; }
  chown 1701000:1701000 "$DOCKER_DIR/workspace"
}

teardown_file ()
{
  docker_down || true
}

hardened ()
{
  docker run --runtime=agentrun --rm -u 1000:1000 --read-only "$@"
}

quietly ()
{
  "$@" 2>"$BATS_TEST_TMPDIR/stderr"
}

nothing_left ()
{
  local left
  left=$(docker_left)
  [ -z "$left" ] || { echo "left behind:"; echo "$left"; return 1; }
}

@test "the hardened run is admitted by the default policy" {
  run quietly hardened --network none bb sh -c 'id -u; tr -s " " </proc/self/uid_map; tr -s " " </proc/self/gid_map'
  echo "$output"; cat "$BATS_TEST_TMPDIR/stderr"
  [ "$status" -eq 0 ]
  [ "$output" = $'1000\n 0 1700000 65536\n 0 1700000 65536' ]
  nothing_left
}

@test "with a network, limits and a tmpfs" {
  run quietly hardened -m 128m --memory-swap 128m --pids-limit 50 --cpus 1 --tmpfs /tmp:size=8m bb \
    sh -c 'echo x >/tmp/x && cat /tmp/x; ip -4 -o addr show dev eth0 | grep -c 10.213; cat /sys/fs/cgroup/memory/memory.limit_in_bytes 2>/dev/null || cat /sys/fs/cgroup/memory.max'
  echo "$output"; cat "$BATS_TEST_TMPDIR/stderr"
  [ "$status" -eq 0 ]
  [ "$output" = $'x\n1\n134217728' ]
  nothing_left
}

@test "exit code, standard input and standard error arrive" {
  run quietly hardened -i --network none bb sh -c 'cat; echo error >&2; exit 7' <<<"input"
  [ "$status" -eq 7 ]
  [ "$output" = input ]
  grep -qx error "$BATS_TEST_TMPDIR/stderr"
}

@test "a terminal" {
  run quietly hardened -t --network none bb sh -c 'tty; test -w /dev/console && echo console'
  echo "$output"
  [ "$status" -eq 0 ]
  [ "${output//$'\r'/}" = $'/dev/pts/0\nconsole' ]
}

@test "the workspace is the mapped user's" {
  run quietly hardened --network none -v "$DOCKER_DIR/workspace:/home/agent" bb \
    sh -c 'echo x >/home/agent/file && stat -c %u /home/agent/file'
  echo "$output"; cat "$BATS_TEST_TMPDIR/stderr"
  [ "$status" -eq 0 ]
  [ "$output" = 1000 ]
  [ "$(stat -c %u "$DOCKER_DIR/workspace/file")" = 1701000 ]
}

@test "standard streams can be opened by name" {
  run quietly hardened --network none bb sh -c 'echo out >/dev/stdout'
  echo "$output"; cat "$BATS_TEST_TMPDIR/stderr"
  [ "$status" -eq 0 ]
  [ "$output" = out ]
}

@test "exec, stop and remove" {
  local id
  id=$(docker run -d --runtime=agentrun --name remap-exec -u 1000:1000 --read-only --network none bb sleep 60)
  run quietly docker exec remap-exec sh -c 'id -u; tr -s " " </proc/self/uid_map'
  echo "$output"; cat "$BATS_TEST_TMPDIR/stderr"
  [ "$status" -eq 0 ]
  [ "$output" = $'1000\n 0 1700000 65536' ]
  docker stop -t 1 remap-exec
  docker rm remap-exec
  nothing_left
}

@test "--userns host gives up the barrier, and the rest of the policy stays" {
  run docker run --runtime=agentrun --rm --userns host --network none bb true
  echo "$output"
  [ "$status" -eq 125 ]
  [[ $output == *"denied by policy"* ]]
  nothing_left
}

@test "the engine's socket is refused here, too" {
  run docker run --runtime=agentrun --rm -u 1000:1000 --read-only --network none \
    -v "$DOCKER_DIR/docker.sock:/docker.sock" bb true
  echo "$output"
  [ "$status" -eq 125 ]
  [[ $output == *"denied by policy"* ]]
  nothing_left
}

@test "nothing is left of the engine itself" {
  docker_down || true
  left=$(docker_left_at_end)
  echo "$left"
  [ -z "$left" ]
  ! grep -q 1700000 /etc/subuid /etc/subgid
}
