#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The life of a container under Docker: restarts, logs, waiting, copying, fifty at once, and the ends of
# dockerd, containerd and the shim under running containers.  AGENTRUN is the binary under test.

bats_require_minimum_version 1.5.0
load docker.sh

setup_file ()
{
  : "${AGENTRUN:?the path of the agentrun to test}"
  docker_up
}

teardown_file ()
{
  docker_down || true
}

setup ()
{
  NAME="life-$BATS_TEST_NUMBER"
  HARDENED=(--runtime=agentrun -u 1000:1000 --read-only --network none)
}

teardown ()
{
  [ -d "$DOCKER_DIR" ] || return 0
  docker unpause "$NAME" >/dev/null 2>&1 || true
  docker rm -f "$NAME" >/dev/null 2>&1 || true
}

READY='trap "exit 9" TERM; echo ready; while :; do sleep 0.1; done'

started ()
{
  ID=$(docker run -d --name "$NAME" "${HARDENED[@]}" "$@" bb sh -c "$READY" 2>"$BATS_TEST_TMPDIR/stderr") \
    || { cat "$BATS_TEST_TMPDIR/stderr"; return 1; }
  engine_wait 30 logged ready
}

# inspected FORMAT
inspected ()
{
  docker inspect -f "$1" "$NAME"
}

is ()
{
  [ "$(inspected '{{.State.Status}}')" = "$1" ]
}

logged ()
{
  docker logs "$NAME" 2>&1 | grep -qx "$1"
}

@test "restart: another process, the same container" {
  local pid
  started
  pid=$(inspected '{{.State.Pid}}')
  docker restart -t 20 "$NAME"
  is running
  [ "$(inspected '{{.State.Pid}}')" != "$pid" ]
  engine_wait 30 eval '[ "$(docker logs "$NAME" | grep -c ready)" -eq 2 ]'
}

@test "stop with its time, then SIGKILL; the exit codes stay" {
  started
  docker stop -t 30 "$NAME"
  [ "$(inspected '{{.State.ExitCode}}')" -eq 9 ]
  docker rm "$NAME"
  docker run -d --name "$NAME" "${HARDENED[@]}" bb sh -c 'trap : TERM; echo ready; while :; do sleep 0.1; done'
  engine_wait 30 logged ready
  docker stop -t 1 "$NAME"
  [ "$(inspected '{{.State.ExitCode}}')" -eq 137 ]
}

@test "restart policies: on-failure with a count, and always" {
  docker run -d --name "$NAME" --restart on-failure:2 "${HARDENED[@]}" bb sh -c 'echo ran; exit 3'
  engine_wait 60 eval '[ "$(docker logs "$NAME" | grep -c ran)" -eq 3 ]'
  engine_wait 30 is exited
  [ "$(inspected '{{.RestartCount}} {{.State.ExitCode}}')" = "2 3" ]
  docker rm "$NAME"
  docker run -d --name "$NAME" --restart always "${HARDENED[@]}" bb sh -c 'echo ran; exec sleep 1'
  engine_wait 60 eval '[ "$(docker logs "$NAME" | grep -c ran)" -ge 2 ]'
}

@test "wait, and the events of a container's life" {
  local since code
  since=$(date +%s)
  docker run -d --name "$NAME" "${HARDENED[@]}" bb sh -c 'sleep 1; exit 4'
  code=$(timeout 60 docker wait "$NAME")
  [ "$code" = 4 ]
  run timeout 60 docker events --since "$since" --until "$(($(date +%s) + 1))" --filter "container=$NAME" --format '{{.Action}}'
  echo "$output"
  [ "$output" = $'create\nattach\nstart\ndie' ] || [ "$output" = $'create\nstart\ndie' ]
}

@test "a health check turns healthy, and unhealthy" {
  started --health-cmd 'test ! -e /tmp/ill' --health-interval 1s --health-retries 1 --health-timeout 20s --tmpfs /tmp
  engine_wait 60 eval '[ "$(inspected "{{.State.Health.Status}}")" = healthy ]'
  docker exec "$NAME" touch /tmp/ill
  engine_wait 60 eval '[ "$(inspected "{{.State.Health.Status}}")" = unhealthy ]'
}

@test "detach by its keys, and attach again" {
  local terminal="$BATS_TEST_DIRNAME/../integration/terminal.py"
  # ^P^Q: the client goes, the container stays.
  run timeout 60 python3 "$terminal" -w ready -i 'one\n\x10\x11' docker run -it --name "$NAME" "${HARDENED[@]}" \
    bb sh -c 'echo ready; while read x; do echo got-$x; test $x != end || exit 6; done'
  echo "$output"
  [ "$status" -eq 0 ]
  is running
  engine_wait 30 eval 'docker logs "$NAME" | grep -q got-one'
  run timeout 60 python3 "$terminal" -i 'end\n' docker attach "$NAME"
  echo "$output"
  [ "$status" -eq 6 ]
  [[ $output == *got-end* ]]
  [ "$(inspected '{{.State.ExitCode}}')" -eq 6 ]
}

@test "cp out of a container and into one of its volumes" {
  started -v "$NAME-data:/data"
  echo content >"$BATS_TEST_TMPDIR/file"
  docker cp "$BATS_TEST_TMPDIR/file" "$NAME:/data/file"
  [ "$(docker exec "$NAME" cat /data/file)" = content ]
  docker cp "$NAME:/etc/passwd" "$BATS_TEST_TMPDIR/passwd"
  grep -q '^agent:' "$BATS_TEST_TMPDIR/passwd"
  docker rm -f "$NAME"
  docker volume rm "$NAME-data"
}

@test "facts that a naive rule would block: shm, ulimits, hosts, DNS, oom score, a named user" {
  run docker run --rm --name "$NAME" "${HARDENED[@]}" --shm-size 32m --ulimit nofile=1024:2048 --add-host a:192.0.2.1 --hostname h \
    --oom-score-adj 500 -e A=b --label l=m -w /tmp --tmpfs /tmp:size=1m --stop-signal INT --group-add 4242 bb \
    sh -c 'df -m /dev/shm | tail -n 1 | awk "{print \$2}"; ulimit -n; grep -c 192.0.2.1 /etc/hosts; cat /proc/self/oom_score_adj; pwd; id -G; hostname'
  echo "$output"
  [ "$output" = $'32\n1024\n1\n500\n/tmp\n1000 4242\nh' ]
  run docker run --rm --name "$NAME" --runtime=agentrun -u agent --read-only --network none bb id -u
  [ "$output" = 1000 ]
}

@test "another container's namespaces can't be joined: Docker has no pods" {
  local option
  started
  for option in "--network container:$NAME" "--network none --pid container:$NAME" "--network none --ipc container:$NAME"; do
    # shellcheck disable=SC2086 # options
    run docker run --rm --runtime=agentrun -u 1000:1000 --read-only $option bb true
    echo "$output"
    [ "$status" -eq 125 ]
    if [[ $option == *--ipc* ]]; then
      [[ $output == *"non-shareable IPC"* ]] # Docker itself refuses
    else
      [[ $output == *"namespace.foreign: "* ]]
    fi
  done
}

exit_with ()
{
  docker run --rm --name "$NAME-$1" "${HARDENED[@]}" bb sh -c "exit $1"
}

@test "fifty at once" {
  engine_at_once 50 exit_with
  run docker_left
  echo "$output"
  [ -z "$output" ]
}

# dockerd_killed: by SIGKILL, and nobody has told the container to end.
dockerd_killed ()
{
  kill -KILL "$(cat "$DOCKER_DIR/daemon.pid")"
  engine_wait 20 eval '! engine_alive "$(cat "$DOCKER_DIR/daemon.pid")"'
  rm -f "$DOCKER_DIR/dockerd.pid"
}

@test "dockerd is killed and comes back with live-restore: the container lives on, and is managed again" {
  local pid
  started
  pid=$(inspected '{{.State.Pid}}')
  dockerd_killed
  engine_alive "$pid"
  docker_daemon_up --live-restore
  [ "$(inspected '{{.State.Status}} {{.State.Pid}}')" = "running $pid" ]
  docker exec "$NAME" true
  docker stop -t 30 "$NAME"
  [ "$(inspected '{{.State.ExitCode}}')" -eq 9 ]
}

@test "dockerd is killed and comes back without live-restore: it ends what it finds, and starts it again" {
  local pid
  started
  pid=$(inspected '{{.State.Pid}}')
  dockerd_killed
  engine_alive "$pid"
  docker_daemon_up
  engine_wait 60 is exited
  docker start "$NAME"
  is running
  docker rm -f "$NAME"
}

@test "containerd is killed under a running container: it lives on, and is managed again" {
  local pid
  started
  pid=$(inspected '{{.State.Pid}}')
  kill -KILL "$(cat "$DOCKER_DIR/containerd.pid")"
  engine_wait 20 eval '! engine_alive "$(cat "$DOCKER_DIR/containerd.pid")"'
  engine_alive "$pid"
  docker_containerd_up
  engine_wait 60 docker exec "$NAME" true
  [ "$(inspected '{{.State.Pid}}')" = "$pid" ]
  docker stop -t 30 "$NAME"
  [ "$(inspected '{{.State.ExitCode}}')" -eq 9 ]
}

@test "the shim is killed: the container ends with it, and starts again" {
  local pid
  started
  pid=$(inspected '{{.State.Pid}}')
  kill -KILL "$(engine_processes "$ID" | awk '/containerd-shim/ { print $2 }' | head -n 1)"
  engine_wait 60 is exited
  engine_wait 30 eval "! engine_alive $pid"
  docker start "$NAME"
  is running
}

@test "after all of it nothing is left" {
  run docker_left
  echo "$output"
  [ -z "$output" ]
  docker_down || true
  run docker_left_at_end
  echo "$output"
  [ -z "$output" ]
}
