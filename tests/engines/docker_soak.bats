#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Containers and execs in a row through Docker: nothing may be left, and no daemon may grow with their number.
# AGENTRUN_SOAK is how many of each (default 60).  AGENTRUN is the binary under test.

bats_require_minimum_version 1.5.0
load docker.sh

COUNT=${AGENTRUN_SOAK:-60}

setup_file ()
{
  : "${AGENTRUN:?the path of the agentrun to test}"
  export BATS_TEST_TIMEOUT=$((120 + COUNT * 3))
  docker_up
}

teardown_file ()
{
  docker_down || true
}

HARDENED=(--runtime=agentrun -u 1000:1000 --read-only --network none)

# Descriptors and threads of process $1.
held ()
{
  printf '%s %s' "$(ls "/proc/$1/fd" | wc -l)" "$(ls "/proc/$1/task" | wc -l)"
}

# Anonymous memory in KiB: pages of a program are shared, or not, as other processes of it come and go.
anonymous ()
{
  awk '/^Anonymous:/ { print $2 }' "/proc/$1/smaps_rollup"
}

# What the daemons settle at: they close and end things a moment later.
settled ()
{
  local pid=$1 last='' now tries
  for tries in $(seq 50); do
    now=$(held "$pid")
    [ "$now" != "$last" ] || break
    last=$now
    sleep 0.2
  done
  echo "$now"
}

# as_before PID BEFORE: not more than BEFORE, but for a few connections that idle and threads that sat in a
# system call: one for each container or exec would be many more.
as_before ()
{
  local now
  now=$(held "$1")
  [ "${now% *}" -le $((${2% *} + 20)) ] && [ "${now#* }" -le $((${2#* } + 20)) ]
}

# grown NAME PID BEFORE KIB-BEFORE KIB-ALLOWED: fails if more is held than BEFORE.  Daemons close what they
# don't need any more in their own time.
grown ()
{
  local name=$1 pid=$2 before=$3 memory=$4 allowed=$5 after now
  engine_wait 30 as_before "$pid" "$before" || true
  after=$(settled "$pid")
  now=$(anonymous "$pid")
  echo "$name: descriptors and threads $before, then $after; anonymous memory $memory, then $now KiB"
  as_before "$pid" "$before"
  [ $((now - memory)) -le "$allowed" ]
}

in_a_row ()
{
  local i first=$1 last=$2 name out code
  for i in $(seq "$first" "$last"); do
    name="soak-$i"
    code=0
    out=$(docker run --rm --name "$name" "${HARDENED[@]}" bb sh -c "echo $i; exit $((i % 50 + 1))") || code=$?
    [ "$out $code" = "$i $((i % 50 + 1))" ] || { echo "container $i: $out $code"; return 1; }
  done
}

execs_in_a_row ()
{
  local i code
  for i in $(seq "$1" "$2"); do
    code=0
    out=$(docker exec soak sh -c "echo $i; exit $((i % 50 + 1))") || code=$?
    [ "$out $code" = "$i $((i % 50 + 1))" ] || { echo "exec $i: $out $code"; return 1; }
  done
}

@test "containers in a row" {
  local dockerd containerd before_d before_c kib_d kib_c warm=$((COUNT / 10 + 10))
  dockerd=$(cat "$DOCKER_DIR/daemon.pid") containerd=$(cat "$DOCKER_DIR/containerd.pid")
  in_a_row 1 "$warm"
  before_d=$(settled "$dockerd") before_c=$(settled "$containerd")
  kib_d=$(anonymous "$dockerd") kib_c=$(anonymous "$containerd")
  in_a_row $((warm + 1)) $((warm + COUNT))
  # The garbage of Go is collected when the heap has doubled: some MiB say nothing, some KiB a container do.
  grown dockerd "$dockerd" "$before_d" "$kib_d" $((20480 + COUNT * 8))
  grown containerd "$containerd" "$before_c" "$kib_c" $((20480 + COUNT * 8))
  run docker_left
  echo "$output"
  [ -z "$output" ]
}

@test "execs in a row" {
  local dockerd containerd shim before_d before_c before_s kib_d kib_c kib_s warm=$((COUNT / 10 + 10)) id
  dockerd=$(cat "$DOCKER_DIR/daemon.pid") containerd=$(cat "$DOCKER_DIR/containerd.pid")
  id=$(docker run -d --name soak "${HARDENED[@]}" bb sleep 100000)
  shim=$(engine_processes "$id" | awk '/containerd-shim/ { print $2 }' | head -n 1)
  execs_in_a_row 1 "$warm"
  before_d=$(settled "$dockerd") before_c=$(settled "$containerd") before_s=$(settled "$shim")
  kib_d=$(anonymous "$dockerd") kib_c=$(anonymous "$containerd") kib_s=$(anonymous "$shim")
  execs_in_a_row $((warm + 1)) $((warm + COUNT))
  # dockerd keeps a record of each exec until its container goes.
  grown dockerd "$dockerd" "$before_d" "$kib_d" $((20480 + COUNT * 16))
  grown containerd "$containerd" "$before_c" "$kib_c" $((20480 + COUNT * 8))
  grown shim "$shim" "$before_s" "$kib_s" $((8192 + COUNT * 4))
  [ "$(docker top soak | tail -n +2 | wc -l)" -eq 1 ]
  docker rm -f soak
  run docker_left
  echo "$output"
  [ -z "$output" ]
}
