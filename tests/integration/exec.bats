#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# exec: a process beside the container's own, and that it gets no more than that one.

load lib.bash

setup_file () { common_setup_file; }
teardown_file () { common_teardown_file; }
teardown () { common_teardown; }

setup ()
{
  common_setup
  script 'trap "exit 0" TERM; while :; do sleep 0.1; done'
}

up ()
{
  create && start "$ID"
}

down ()
{
  ar delete --force "$ID"
}

# A command in the container; status, output and stderr are set.
try ()
{
  run --separate-stderr ar exec "$@"
  printf 'status: %s\nstdout: %s\nstderr: %s\n' "$status" "$output" "$stderr"
}

process ()
{
  jq -n "$1" >"$T/process.json"
}

@test "runs as the container's user, in its namespaces and cgroups" {
  local ns pid
  up
  try "$ID" id -u
  [ "$output" = 1000 ]
  ar exec -d --pid-file "$T/pid" "$ID" sleep 100 </dev/null >/dev/null 2>&1
  pid=$(cat "$T/pid")
  [ "$(tr '\0' ' ' <"/proc/$pid/cmdline")" = "sleep 100 " ]
  for ns in pid net mnt ipc uts; do
    [ "$(readlink "/proc/$pid/ns/$ns")" = "$(readlink "/proc/$(pid_of "$ID")/ns/$ns")" ]
  done
  [ "$(cat "/proc/$pid/cgroup")" = "$(cat "/proc/$(pid_of "$ID")/cgroup")" ]
  down
  nothing_left
}

@test "exit codes: the program's, 128 + signal, 255 for exec's own failure" {
  up
  try "$ID" sh -c 'exit 7'
  [ "$status" -eq 7 ]
  try "$ID" sh -c 'kill -9 $$'
  [ "$status" -eq 137 ]
  try "$ID" nosuch
  [ "$status" -eq 255 ]
  [[ $stderr == *'exec: "nosuch": executable file not found in $PATH'* ]]
  try "$ID" /nosuch
  [ "$status" -eq 255 ]
  [[ $stderr == *'no such file or directory'* ]]
  try "$ID" /etc/plain
  [ "$status" -eq 255 ]
  [[ $stderr == *'permission denied'* ]]
  try unknown true
  [ "$status" -eq 255 ]
  [[ $stderr == *'does not exist'* ]]
  down
}

@test "one error line in the log, also with a terminal and a missing working directory" {
  up
  run ar_logged exec -t --cwd /missing "$ID" true
  [ "$status" -eq 255 ]
  [ "$(wc -l <"$LOG")" -eq 1 ]
  jq -e '.level == "error"' "$LOG"
  down
}

@test "streams are passed on" {
  up
  run --separate-stderr bash -c 'echo hello | "$@"' _ timeout 20 env "$MARK" "$AGENTRUN" --root "$ROOT" \
    "${POLICY[@]}" exec "$ID" sh -c 'cat; echo err >&2'
  [ "$output" = hello ]
  [ "$stderr" = err ]
  down
}

@test "a created container takes one, a stopped one does not" {
  create
  try "$ID" true
  [ "$status" -eq 0 ]
  start "$ID"
  ar kill "$ID" KILL
  wait_for 10 stopped "$ID"
  try "$ID" true
  [ "$status" -eq 255 ]
  [[ $stderr == *'container not running'* ]]
  down
}

@test "a paused container is refused at once; --ignore-paused waits for its end" {
  local pid
  up
  ar pause "$ID"
  try "$ID" true
  [ "$status" -eq 255 ]
  [[ $stderr == *paused* ]]
  ar exec --ignore-paused "$ID" echo late >"$T/out" 3>&- &
  pid=$!
  sleep 0.5
  [ ! -s "$T/out" ]
  ar resume "$ID"
  wait "$pid"
  [ "$(cat "$T/out")" = late ]
  down
}

@test "--env adds and replaces, keeping the rest" {
  edit '.process.env += ["FOO=config", "BAR=config"]'
  up
  try --env NEW=1 -e FOO=flag -e EMPTY= "$ID" sh -c 'echo $FOO,$BAR,$NEW,${EMPTY-unset},${PATH:+path}'
  [ "$output" = flag,config,1,,path ]
  try --env NOVALUE "$ID" true
  [ "$status" -eq 255 ]
  down
}

@test "the environment comes only from the config.json that was judged" {
  up
  edit '.process.env += ["EVIL=1"]'
  try "$ID" env
  [ "$status" -eq 255 ]
  [[ $stderr == *'was changed after create'* ]]
  process '{args: ["/bin/env"], cwd: "/", user: {uid: 1000, gid: 1000}, env: ["A=1"]}'
  try --process "$T/process.json" "$ID"
  [ "$status" -eq 0 ]
  [[ $output == *A=1* ]]
  down
}

@test "--user, --additional-gids, --cap, --cwd, --no-new-privs" {
  edit '.process.user.additionalGids = [77] | .process.noNewPrivileges = false'
  up
  try --user 5:6 -g 7 -g 8,9 --cwd /tmp --cap CAP_KILL --no-new-privs "$ID" \
    sh -c 'echo $(id -u) $(id -g) $(id -G); pwd; grep -E "CapBnd|CapInh|CapAmb|NoNew" /proc/self/status'
  [ "${lines[0]}" = "5 6 6 7 8 9" ]
  [ "${lines[1]}" = /tmp ]
  [[ $output == *"CapInh:"*0000000000000000* ]]
  [[ $output == *"CapBnd:"*0000000000000020* ]]
  [[ $output == *"CapAmb:"*0000000000000000* ]]
  [[ $output == *"NoNewPrivs:"*1* ]]
  try --user 5 "$ID" sh -c 'echo $(id -u) $(id -g) $(id -G)'
  [ "$output" = "5 1000 1000" ]
  try --cap CAP_KILLER "$ID" true
  [ "$status" -eq 255 ]
  [[ $stderr == *'--cap CAP_KILLER is no capability'* ]]
  try --cwd /nowhere "$ID" true
  [ "$status" -eq 255 ]
  [[ $stderr == *'chdir to process.cwd /nowhere: ENOENT'* ]]
  down
}

@test "users are numbers" {
  local user
  up
  for user in root 7x -1 4294967295 1: :1 1:x '' ' 1' 0x1; do
    try --user="$user" "$ID" true
    [ "$status" -eq 255 ]
    [ -z "$output" ]
    [[ $stderr == *--user* ]]
  done
  down
}

@test "--process: groups are its own, the container's no_new_privs, seccomp, rlimits and oom score hold" {
  edit '.process.noNewPrivileges = true | .process.oomScoreAdj = 300
    | .process.rlimits = [{type: "RLIMIT_NOFILE", soft: 100, hard: 200}, {type: "RLIMIT_CORE", soft: 0, hard: 0}]
    | .process.user.additionalGids = [77]
    | .linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["mkdir", "mkdirat"], action: "SCMP_ACT_ERRNO", errnoRet: 5}]}'
  up
  process '{args: ["/bin/sh", "-c", "id -G; grep NoNewPrivs /proc/self/status; ulimit -Sn; ulimit -Hn; ulimit -c; cat /proc/self/oom_score_adj; mkdir /tmp/x"],
    cwd: "/", env: ["PATH=/bin"], user: {uid: 1000, gid: 1000}, noNewPrivileges: false, oomScoreAdj: -5,
    rlimits: [{type: "RLIMIT_NOFILE", soft: 1000, hard: 2000}]}'
  try -p "$T/process.json" "$ID"
  [ "${lines[0]}" = 1000 ]
  [[ ${lines[1]} == *1 ]]
  [ "${lines[2]}" = 200 ]
  [ "${lines[3]}" = 200 ]
  [ "${lines[4]}" = 0 ]
  [ "${lines[5]}" = 300 ]
  [[ $stderr == *'Input/output error'* || $stderr == *'I/O error'* ]]
  down
}

@test "--process with what belongs in the file, or no command at all, is refused" {
  up
  process '{args: ["/bin/true"], cwd: "/", user: {uid: 1000, gid: 1000}}'
  try -p "$T/process.json" --user 5 "$ID"
  [ "$status" -eq 255 ]
  try -p "$T/process.json" "$ID" /bin/false
  [ "$status" -eq 255 ]
  try "$ID"
  [ "$status" -eq 255 ]
  echo '{"args": ["/bin/true"], "args": []}' >"$T/process.json"
  try -p "$T/process.json" "$ID"
  [ "$status" -eq 255 ]
  [[ $stderr == *json.duplicate* ]]
  down
}

@test "--cgroup: a group that only one hierarchy of v1 has is used there" {
  local dir pid
  up
  dir=$(find /sys/fs/cgroup -maxdepth 3 -type d -path "*/pids$CGROUP-$ID" | head -n 1)
  [ -n "$dir" ] || skip "the pids controller is not in a hierarchy of v1"
  mkdir "$dir/only"
  ar exec -d --pid-file "$T/pid" --cgroup only "$ID" sleep 100 </dev/null >/dev/null 2>&1
  pid=$(cat "$T/pid")
  [ "$(grep -c "$CGROUP-$ID/only\$" "/proc/$pid/cgroup")" -eq 1 ]
  [ "$(grep -c "$CGROUP-$ID\$" "/proc/$pid/cgroup")" -ge 2 ]
  run ! grep -v "$CGROUP-$ID" "/proc/$pid/cgroup"
  down
  nothing_left
}

@test "--cgroup stays below the container's own group" {
  local dir path pid
  up
  for path in .. ../.. /../x a/../../.. nosuch; do
    try --cgroup "$path" "$ID" true
    [ "$status" -eq 255 ]
  done
  find /sys/fs/cgroup -type d -path "*$CGROUP-$ID" | while read -r dir; do
    mkdir "$dir/sub"
    # A new v1 cpuset has neither processors nor memory.
    [ ! -e "$dir/cpuset.cpus" ] || { cat "$dir/cpuset.cpus" >"$dir/sub/cpuset.cpus"; cat "$dir/cpuset.mems" >"$dir/sub/cpuset.mems"; }
  done
  ar exec -d --pid-file "$T/pid" --cgroup sub "$ID" sleep 100 </dev/null >/dev/null 2>&1
  pid=$(cat "$T/pid")
  grep -F "$CGROUP-$ID" "/proc/$pid/cgroup"
  run ! grep -v "$CGROUP-$ID/sub\$" "/proc/$pid/cgroup"
  down
  nothing_left
}

@test "nothing of the host reaches the process" {
  up
  run --separate-stderr bash -c 'exec 7</ 8</etc/passwd; "$@"' _ timeout 20 env "$MARK" "$AGENTRUN" \
    --root "$ROOT" "${POLICY[@]}" exec "$ID" sh -c 'ls -l /proc/self/fd; env'
  echo "$output"
  [[ $output != *passwd* ]]
  [[ $output != *"-> /"$'\n'* ]]
  [[ $output != *"$T"* ]]
  [[ $output != *AGENTRUN* ]]
  down
}

@test "--preserve-fds passes exactly so many, and none that isn't open" {
  up
  echo three >"$T/3"
  run --separate-stderr bash -c 'exec 3<"$1" 4</etc/passwd; shift; "$@"' _ "$T/3" timeout 20 env "$MARK" \
    "$AGENTRUN" --root "$ROOT" "${POLICY[@]}" exec --preserve-fds 1 "$ID" sh -c 'cat <&3; ls /proc/self/fd'
  [ "${lines[0]}" = three ]
  [[ $output != *$'\n4\n5'* ]]
  run --separate-stderr bash -c 'exec 3<&- ; "$@"' _ timeout 20 env "$MARK" \
    "$AGENTRUN" --root "$ROOT" "${POLICY[@]}" exec --preserve-fds 3 "$ID" true
  [ "$status" -eq 255 ]
  down
}

@test "a namespace that the first process has made for itself is not entered" {
  # A first process that has gone on is the same as a record that tells of other namespaces.
  local type
  up
  for type in mount network pid; do
    cp "$ROOT/$ID/state.json" "$T/state.json"
    jq --arg t "$type" '(.namespaces[] | select(.type == $t) | .ino) += 100000' "$T/state.json" >"$ROOT/$ID/state.json"
    try "$ID" true
    [ "$status" -eq 255 ]
    [[ $stderr == *"has left the $type namespace"* ]]
    cp "$T/state.json" "$ROOT/$ID/state.json"
  done
  down
}

@test "signals are forwarded" {
  local pid code=0
  up
  ar_exec exec "$ID" sh -c 'trap "exit 9" TERM; echo up; while :; do sleep 0.05; done' </dev/null >"$T/out" 2>&1 3>&- &
  pid=$!
  wait_for 5 grep -q up "$T/out"
  kill -TERM "$pid"
  wait "$pid" || code=$?
  [ "$code" -eq 9 ]
  down
}

@test "fifty at once" {
  local i pids=()
  up
  for i in $(seq 50); do
    ar exec "$ID" true </dev/null >/dev/null 2>>"$T/err" 3>&- &
    pids+=($!)
  done
  for i in "${pids[@]}"; do wait "$i"; done
  cat "$T/err"
  down
  nothing_left
}

# ---- terminals

in_terminal ()
{
  local options=()
  while [ "$1" != -- ]; do options+=("$1"); shift; done
  shift
  run timeout 40 python3 "$BATS_TEST_DIRNAME/terminal.py" "${options[@]}" \
    env "$MARK" "$AGENTRUN" --root "$ROOT" "${POLICY[@]}" "$@"
  printf 'status: %s\n%s\n' "$status" "$(tail -n 20 <<<"$output")"
}

@test "exec -t in a terminal: size from the start, resize, exit code, modes restored" {
  up
  in_terminal -c -s 33x77 -w ready -r 40x99 -i 'go\n' -- \
    exec -t "$ID" sh -c 'tty; stty size; echo ready; read x; stty size; exit 5'
  [ "$status" -eq 5 ]
  [[ $output == *"/dev/pts/"* ]]
  [[ $output == *"33 77"* ]]
  [[ $output == *"40 99"* ]]
  [[ $output == *"modes restored"* ]]
  down
}

@test "exec -t loses no bytes, and ends though a background process keeps the terminal" {
  up
  in_terminal -- exec -t "$ID" sh -c 'seq 1 100000; echo END'
  [ "$status" -eq 0 ]
  [ "$output" = "$(seq 1 100000; echo END)" ]
  in_terminal -- exec -t "$ID" sh -c 'sleep 5 & echo END'
  [ "$status" -eq 0 ]
  [[ $output == *END* ]]
  down
}

@test "exec -t without a terminal of the caller's ends at the end of its input" {
  up
  run bash -c 'printf "one\ntwo" | "$@"' _ timeout 20 env "$MARK" "$AGENTRUN" --root "$ROOT" "${POLICY[@]}" \
    exec -t "$ID" sh -c 'stty -echo; cat; echo; echo done'
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *done* ]]
  try -t -d "$ID" true
  [ "$status" -eq 255 ]
  [[ $stderr == *console-socket* ]]
  down
}

@test "run with a terminal and no console socket" {
  edit '.process.terminal = true'
  script 'tty; stty size; echo ready; read x; stty size; exit 6'
  in_terminal -c -s 30x70 -w ready -r 41x98 -i 'go\n' -- run -b "$BUNDLE" "$ID"
  [ "$status" -eq 6 ]
  [[ $output == *"30 70"* ]]
  [[ $output == *"41 98"* ]]
  [[ $output == *"modes restored"* ]]
  nothing_left
}

# ---- the policy

default ()
{
  POLICY=(--policy builtin:default)
  edit '.root.readonly = true'
}

@test "builtin:default: the container's user is admitted, root and privileges are refused" {
  default
  up
  try "$ID" id -u
  [ "$output" = 1000 ]
  process '{args: ["/bin/id"], cwd: "/", env: ["PATH=/bin"], user: {uid: 1000, additionalGids: [0]}}'
  try -p "$T/process.json" "$ID"
  [[ $output == "uid=1000(agent) gid=1000(agent)" ]]
  try --user 0 "$ID" id
  [ "$status" -eq 255 ]
  [[ $stderr == *user.root* && $stderr == *exec.process* && $stderr == *'runs as 1000:1000'* ]]
  try --user 1001:1001 "$ID" id
  [ "$status" -eq 255 ]
  [[ $stderr == *exec.process* ]]
  try --cap CAP_SYS_ADMIN "$ID" id
  [ "$status" -eq 255 ]
  [[ $stderr == *capability.extra* ]]
  try -g 99 "$ID" id
  [ "$status" -eq 255 ]
  [[ $stderr == *'supplementary group 99'* ]]
  try --apparmor unconfined "$ID" id
  [ "$status" -eq 255 ]
  [[ $stderr == *lsm.unconfined* ]]
  try --cwd /proc/self "$ID" id
  [ "$status" -eq 255 ]
  [[ $stderr == *process.cwd* ]]
  run ! grep -qiE 'permission denied|operation not permitted|no such file or directory' <<<"$stderr"
  down
}

@test "check --process prints the verdict of an exec" {
  default
  up
  process '{args: ["/bin/id"], cwd: "/", env: ["PATH=/bin"], user: {uid: 0, gid: 0}}'
  run --separate-stderr ar check --format json --process "$T/process.json" "$ID"
  [ "$status" -eq 3 ]
  jq -e '.verdict == "denied" and any(.findings[]; .rule == "exec.process" and .action == "reject")' <<<"$output"
  process '{args: ["/bin/id"], cwd: "/", env: ["PATH=/bin"], user: {uid: 1000, gid: 1000}}'
  run ar check --process "$T/process.json" "$ID"
  [ "$status" -eq 0 ]
  down
}

@test "exec.allow, exec.users and exec.commands of a policy file" {
  default
  up
  jq -n '{version: 1, never: [], exec: {allow: false}}' >"$T/policy.json"
  POLICY=(--policy "$T/policy.json")
  try "$ID" id
  [ "$status" -eq 255 ]
  [[ $stderr == *'allows no process'* ]]
  jq -n '{version: 1, never: [], exec: {users: ["same", 1001], commands: ["/bin/id", ["/bin/sh", "-c", "echo ok"]]}}' >"$T/policy.json"
  try --user 1001:1001 "$ID" /bin/id -u
  [ "$output" = 1001 ]
  try "$ID" /bin/sh -c 'echo ok'
  [ "$output" = ok ]
  try "$ID" /bin/sh -c 'echo no'
  [ "$status" -eq 255 ]
  [[ $stderr == *exec.commands* ]]
  jq -n '{version: 1, never: [], exec: {users: ["root"], commands: [1]}}' >"$T/policy.json"
  try "$ID" true
  [ "$status" -eq 255 ]
  [[ $stderr == *exec/users/0* ]]
  POLICY=(--policy builtin:default)
  down
}
