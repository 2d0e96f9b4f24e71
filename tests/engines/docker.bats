#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Docker with agentrun as a runtime: what has to work, what has to be refused by the daemon's own
# message, and that nothing is left behind by either.  AGENTRUN is the binary under test.

bats_require_minimum_version 1.5.0
load docker.sh

setup_file ()
{
  : "${AGENTRUN:?the path of the agentrun to test}"
  docker_up
  mkdir "$DOCKER_DIR/sockets" "$DOCKER_DIR/links"
  ln -s /run/docker.sock "$DOCKER_DIR/links/docker"
  # The same socket under another name, and one that belongs to no engine.
  touch "$DOCKER_DIR/links/harmless.txt"
  busybox mount --bind "$DOCKER_DIR/docker.sock" "$DOCKER_DIR/links/harmless.txt"
  ln "$DOCKER_DIR/docker.sock" "$DOCKER_DIR/links/other.name"
  python3 -c 'import socket, sys, time
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(1); time.sleep(3600)' \
    "$DOCKER_DIR/sockets/docker.sock" </dev/null >/dev/null 2>&1 3>&- &
  echo $! >"$DOCKER_DIR/listener.pid"
}

teardown_file ()
{
  docker_end "$(cat "$DOCKER_DIR/listener.pid" 2>/dev/null)" 2
  docker_down || true
}

# What every container here is started with; tests add to it.
hardened ()
{
  docker run --runtime=agentrun --rm -u 1000:1000 --read-only "$@"
}

# Standard output only: the client may warn about the daemon on the other stream.
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

# refused RULE FIX ARGUMENT...: the run is denied, the daemon's message names RULE and a fix that
# matches FIX, and nothing of it is left.
refused ()
{
  local rule=$1 fix=$2
  shift 2
  run docker run --runtime=agentrun --rm --name "refused-$BATS_TEST_NUMBER" "$@" bb true
  echo "$output"
  [ "$status" -eq 125 ] || { echo "exit code $status, expected 125"; return 1; }
  [[ $output == *"Error response from daemon"* ]] || return 1
  [[ $output == *"OCI runtime create failed"* ]] || return 1
  [[ $output == *"denied by policy"* ]] || return 1
  [[ $output == *"$rule:"* ]] || { echo "the message does not name $rule"; return 1; }
  [[ $output =~ Fix:.*$fix ]] || { echo "the message has no fix that matches $fix"; return 1; }
  nothing_left
}

# ---- What has to work

@test "a hardened container without network runs as the user that was asked for" {
  run quietly hardened --network none bb id
  echo "$output"; cat "$BATS_TEST_TMPDIR/stderr"
  [ "$status" -eq 0 ]
  [ "$output" = "uid=1000(agent) gid=1000(agent) groups=1000(agent)" ]
  nothing_left
}

@test "a user without a group gets its own and not group 0" {
  run quietly docker run --runtime=agentrun --rm -u 4321 --read-only --network none bb id
  echo "$output"
  [ "$status" -eq 0 ]
  [ "$output" = "uid=4321 gid=4321 groups=4321" ] || [ "$output" = "uid=4321 gid=4321" ]
}

@test "the process has no capability, no new privileges and a seccomp filter" {
  run quietly hardened --network none bb \
    grep -E '^(Cap|NoNewPrivs|Seccomp:|Uid|Gid|Groups)' /proc/self/status
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"NoNewPrivs:	1"* ]]
  [[ $output == *"Seccomp:	2"* ]]
  [[ $output == *"Uid:	1000	1000	1000	1000"* ]]
  [[ $output == *"Gid:	1000	1000	1000	1000"* ]]
  [ "$(grep -cE '^Cap(Inh|Prm|Eff|Bnd|Amb):.0000000000000000$' <<<"$output")" -eq 5 ]
}

@test "the same holds with everything hardened by flags already" {
  run quietly hardened --network none --tmpfs /tmp:rw,noexec,nosuid,nodev,size=16m --cap-drop ALL \
    --security-opt no-new-privileges -m 256m --memory-swap 256m --pids-limit 100 --cpus 1 \
    --ulimit nofile=1024:1024 bb sh -c 'id -u; ulimit -n; echo x >/tmp/x && cat /tmp/x'
  echo "$output"; cat "$BATS_TEST_TMPDIR/stderr"
  [ "$status" -eq 0 ]
  [ "$output" = $'1000\n1024\nx' ]
}

@test "the host name is the container's" {
  run quietly hardened --network none -h sandbox bb sh -c 'hostname; cat /etc/hostname'
  echo "$output"
  [ "$output" = $'sandbox\nsandbox' ]
}

@test "the root file system is read-only and can't be written" {
  run quietly hardened --network none bb sh -c 'awk "\$5 == \"/\" { print \$6 }" /proc/self/mountinfo
    touch /home/agent/x 2>&1; touch /etc/x 2>&1; true'
  echo "$output"
  [[ ${lines[0]} == ro* ]]
  [[ ,${lines[0]}, == *,nosuid,* ]]
  [[ ${lines[1]} == *"Read-only file system"* ]]
}

@test "every mount is nosuid, and kernel files are masked" {
  run quietly hardened --network none bb sh -c 'awk "\$6 !~ /nosuid/ { print \$5, \$6 }" /proc/self/mountinfo
    [ ! -e /proc/kcore ] || head -c 1 /proc/kcore; ls /proc/acpi /sys/firmware 2>/dev/null | grep -v : ; echo x >/proc/sys/kernel/domainname'
  echo "$output"; cat "$BATS_TEST_TMPDIR/stderr"
  [ -z "$output" ]
}

@test "without network there is only a loopback interface, and it is up" {
  run quietly hardened --network none bb sh -c 'ls /sys/class/net; ip -o link show lo; ip route'
  echo "$output"
  [ "${lines[0]}" = lo ]
  [[ ${lines[1]} == *"lo: <LOOPBACK,UP"* ]]
  [ "${#lines[@]}" -eq 2 ]
}

@test "on the default bridge the container has Docker's address and route" {
  run quietly hardened bb sh -c 'ip -4 -o addr show eth0; ip route; cat /etc/hosts'
  echo "$output"; cat "$BATS_TEST_TMPDIR/stderr"
  [ "$status" -eq 0 ]
  [[ ${lines[0]} == *"inet ${DOCKER_GATEWAY%.1}."* ]]
  [[ $output == *"default via $DOCKER_GATEWAY dev eth0"* ]]
  [[ $output == *localhost* ]]
  nothing_left
}

@test "on the default bridge the container reaches the host by TCP" {
  local port listener
  python3 -c 'import socket, sys
s = socket.create_server((sys.argv[1], 0)); s.settimeout(20)
print(s.getsockname()[1], flush=True)
c = s.accept()[0]; c.sendall(b"hello from the host\n"); c.close()' "$DOCKER_GATEWAY" \
    >"$BATS_TEST_TMPDIR/port" 3>&- &
  listener=$!
  engine_wait 5 test -s "$BATS_TEST_TMPDIR/port"
  port=$(cat "$BATS_TEST_TMPDIR/port")
  run quietly hardened bb nc -w 3 "$DOCKER_GATEWAY" "$port"
  kill "$listener" 2>/dev/null || true
  echo "$output"
  [ "$output" = "hello from the host" ]
}

@test "exit code 0" {
  run hardened --network none bb true
  echo "$output"
  [ "$status" -eq 0 ]
}

@test "exit code 3" {
  run hardened --network none bb sh -c 'exit 3'
  echo "$output"
  [ "$status" -eq 3 ]
}

@test "exit code 126 for a file that is not a program" {
  run hardened --network none bb /etc/plain
  echo "$output"
  [ "$status" -eq 126 ]
  [[ $output == *"permission denied"* ]]
  nothing_left
}

@test "exit code 127 for a path that does not exist" {
  run -127 hardened --network none bb /bin/nope
  echo "$output"
  [[ $output == *"no such file or directory"* ]]
  nothing_left
}

@test "exit code 127 for a name that is not in PATH" {
  run -127 hardened --network none bb nope
  echo "$output"
  [[ $output == *"executable file not found in \$PATH"* ]]
  nothing_left
}

@test "a signal's exit code is 128 and its number" {
  run hardened --network none bb sh -c 'sh -c "kill -9 \$\$"; exit $?'
  echo "$output"
  [ "$status" -eq 137 ]
}

@test "standard output and standard error stay apart" {
  hardened --network none bb sh -c 'echo out; echo err >&2' >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err"
  [ "$(cat "$BATS_TEST_TMPDIR/out")" = out ]
  grep -qx err "$BATS_TEST_TMPDIR/err"
}

@test "a megabyte goes through standard input and output unchanged" {
  head -c 1048576 /dev/urandom >"$BATS_TEST_TMPDIR/in"
  hardened -i --network none bb cat <"$BATS_TEST_TMPDIR/in" >"$BATS_TEST_TMPDIR/out"
  cmp "$BATS_TEST_TMPDIR/in" "$BATS_TEST_TMPDIR/out"
}

@test "the end of standard input reaches the process" {
  run timeout 20 bash -c 'printf "a\nb\n" | docker run --runtime=agentrun --rm -i -u 1000:1000 --read-only \
    --network none bb wc -l 2>/dev/null'
  echo "$output"
  [ "$status" -eq 0 ]
  [ "$output" -eq 2 ]
}

@test "a terminal" {
  run quietly hardened -t --network none bb sh -c 'tty; stty size >/dev/null && echo tty'
  echo "$output"; cat "$BATS_TEST_TMPDIR/stderr"
  [ "$status" -eq 0 ]
  [[ $output == *"/dev/"* ]]
  [[ $output == *tty* ]]
}

@test "--init runs the engine's init" {
  run quietly hardened --init --network none bb sh -c 'tr "\0" " " </proc/1/cmdline'
  echo "$output"; cat "$BATS_TEST_TMPDIR/stderr"
  [ "$status" -eq 0 ]
  [[ $output == /sbin/docker-init* ]]
}

@test "a named volume can be written" {
  docker volume create vol >/dev/null
  run quietly docker run --rm -v vol:/data bb chown 1000:1000 /data
  run quietly hardened --network none -v vol:/data bb sh -c 'echo x >/data/x && cat /data/x'
  echo "$output"; cat "$BATS_TEST_TMPDIR/stderr"
  docker volume rm vol >/dev/null
  [ "$status" -eq 0 ]
  [ "$output" = x ]
}

@test "a granted workspace is mounted, and what is written there is on the host" {
  run quietly hardened --network none -v "$DOCKER_DIR/workspace:/workspace" bb \
    sh -c 'echo done >/workspace/result'
  echo "$output"; cat "$BATS_TEST_TMPDIR/stderr"
  [ "$status" -eq 0 ]
  [ "$(cat "$DOCKER_DIR/workspace/result")" = "done" ]
  [ "$(stat -c %u "$DOCKER_DIR/workspace/result")" -eq 1000 ]
}

@test "limits are written to the container's cgroup, and the cgroup goes with it" {
  local id dir
  id=$(quietly hardened -d --network none -m 64m --pids-limit 23 --cpus 0.5 bb sleep 60)
  dir=/sys/fs/cgroup/memory/docker/$id
  if [ -d "$dir" ]; then
    [ "$(cat "$dir/memory.limit_in_bytes")" -eq 67108864 ]
    [ "$(cat "/sys/fs/cgroup/pids/docker/$id/pids.max")" -eq 23 ]
    [ "$(cat "/sys/fs/cgroup/cpu/docker/$id/cpu.cfs_quota_us")" -eq 50000 ]
  else
    dir=$(find /sys/fs/cgroup -type d -name "*$id*" | head -n 1)
    [ "$(cat "$dir/memory.max")" -eq 67108864 ]
    [ "$(cat "$dir/pids.max")" -eq 23 ]
    [ "$(cut -d' ' -f1 "$dir/cpu.max")" -eq 50000 ]
  fi
  docker rm -f "$id" >/dev/null
  nothing_left
}

@test "run -d, logs, ps, stop and rm" {
  docker run --runtime=agentrun -d --name life -u 1000:1000 --read-only --network none bb \
    sh -c 'trap "echo bye; exit 5" TERM; echo up; while :; do sleep 0.1; done'
  engine_wait 10 eval 'docker logs life | grep -qx up'
  [ "$(docker inspect -f '{{.State.Status}}' life)" = running ]
  [ -d "/proc/$(docker inspect -f '{{.State.Pid}}' life)" ]
  docker stop -t 10 life
  [ "$(docker inspect -f '{{.State.ExitCode}}' life)" -eq 5 ]
  [ "$(docker logs life)" = $'up\nbye' ]
  docker rm life
  nothing_left
}

@test "start again after stop" {
  docker run --runtime=agentrun --name again -u 1000:1000 --read-only --network none bb echo once
  run docker start -a again
  docker rm again
  [ "$output" = once ]
  nothing_left
}

@test "kill with a signal that the process handles, and without" {
  docker run --runtime=agentrun -d --name sig -u 1000:1000 --read-only --network none bb \
    sh -c 'trap "echo hup" HUP; echo up; while :; do sleep 0.1; done'
  engine_wait 10 eval 'docker logs sig | grep -qx up'
  docker kill -s HUP sig
  engine_wait 10 eval 'docker logs sig | grep -qx hup'
  [ "$(docker inspect -f '{{.State.Running}}' sig)" = true ]
  docker kill sig
  [ "$(docker wait sig)" -eq 137 ]
  docker rm sig
  nothing_left
}

@test "rm -f of a running container" {
  docker run --runtime=agentrun -d --name gone -u 1000:1000 --read-only --network none bb sleep 100
  docker rm -f gone
  nothing_left
}

@test "processes that a container leaves running end with it" {
  run quietly hardened --network none bb sh -c 'sleep 1000 & sleep 1000 & echo started'
  [ "$output" = started ]
  nothing_left
}

@test "ten at once" {
  local i pids=()
  for i in 0 1 2 3 4 5 6 7 8 9; do
    hardened --network none -i bb sh -c 'cat; exit '"$i" <<<"number $i" \
      >"$BATS_TEST_TMPDIR/out.$i" 2>"$BATS_TEST_TMPDIR/err.$i" 3>&- &
    pids+=($!)
  done
  for i in 0 1 2 3 4 5 6 7 8 9; do
    local code=0
    wait "${pids[$i]}" || code=$?
    cat "$BATS_TEST_TMPDIR/err.$i"
    [ "$code" -eq "$i" ]
    [ "$(cat "$BATS_TEST_TMPDIR/out.$i")" = "number $i" ]
  done
  nothing_left
}

@test "nothing of the host's runtime is open in the container" {
  run quietly hardened --network none bb sh -c 'ls -l /proc/self/fd'
  echo "$output"
  [ "$(grep -c -- '->' <<<"$output")" -le 4 ] # 0 to 2, and the directory that ls reads
}

# ---- What has to be refused

@test "refused: no -u" {
  refused user.root --user --read-only --network none
}

@test "refused: -u 0" {
  refused user.root --user -u 0 --read-only --network none
}

@test "refused: -u 0:1000" {
  refused user.root --user -u 0:1000 --read-only --network none
}

@test "refused: no --read-only" {
  refused rootfs.readonly --read-only -u 1000:1000 --network none
}

@test "refused: a plain docker run, and all reasons are in one message" {
  refused user.root --user
  [[ $output == *rootfs.readonly:* ]]
}

@test "refused: -v /var/run/docker.sock" {
  refused mount.never /var/run/docker.sock -u 1000:1000 --read-only --network none \
    -v /var/run/docker.sock:/var/run/docker.sock
}

@test "refused: -v /var/run/docker.sock, read-only" {
  refused mount.never /var/run/docker.sock -u 1000:1000 --read-only --network none \
    -v /var/run/docker.sock:/var/run/docker.sock:ro
}

@test "refused: the docker socket through a symbolic link" {
  refused mount.never . -u 1000:1000 --read-only --network none \
    -v "$DOCKER_DIR/links/docker:/run/x"
}

@test "refused: this daemon's own socket, which is not at a well-known place" {
  refused mount.socket . -u 1000:1000 --read-only --network none \
    -v "$DOCKER_DIR/docker.sock:/run/x"
}

@test "refused: the socket under another name by a bind mount" {
  refused mount.socket . -u 1000:1000 --read-only --network none \
    -v "$DOCKER_DIR/links/harmless.txt:/run/x"
}

@test "refused: the socket under another name by a hard link" {
  refused mount.socket . -u 1000:1000 --read-only --network none \
    -v "$DOCKER_DIR/links/other.name:/run/x:ro"
}

@test "refused: a directory with a listening socket in it" {
  refused mount.socket . -u 1000:1000 --read-only --network none -v "$DOCKER_DIR/sockets:/run/x:ro"
}

@test "refused: -v /var/run" {
  refused mount.never . -u 1000:1000 --read-only --network none -v /var/run:/host-run
}

@test "refused: -v /var/run, read-only" {
  refused mount.never . -u 1000:1000 --read-only --network none -v /var/run:/host-run:ro
}

@test "refused: -v /" {
  refused mount.never . -u 1000:1000 --read-only --network none -v /:/host
}

@test "refused: a directory that no grant covers" {
  mkdir -p "$DOCKER_DIR/elsewhere"
  refused mount.source . -u 1000:1000 --read-only --network none -v "$DOCKER_DIR/elsewhere:/x"
}

@test "refused: a volume whose driver options make it a host directory" {
  docker volume create -o type=none -o o=bind -o device=/etc sly >/dev/null
  run refused mount.never . -u 1000:1000 --read-only --network none -v sly:/x
  docker volume rm -f sly >/dev/null
  echo "$output"
  [ "$status" -eq 0 ]
}

@test "refused: --network host" {
  refused namespace.host . -u 1000:1000 --read-only --network host
}

@test "refused: --pid host" {
  refused namespace.host . -u 1000:1000 --read-only --network none --pid host
}

@test "refused: --ipc host" {
  refused namespace.host . -u 1000:1000 --read-only --network none --ipc host
}

@test "refused: --uts host" {
  refused namespace.host . -u 1000:1000 --read-only --network none --uts host
}

@test "refused: --network container: of a container that has the host's network" {
  docker run --runtime=runc -d --name hostnet --network host bb sleep 100 >/dev/null
  run refused namespace.host . -u 1000:1000 --read-only --network container:hostnet
  docker rm -f hostnet >/dev/null
  echo "$output"
  [ "$status" -eq 0 ]
  nothing_left
}

@test "refused: --privileged" {
  refused capability.extra . -u 1000:1000 --read-only --network none --privileged
}

@test "refused: --cap-add SYS_ADMIN" {
  refused capability.extra SYS_ADMIN -u 1000:1000 --read-only --network none --cap-add SYS_ADMIN
}

@test "a refusal says that it is policy, and has no phrase that engines take for another error" {
  run docker run --runtime=agentrun --rm -u 0 -v /var/run/docker.sock:/s --network host bb true
  echo "$output"
  [ "$status" -eq 125 ]
  [[ $output == *policy* ]]
  ! grep -qiE 'permission denied|operation not permitted|no such file or directory|executable file not found' \
    <<<"$output"
}

@test "refused containers can be removed, and a correct one of the same name runs" {
  run docker run --runtime=agentrun --name twice --read-only --network none bb true
  [ "$status" -eq 125 ]
  docker rm twice
  run docker run --runtime=agentrun --rm --name twice -u 1000:1000 --read-only --network none bb echo fine
  echo "$output"
  [ "$status" -eq 0 ]
  [ "$output" = fine ]
}

# ---- The end

@test "after the whole run no process, mount, cgroup or state directory is left" {
  local left state
  docker_end "$(cat "$DOCKER_DIR/listener.pid")" 2
  busybox umount "$DOCKER_DIR/links/harmless.txt"
  [ -z "$(docker ps -aq)" ] || docker rm -f $(docker ps -aq)
  nothing_left
  state=$(find "$DOCKER_DIR"/exec/runtime* -mindepth 2 -maxdepth 2 2>/dev/null)
  [ -z "$state" ] || { echo "state directories: $state"; return 1; }
  docker_down || true
  left=$(docker_left_at_end)
  [ -z "$left" ] || { echo "$left"; return 1; }
}
