#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# update: from a file, from standard input and by flags; what is left alone; what the policy refuses.

load lib.bash

setup_file () { common_setup_file; }
teardown_file () { common_teardown_file; }
setup () { common_setup; }
teardown () { common_teardown; }

# knob CONTROLLER V1-FILE V2-FILE: the content of the one that this host has.
knob ()
{
  if [ -e "/sys/fs/cgroup/$1$CGROUP-$ID/$2" ]; then
    cat "/sys/fs/cgroup/$1$CGROUP-$ID/$2"
  else
    cat "/sys/fs/cgroup$CGROUP-$ID/$3"
  fi
}

memory () { knob memory memory.limit_in_bytes memory.max; }
pids () { knob pids pids.max pids.max; }

# "QUOTA PERIOD", "max" for none.
cpu ()
{
  if [ -e "/sys/fs/cgroup/cpu$CGROUP-$ID" ]; then
    echo "$(knob cpu cpu.cfs_quota_us -) $(knob cpu cpu.cfs_period_us -)" | sed 's/^-1/max/'
  else
    knob - - cpu.max
  fi
}

recorded () { jq -c ".plan.cgroup.resources$1" "$ROOT/$ID/state.json"; }

sleeper ()
{
  args /bin/sleep 100
  create
  start
}

done_with ()
{
  ar delete --force "$ID"
  nothing_left
}

# denied PATTERN COMMAND...: ends with 1 and one line in the log that matches.
denied ()
{
  local pattern=$1
  shift
  rm -f "$LOG"
  try_create ar_logged "$@"
  [ "$status" -eq 1 ] || return 1
  [ "$(wc -l <"$LOG")" -eq 1 ] || return 1
  jq -r .msg "$LOG" | tee "$T/message"
  grep -qE -- "$pattern" "$T/message"
}

# denied_document PATTERN JSON
denied_document ()
{
  printf '%s' "$2" >"$T/refused"
  denied "$1" update --resources "$T/refused" "$ID"
}

@test "a document from a file, from standard input in both spellings, from a pipe" {
  sleeper
  echo '{"pids": {"limit": 31}}' >"$T/resources"
  run ar update --resources="$T/resources" "$ID"
  [ "$status" -eq 0 ]
  [ -z "$output" ]
  [ "$(pids)" = 31 ]
  ar update --resources - "$ID" <<<'{"pids": {"limit": 32}}'
  [ "$(pids)" = 32 ]
  ar update --resources=- "$ID" <<<'{"pids": {"limit": 33}}'
  [ "$(pids)" = 33 ]
  ar update -r <(sleep 0.2; echo '{"pids": {"limit": 34}}') "$ID"
  [ "$(pids)" = 34 ]
  [ "$(recorded .pids.limit)" = 34 ]
  done_with
}

@test "what an engine sends for 'no change' changes nothing" {
  sleeper
  local before after
  before="$(memory) $(cpu) $(pids) $(recorded '| [.memory, .cpu, .pids]')"
  ar update --resources - "$ID" <<<'{"memory":{"limit":0,"reservation":0,"kernel":0},
    "cpu":{"shares":0,"quota":0,"period":0},"blockIO":{"weight":0},"pids":{"limit":0},
    "devices":[{"allow":false,"access":"rwm"}]}'
  after="$(memory) $(cpu) $(pids) $(recorded '| [.memory, .cpu, .pids]')"
  echo "$before"
  echo "$after"
  [ "$before" = "$after" ]
  done_with
}

@test "each flag reaches its file, and one leaves the others alone" {
  sleeper
  ar update --memory 64m "$ID"
  [ "$(memory)" = 67108864 ]
  [ "$(pids)" = 64 ]
  ar update --pids-limit 16 "$ID"
  [ "$(pids)" = 16 ]
  [ "$(memory)" = 67108864 ]
  ar update --cpu-quota 20000 "$ID"
  [ "$(cpu)" = "20000 100000" ]
  ar update --cpu-period 50000 "$ID"
  [ "$(cpu)" = "20000 50000" ]
  ar update --cpu-quota -1 "$ID"
  [ "$(cpu)" = "max 50000" ]
  ar update --memory-reservation 33554432 --cpu-shares 512 --cpuset-cpus 0 "$ID"
  [ "$(knob cpuset cpuset.cpus cpuset.cpus)" = 0 ]
  [ "$(recorded .cpu.shares)" = 512 ]
  [ "$(recorded .memory.reservation)" = 33554432 ]
  [ "$(recorded .memory.limit)" = 67108864 ]
  done_with
}

@test "memory and swap move in either direction, in the order that the kernel wants" {
  sleeper
  ar update --memory 64m --memory-swap 64m "$ID"
  [ "$(memory)" = 67108864 ]
  ar update --memory 256m --memory-swap 256m "$ID"
  [ "$(memory)" = 268435456 ]
  ar update --memory 32m --memory-swap 32m "$ID"
  [ "$(memory)" = 33554432 ]
  done_with
}

@test "the limit holds: no process beyond the new number" {
  script 'trap : USR1; read x </tmp/never 2>/dev/null; while :; do sleep 0.1; done'
  create
  start
  ar update --pids-limit 1 "$ID"
  sleep 0.5
  [ "$(ar ps -f json "$ID" | jq length)" -le 2 ]
  [ "$(grep -c 'max [1-9]' "$(cgroup_dir pids)/pids.events")" -eq 1 ]
  done_with
}

@test "after many updates /dev/null is still there" {
  script 'while :; do echo >/dev/null || exit 9; sleep 0.02; done'
  create
  start
  for _ in $(seq 12); do
    ar update --resources - "$ID" <<<'{"pids":{"limit":50},"devices":[{"allow":false,"access":"rwm"}]}'
  done
  [ "$(state_of "$ID")" = running ]
  done_with
}

@test "created and paused containers can be updated, stopped and unknown ones not" {
  args /bin/sleep 100
  create
  ar update --pids-limit 20 "$ID"
  start
  ar pause "$ID"
  ar update --pids-limit 21 "$ID"
  [ "$(pids)" = 21 ]
  [ "$(state_of "$ID")" = paused ]
  ar resume "$ID"
  ar kill "$ID" KILL
  wait_for 5 stopped "$ID"
  denied "container not running" update --pids-limit 22 "$ID"
  ar delete "$ID"
  denied "does not exist" update --pids-limit 22 "$ID"
}

@test "what makes no sense is refused and changes nothing" {
  sleeper
  denied_document "json.type" '{"pids": {"limit": "32"}}'
  denied_document "json.syntax" '{"pids": {"limit": 32'
  denied_document "json.syntax" ''
  denied_document "json.case" '{"Pids": {"limit": 32}}'
  denied "below memory.limit" update --memory 64m --memory-swap 32m "$ID"
  denied "nothing to change" update "$ID"
  denied "can't be combined" update --resources "$T/refused" --pids-limit 5 "$ID"
  denied "pids-limit: many" update --pids-limit many "$ID"
  denied "memory: 12q" update --memory 12q "$ID"
  denied "memory: 9999999999t" update --memory 9999999999t "$ID"
  denied "kernel memory" update --kernel-memory 32m "$ID"
  denied "neither a regular file nor a pipe" update --resources /dev/zero "$ID"
  denied "nowhere" update --resources "$T/nowhere" "$ID"
  [ "$(pids)" = 64 ]
  [ "$(memory)" = 134217728 ]
  done_with
}

@test "an update that the kernel refuses half-way is taken back" {
  sleeper
  denied "cpuset" update --memory 64m --cpuset-cpus 4095 "$ID"
  [ "$(memory)" = 134217728 ]
  [ "$(recorded .memory.limit)" = 134217728 ]
  done_with
}

# ---- update.limit ----

default_policy ()
{
  POLICY=(--policy builtin:default)
  edit '.process.rlimits += [{type: "RLIMIT_CORE", soft: 1, hard: 1}]'
}

@test "builtin:default lets limits move within the policy's maximum; swap follows" {
  default_policy
  sleeper
  ar update --memory 1g "$ID"
  [ "$(memory)" = 1073741824 ]
  [ "$(recorded .memory.swap)" = 1073741824 ]
  ar update --memory 64m "$ID"
  [ "$(recorded .memory.swap)" = 67108864 ]
  [ "$(knob memory memory.memsw.limit_in_bytes - 2>/dev/null || echo 67108864)" = 67108864 ]
  ar update --pids-limit 4096 --cpu-quota 800000 "$ID"
  [ "$(pids)" = 4096 ]
  done_with
}

@test "beyond it, and without a limit, is denied in one line" {
  default_policy
  sleeper
  denied '^agentrun: denied by policy builtin:default: update.limit: .*maximum' \
    update --memory 9g "$ID"
  denied 'update.limit: .*lifted' update --memory -1 "$ID"
  denied 'update.limit: .*lifted.*Fix: set --pids-limit' update --pids-limit -1 "$ID"
  denied 'update.limit' update --pids-limit 4097 "$ID"
  denied 'update.limit' update --cpu-quota -1 "$ID"
  denied 'update.limit' update --cpu-quota 900000 "$ID"
  denied 'update.limit' update --cpu-rt-runtime 1000 "$ID"
  denied_document 'update.limit' '{"devices":[{"allow":true,"access":"rwm"}]}'
  denied_document 'update.limit' '{"unified":{"memory.max":"max"}}'
  run ! grep -iE 'permission denied|operation not permitted|no such file' "$T/message"
  [ "$(pids)" = 64 ]
  [ "$(memory)" = 134217728 ]
  ar update --resources - "$ID" <<<'{"pids":{"limit":9},"devices":[{"allow":false,"access":"rwm"}]}'
  [ "$(pids)" = 9 ]
  done_with
}

@test "a policy file's own maximum holds, and update.limit can be switched off" {
  default_policy
  sleeper
  echo '{"version": 1, "extends": "builtin:default", "never": [], "limits": {"pids": {"max": 80, "default": 10}}}' \
    >"$T/policy.json"
  POLICY=(--policy "$T/policy.json")
  ar update --pids-limit 80 "$ID"
  denied 'maximum of 80' update --pids-limit 81 "$ID"
  jq '.rules = {"update.limit": "off"}' "$T/policy.json" >"$T/policy2.json"
  POLICY=(--policy "$T/policy2.json")
  ar update --pids-limit 81 "$ID"
  [ "$(pids)" = 81 ]
  done_with
}

@test "check --resources says the same and changes nothing" {
  default_policy
  sleeper
  echo '{"pids": {"limit": -1}}' >"$T/resources"
  run ar check --format json --resources "$T/resources" "$ID"
  [ "$status" -eq 3 ]
  [ "$(jq -r .verdict <<<"$output")" = denied ]
  [ "$(jq -r '.findings[0] | .rule + " " + .pointer' <<<"$output")" = \
    "update.limit /linux/resources/pids/limit" ]
  run ar check --resources - "$ID" <<<'{"pids": {"limit": 12}}'
  [ "$status" -eq 0 ]
  [ "$(pids)" = 64 ]
  run --separate-stderr ar check --format json --resources "$T/resources" nobody
  [ "$status" -eq 1 ]
  [ "$(jq -r .verdict <<<"$output")" = error ]
  done_with
}

@test "the schemata of a resctrl group: a container without one, a line that is none, a policy that has none" {
  script 'sleep 60'
  create
  start
  local flag
  for flag in --l3-cache-schema=L3:0=f --mem-bw-schema=MB:0=20; do
    run --separate-stderr ar update "$flag" "$ID"
    echo "$stderr"
    [ "$status" -eq 1 ]
    [[ $stderr == *"has no resctrl group"* ]]
    run --separate-stderr ar --policy builtin:default update "$flag" "$ID"
    echo "$stderr"
    [ "$status" -eq 1 ]
    [[ $stderr == *"scheduling.special: "* ]]
  done
  for flag in --l3-cache-schema=MB:0=20 --l3-cache-schema=L3 $'--mem-bw-schema=MB:0=20\nL3:0=f' --mem-bw-schema=; do
    run --separate-stderr ar update "$flag" "$ID"
    [ "$status" -eq 1 ]
    [[ $stderr == *"is not a line such as"* ]]
  done
  run --separate-stderr ar update --resources "$T/none" --l3-cache-schema=L3:0=f "$ID"
  [[ $stderr == *"can't be combined"* ]]
  ar delete --force "$ID"
  nothing_left
}
