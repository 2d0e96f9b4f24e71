#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Times agentrun beside its peers and the floor (floor.c), in interleaved runs, and prints the medians
# as a table; then where the time of one run goes, and how many system calls each command makes.  Needs
# root, busybox, cc, jq and strace; runc and crun are left out where they are missing or can't run the
# configuration.
#   AGENTRUN=build/agentrun tests/bench/bench.sh [RUNS [CONFIG]]
# CONFIG in place of tests/integration/config.json: its mounts of files, hooks and paths are replaced.
set -euo pipefail

runs=${1:-40}
here=$(cd "$(dirname "$0")" && pwd)
config=${2:-$here/../integration/config.json}
: "${AGENTRUN:?the path of the agentrun to measure}"
[ "$(id -u)" = 0 ] || { echo "needs root" >&2; exit 1; }

dir=$(mktemp -d /var/lib/agentrun-bench.XXXXXX)
name=$(basename "$dir")
bundle=$dir/bundle
peers=()

# The words of a command line that runs the peer.
command_of ()
{
  case $1 in
    agentrun) echo "$AGENTRUN --root $dir/state-agentrun --policy builtin:default" ;;
    *) echo "$1 --root $dir/state-$1" ;;
  esac
}

clean_up ()
{
  local peer
  for peer in agentrun runc crun; do
    # shellcheck disable=SC2046 # words
    [ ! -d "$dir/state-$peer" ] || $(command_of "$peer") delete --force bench >/dev/null 2>&1 || true
  done
  rm -rf --one-file-system "$dir"
}
trap clean_up EXIT

make_bundle ()
{
  local applet
  mkdir -p "$bundle/rootfs"/{bin,dev,etc,proc,sys,tmp} "$dir/state-agentrun"
  chmod 755 "$dir"
  cp "$(command -v busybox)" "$bundle/rootfs/bin/busybox"
  for applet in true sleep; do ln -s busybox "$bundle/rootfs/bin/$applet"; done
  echo 'agent:x:1000:1000::/:/bin/sh' >"$bundle/rootfs/etc/passwd"
  # The last rule has a number of its own for each cold run.
  jq --arg c "/$name" 'del(.hooks) | .mounts |= map(select(.type != "bind"))
    | .root.path = "rootfs" | .linux.cgroupsPath = $c | .process.args = ["/bin/true"] | .process.cwd = "/"
    | del(.linux.resources.blockIO, .process.oomScoreAdj, .process.apparmorProfile)
    | .linux.seccomp.syscalls += [{names: ["personality"], action: "SCMP_ACT_ERRNO",
        args: [{index: 0, op: "SCMP_CMP_EQ", value: 1879048192}]}]' \
    "$config" >"$bundle/config.json"
  cp "$bundle/config.json" "$dir/true.json"
  jq '.process.args = ["/bin/sleep", "1000"]' "$dir/true.json" >"$dir/sleep.json"
}

# timed WORK WHO COMMAND...: one line "WORK WHO MICROSECONDS".
timed ()
{
  local work=$1 who=$2 from to
  shift 2
  from=$EPOCHREALTIME
  "$@" </dev/null >/dev/null 2>"$dir/stderr" || { echo "$who $work failed:" >&2; cat "$dir/stderr" >&2; exit 1; }
  to=$EPOCHREALTIME
  echo "$work $who $((${to/[.,]/} - ${from/[.,]/}))" >>"$dir/times"
}

create_start_delete ()
{
  "$@" create --bundle "$bundle" bench && "$@" start bench && "$@" delete --force bench
}

find_peers ()
{
  local peer command
  peers=(agentrun)
  for peer in runc crun; do
    if ! command -v "$peer" >/dev/null; then
      echo "$peer: not installed"
      continue
    fi
    read -ra command < <(command_of "$peer")
    if ! "${command[@]}" run --bundle "$bundle" bench </dev/null >/dev/null 2>"$dir/stderr"; then
      echo "$peer: left out: $(tail -n 1 "$dir/stderr" | tr -d '\n')"
    else
      peers+=("$peer")
    fi
  done
}

measure_runs ()
{
  local i peer command
  for ((i = 0; i < runs; i++)); do
    timed run floor "$dir/floor" "$bundle/rootfs"
    for peer in "${peers[@]}"; do
      read -ra command < <(command_of "$peer")
      timed run "$peer" "${command[@]}" run --bundle "$bundle" bench
      timed create+start+delete "$peer" create_start_delete "${command[@]}"
      timed version "$peer" "${command[0]}" --version
    done
    read -ra command < <(command_of agentrun)
    sed "s/1879048192/$((1879048193 + $$ % 65536 * 4096 + i))/" "$dir/true.json" >"$bundle/config.json"
    timed "run, profile not seen before" agentrun "${command[@]}" run --bundle "$bundle" bench
    cp "$dir/true.json" "$bundle/config.json"
  done
}

measure_running ()
{
  local i peer command
  cp "$dir/sleep.json" "$bundle/config.json"
  for peer in "${peers[@]}"; do
    read -ra command < <(command_of "$peer")
    "${command[@]}" create --bundle "$bundle" bench </dev/null >/dev/null 2>&1
    "${command[@]}" start bench
    for ((i = 0; i < runs; i++)); do
      timed exec "$peer" "${command[@]}" exec bench /bin/true
      timed state "$peer" "${command[@]}" state bench
      timed kill "$peer" "${command[@]}" kill bench CONT
    done
    "${command[@]}" delete --force bench
  done
  cp "$dir/true.json" "$bundle/config.json"
}

table ()
{
  sort -t ' ' "$dir/times" | awk '
    { n = NF; us = $n; who = $(n - 1); work = $0; sub(" " who " " us "$", "", work)
      key = work SUBSEP who; value[key, ++count[key]] = us; works[work]; whos[who] }
    function median (key,   i, j, v, t, m) {
      m = count[key]
      for (i = 1; i <= m; i++) v[i] = value[key, i]
      for (i = 2; i <= m; i++) for (j = i; j > 1 && v[j - 1] > v[j]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
      return v[int((m + 1) / 2)] }
    END {
      split("floor agentrun crun runc", order, " ")
      head = "| milliseconds (median) |"; rule = "|---|"
      for (i = 1; i <= 4; i++) if (order[i] in whos) { head = head " " order[i] " |"; rule = rule "---|" }
      print head; print rule
      for (work in works) {
        line = "| " work " |"
        for (i = 1; i <= 4; i++) if (order[i] in whos) {
          key = work SUBSEP order[i]
          line = line (key in count ? sprintf(" %.1f |", median(key) / 1000) : " |") }
        print line } }'
}

# The calls that begin a phase, in the order of a run; the tracer stops the program at these only.
phases ()
{
  local i command
  read -ra command < <(command_of agentrun)
  for ((i = 0; i < runs; i++)); do
    strace -f --seccomp-bpf -qq -ttt -o "$dir/trace" \
      -e trace=execve,execveat,landlock_create_ruleset,signalfd4,clone3,pivot_root,seccomp,waitid,exit_group \
      "${command[@]}" run --bundle "$bundle" bench </dev/null >/dev/null 2>&1
    awk '{ sub(/^[0-9]+ +/, "") } !/resumed/ { split($2, name, "("); print $1, name[1] }' "$dir/trace" >>"$dir/phases"
    echo "0 end" >>"$dir/phases"
  done
  awk '
    BEGIN {
      n = split("execve execveat landlock_create_ruleset signalfd4 clone3 pivot_root seccomp execve waitid exit_group", mark, " ")
      split("first start, until the program protects itself|second start, policy, load, parse, validate|" \
            "resolve, admit, plan|state, cgroups, seccomp program|init: namespaces, mounts, devices|" \
            "masks, device filter, start, identity|seccomp filter|the program itself|cgroups and state removed", text, "|")
      at = 1 }
    function median (key,   i, j, v, t, m) {
      m = count[key]
      for (i = 1; i <= m; i++) v[i] = value[key, i]
      for (i = 2; i <= m; i++) for (j = i; j > 1 && v[j - 1] > v[j]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
      return v[int((m + 1) / 2)] }
    $2 == "end" { at = 1; next }
    at == 1 && $2 == "execve" { last = $1; at = 2; next }
    at > 1 && at <= n && $2 == mark[at] { value[at - 1, ++count[at - 1]] = $1 - last; last = $1; at++ }
    END {
      print "| phase of `run` | microseconds (median) |"; print "|---|---|"
      for (i = 1; i < n; i++) if (count[i]) printf "| %s | %d |\n", text[i], median(i) * 1000000 }' "$dir/phases"
}

# One worker: its own bundle, one container after the other.
worker ()
{
  local i bundle=$1
  shift
  for ((i = 0; i < 13; i++)); do
    "$@" run --bundle "$bundle" "$(basename "$bundle")" </dev/null >/dev/null 2>&1 || echo "a run failed" >&2
  done
}

parallel ()
{
  local w peer command pids from to
  for w in 1 2 3 4 5 6 7 8; do
    mkdir "$dir/worker$w"
    cp -al "$bundle/rootfs" "$dir/worker$w/rootfs"
    jq --arg c "/$name-$w" '.linux.cgroupsPath = $c' "$dir/true.json" >"$dir/worker$w/config.json"
  done
  echo "| 8 workers | containers a second |"
  echo "|---|---|"
  for peer in "${peers[@]}"; do
    read -ra command < <(command_of "$peer")
    pids=()
    from=$EPOCHREALTIME
    for w in 1 2 3 4 5 6 7 8; do
      worker "$dir/worker$w" "${command[@]}" &
      pids+=($!)
    done
    wait "${pids[@]}"
    to=$EPOCHREALTIME
    echo "| $peer | $((104 * 1000000 / (${to/[.,]/} - ${from/[.,]/}))) |"
  done
}

calls_of ()
{
  strace -f -c -o "$dir/calls" "$@" </dev/null >/dev/null 2>&1
  awk '$NF == "total" { print $4 }' "$dir/calls"
}

calls ()
{
  local peer command runs_ exec_ state_ kill_ delete_
  echo "| system calls | run | exec | state | kill | delete |"
  echo "|---|---|---|---|---|---|"
  echo "| floor | $(calls_of "$dir/floor" "$bundle/rootfs") | | | | |"
  for peer in "${peers[@]}"; do
    read -ra command < <(command_of "$peer")
    runs_=$(calls_of "${command[@]}" run --bundle "$bundle" bench)
    cp "$dir/sleep.json" "$bundle/config.json"
    "${command[@]}" create --bundle "$bundle" bench </dev/null >/dev/null 2>&1
    cp "$dir/sleep.json" "$bundle/config.json"
    "${command[@]}" start bench
    exec_=$(calls_of "${command[@]}" exec bench /bin/true)
    state_=$(calls_of "${command[@]}" state bench)
    kill_=$(calls_of "${command[@]}" kill bench KILL)
    delete_=$(calls_of "${command[@]}" delete --force bench)
    cp "$dir/true.json" "$bundle/config.json"
    echo "| $peer | $runs_ | $exec_ | $state_ | $kill_ | $delete_ |"
  done
}

make_bundle
"${CC:-cc}" -O2 -static "$here/floor.c" -o "$dir/floor"
find_peers
measure_runs
measure_running
table
echo
parallel
echo
phases
echo
calls
