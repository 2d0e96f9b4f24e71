#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# docker exec with agentrun as the runtime.  AGENTRUN is the binary under test.

bats_require_minimum_version 1.5.0
load docker.sh

setup_file ()
{
  : "${AGENTRUN:?the path of the agentrun to test}"
  docker_up
  docker run --runtime=agentrun -d --name box -u 1000:1000 --read-only --network none --tmpfs /tmp \
    -e FOO=bar bb sleep 100000 3>&-
}

teardown_file ()
{
  docker rm -f box || true
  docker_down || true
}

try ()
{
  run --separate-stderr docker exec "$@"
  printf 'status: %s\nstdout: %s\nstderr: %s\n' "$status" "$output" "$stderr"
}

@test "as the container's user, with its environment and the variables added" {
  try -e NEW=1 box sh -c 'id; echo $FOO,$NEW; grep -E "CapBnd|NoNewPrivs|Seccomp:" /proc/self/status'
  [ "$status" -eq 0 ]
  [[ $output == *"uid=1000(agent) gid=1000(agent)"* ]]
  [[ $output == *bar,1* ]]
  [[ $output == *"CapBnd:"*0000000000000000* ]]
  [[ $output == *"NoNewPrivs:"*1* ]]
  [[ $output == *"Seccomp:"*2* ]]
  try -u 1000 box id -g
  [ "$output" = 1000 ]
}

@test "exit codes, input, detach, working directory" {
  try box sh -c 'exit 7'
  [ "$status" -eq 7 ]
  run bash -c 'echo in | docker exec -i box cat'
  [ "$output" = in ]
  docker exec -d box sh -c 'echo detached >/tmp/d; sleep 1'
  engine_wait 5 eval '[ "$(docker exec box cat /tmp/d)" = detached ]'
  try -w /home/agent box pwd
  [ "$output" = /home/agent ]
}

# The client's code for a program that is missing has changed between versions.
@test "a program that is missing or can't be executed is told as such" {
  try box nosuch
  [ "$status" -eq 126 ] || [ "$status" -eq 127 ]
  [[ $stderr$output == *'executable file not found in $PATH'* ]]
  try box /etc/plain
  [ "$status" -eq 126 ]
  [[ $stderr$output == *'permission denied'* ]]
}

# The client tells the terminal's size once the program runs: it may come later than the first look, and a stty that
# finds none says so with exit code 0.
@test "a terminal" {
  run timeout 40 python3 "$BATS_TEST_DIRNAME/../integration/terminal.py" -s 31x101 -w ready -i 'go\n' \
    docker exec -it box sh -c 'tty; echo ready; read x; for i in 1 2 3 4 5 6 7 8 9; do s=$(stty size 2>&1); case $s in [1-9]*) echo "$s"; break ;; esac; sleep 0.5; done; exit 3'
  echo "$output"
  [ "$status" -eq 3 ]
  [[ $output == */dev/pts/* ]]
  [[ $output == *"31 101"* ]]
}

@test "root and --privileged are refused with a reason and a fix" {
  try -u 0 box id
  [ "$status" -ne 0 ]
  [[ $stderr$output == *"denied by policy"*user.root* ]]
  [[ $stderr$output == *"the container runs as 1000:1000"* ]]
  try --privileged box id
  [ "$status" -ne 0 ]
  [[ $stderr$output == *capability.extra*--privileged* ]]
  try -u 1001:1001 box id
  [ "$status" -ne 0 ]
  [[ $stderr$output == *exec.process* ]]
}

@test "a health check" {
  docker run --runtime=agentrun -d --name health -u 1000:1000 --read-only --network none \
    --health-cmd 'test -e /bin/sh' --health-interval 1s bb sleep 1000 3>&-
  engine_wait 20 eval '[ "$(docker inspect -f "{{.State.Health.Status}}" health)" = healthy ]'
  docker rm -f health
}

@test "many in a row leave nothing behind" {
  local i
  for i in $(seq 20); do docker exec box true; done
  [ "$(docker top box | wc -l)" -eq 2 ]
  docker rm -f box
  [ -z "$(docker_left)" ]
}
