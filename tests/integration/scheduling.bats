#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# process.scheduler, ioPriority, execCPUAffinity, linux.memoryPolicy and linux.personality, as the
# process itself sees them; for an exec as well.

load lib.bash

setup_file () { common_setup_file; }
teardown_file () { common_teardown_file; }
setup () { common_setup; }
teardown () { common_teardown; }

# nice value and number of the policy (proc(5), stat), machine, processors
seen='cut -d" " -f19,41 /proc/self/stat; uname -m; grep Cpus_allowed_list /proc/self/status'

# The first processor that this machine lets us use.
first_cpu ()
{
  sed -n 's/^Cpus_allowed_list:[[:space:]]*\([0-9]*\).*/\1/p' /proc/self/status
}

@test "scheduler, I/O priority and execution domain of the container, and of an exec by flags" {
  edit '.process.scheduler = {policy: "SCHED_BATCH", nice: 7}
    | .process.ioPriority = {class: "IOPRIO_CLASS_BE", priority: 6} | .linux.personality = {domain: "LINUX32"}'
  script "$seen; exec sleep 100"
  ar create -b "$BUNDLE" "$ID" </dev/null >"$T/out" 2>&1
  start
  wait_for 30 grep -q Cpus_allowed "$T/out"
  run ionice -p "$(pid_of "$ID")"
  [ "$output" = "best-effort: prio 6" ]
  run --separate-stderr ar exec "$ID" sh -c "$seen"
  echo "$output $stderr $(cat "$T/out")"
  ar delete --force "$ID"
  [ "$output" = "$(cat "$T/out")" ]
  [[ $output == "7 3"$'\n'* ]]
  [[ $output != *x86_64* ]]
}

@test "nothing is inherited from a caller that is niced, pinned and in another execution domain" {
  script "$seen"
  run --separate-stderr nice -n 5 setarch i686 taskset -c "$(first_cpu)" \
    env "$MARK" "$AGENTRUN" --root "$ROOT" "${POLICY[@]}" run -b "$BUNDLE" "$ID"
  echo "$output $stderr"
  [ "$status" -eq 0 ]
  [[ $output == "0 0"$'\n'"$(uname -m)"$'\n'* ]]
  [ "${lines[2]}" = "$(grep Cpus_allowed_list /proc/self/status)" ]
}

@test "a policy that needs rights over the host, in a user namespace" {
  as_root
  edit '.linux.namespaces += [{type: "user"}] | .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 1000}]
    | .linux.gidMappings = .linux.uidMappings | .process.scheduler = {policy: "SCHED_OTHER", nice: -3}'
  chown -R 100000:100000 "$BUNDLE/rootfs/home"
  in_container "$seen"
  [ "${lines[0]}" = "-3 0" ]
}

@test "the affinity of an exec, before and after its cgroup" {
  local cpu
  cpu=$(first_cpu)
  script 'sleep 100'
  edit '.process.execCPUAffinity = {initial: $c, final: $c}' --arg c "$cpu"
  create
  start
  run --separate-stderr ar exec "$ID" sh -c "$seen"
  echo "$output $stderr"
  ar delete --force "$ID"
  [[ $output == *"Cpus_allowed_list:"$'\t'"$cpu" ]]
}

@test "a memory policy" {
  edit '.linux.memoryPolicy = {mode: "MPOL_BIND", nodes: "0", flags: ["MPOL_F_STATIC_NODES"]}'
  in_container 'cat /proc/self/numa_maps'
  [ "$status" -eq 0 ]
  [[ $output == *"bind=static:0 "* ]]
  edit '.linux.memoryPolicy = {mode: "MPOL_BIND", nodes: "1000"}'
  create_fails 'linux.memoryPolicy MPOL_BIND'
}

@test "what makes no sense is refused by name" {
  edit '.process.scheduler = {policy: "SCHED_OTHER", priority: 5}'
  create_fails 'process.scheduler SCHED_OTHER has a priority'
  edit 'del(.process.scheduler) | .process.ioPriority = {class: "IOPRIO_CLASS_BE", priority: 9}'
  create_fails 'I/O priority 9'
}

@test "builtin:default refuses what puts a container before others" {
  POLICY=(--policy builtin:default)
  edit '.process.scheduler = {policy: "SCHED_OTHER", nice: -1}'
  create_fails 'scheduling.special'
  edit '.process.scheduler = {policy: "SCHED_BATCH"} | .linux.memoryPolicy = {mode: "MPOL_LOCAL"}'
  create_fails 'scheduling.special'
}
