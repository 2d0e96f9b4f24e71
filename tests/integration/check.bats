#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# agentrun check and agentrun policy: output and exit codes.

load lib.bash

setup_file () { common_setup_file; }
teardown_file () { common_teardown_file; }
teardown () { common_teardown; }

setup ()
{
  common_setup
  POLICY=(--policy builtin:default)
}

@test "check of a good bundle: admitted, exit code 0" {
  run --separate-stderr ar check "$BUNDLE"
  echo "$output"
  [ "$status" -eq 0 ]
  [[ ${lines[0]} == "admitted by policy builtin:default"* ]]
  [ -z "$stderr" ]
}

@test "check of a bad bundle: denied, every reason with a fix, exit code 3" {
  as_root
  edit '.root.readonly = false | .linux.namespaces |= map(select(.type != "network"))'
  run --separate-stderr ar check "$BUNDLE"
  echo "$output"
  [ "$status" -eq 3 ]
  [[ ${lines[0]} == "denied by policy builtin:default"* ]]
  local rule
  for rule in user.root rootfs.readonly namespace.host; do
    [[ $output == *$rule* ]]
  done
  [ "$(grep -c 'fix:' <<<"$output")" -ge 3 ]
}

@test "check --format json has the members that the contract names" {
  as_root
  run --separate-stderr ar check --format json "$BUNDLE"
  echo "$output"
  [ "$status" -eq 3 ]
  [ "$(jq -r .verdict <<<"$output")" = denied ]
  [ "$(jq -r .policy.name <<<"$output")" = builtin:default ]
  [ "$(jq -r .policy.mode <<<"$output")" = enforce ]
  [[ $(jq -r .policy.digest <<<"$output") =~ ^sha256:[0-9a-f]{64}$ ]]
  [ "$(jq -r .config.digest <<<"$output")" = "sha256:$(sha256sum <"$BUNDLE/config.json" | cut -d' ' -f1)" ]
  jq -e '.findings[] | select(.rule == "user.root") | .action == "reject" and .pointer == "/process/user/uid" and (.message | length > 0) and (.fix | length > 0)' <<<"$output"
  jq -e '[.findings[] | select(.action == "tighten") | has("old") and has("new") and .applied == true] | all' <<<"$output"
}

@test "check of something that is no bundle: error, exit code 1" {
  run --separate-stderr ar check --format json "$T/nowhere"
  echo "$output"
  [ "$status" -eq 1 ]
  [ "$(jq -r .verdict <<<"$output")" = error ]
  [[ $(jq -r .message <<<"$output") == *"$T/nowhere"* ]]
}

@test "check makes nothing and changes nothing" {
  local before
  before=$(find "$T" | sort; cat /proc/self/mountinfo; find /sys/fs/cgroup -maxdepth 2 -type d -name '*agentrun-test*')
  bind "$T" /mnt ro
  before=$(find "$T" | sort; find "$BUNDLE" -newer "$BUNDLE/config.json")
  run ar check "$BUNDLE"
  [ "$before" = "$(find "$T" | sort; find "$BUNDLE" -newer "$BUNDLE/config.json")" ]
  nothing_left
}

@test "check --plan shows the plan that would run" {
  run --separate-stderr ar check --format json --plan "$BUNDLE"
  echo "$output" | head -c 3000
  [ "$status" -eq 0 ]
  jq -e '.plan | type == "object"' <<<"$output"
}

@test "check and create agree" {
  local filter
  for filter in . '.process.user.uid = 0' '.root.readonly = false' 'del(.linux.seccomp)' \
    '.process.capabilities.bounding = ["CAP_SYS_ADMIN"]' '.process.noNewPrivileges = false' \
    '.linux.namespaces |= map(select(.type != "pid"))' '.mounts += [{destination: "/x", type: "bind", source: "/etc", options: ["bind"]}]'; do
    edit "$filter"
    local verdict=0 created=0
    ar check "$BUNDLE" >/dev/null || verdict=$?
    try_create ar create -b "$BUNDLE" "$ID"
    created=$status
    [ "$created" -ne 0 ] || ar delete --force "$ID"
    echo "$filter: check $verdict, create $created"
    [ "$verdict/$created" = 0/0 ] || [ "$verdict/$created" = 3/1 ]
    cp "$BATS_TEST_DIRNAME/config.json" "$BUNDLE/config.json"
    edit '.linux.cgroupsPath = $c' --arg c "$CGROUP-$ID"
  done
}

@test "policy show prints the policy in force as JSON, for each profile" {
  local name
  for name in default strict permissive; do
    run --separate-stderr "$AGENTRUN" --policy "builtin:$name" policy show
    [ "$status" -eq 0 ]
    jq -e '.version == 1 and (.rules | type == "object")' <<<"$output"
  done
  [ "$("$AGENTRUN" --policy builtin:strict policy show | jq -r '.rules["user.gid-zero"]')" = reject ]
  [ "$("$AGENTRUN" --policy builtin:default policy show | jq -r '.rules["user.gid-zero"]')" = tighten ]
}

@test "what policy show prints is a valid policy file" {
  "$AGENTRUN" --policy builtin:default policy show >"$T/policy.json"
  run "$AGENTRUN" policy validate "$T/policy.json"
  echo "$output"
  [ "$status" -eq 0 ]
}

@test "an unknown profile is refused" {
  run "$AGENTRUN" --policy builtin:nonsense policy show
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *nonsense* ]]
}

@test "policy explain: a text for every rule, an error for an unknown one" {
  local rule n=0
  for rule in $("$AGENTRUN" policy explain | cut -d' ' -f1); do
    run "$AGENTRUN" policy explain "$rule"
    [ "$status" -eq 0 ]
    [[ $output == *docker* ]]
    n=$((n + 1))
  done
  [ "$n" -ge 40 ]
  run "$AGENTRUN" policy explain no.such-rule
  [ "$status" -eq 1 ]
}

@test "every rule that a finding names can be explained" {
  as_root
  edit '.root.readonly = false | .linux.namespaces = [{type: "mount"}] | del(.linux.seccomp) | .process.capabilities.bounding = ["CAP_SYS_ADMIN"]'
  local rule
  for rule in $(ar check --format json "$BUNDLE" | jq -r '.findings[].rule' | sort -u); do
    "$AGENTRUN" policy explain "$rule" >/dev/null
  done
}

@test "a named volume that a running container may write is a warning, and one that has ended is none" {
  mkdir -p "$T/engine/volumes/v/_data"
  chmod 777 "$T/engine/volumes/v/_data"
  jq -n --arg s "$T/engine" '{version: 1, never: [], engines: {state: [$s]}}' >"$T/policy.json"
  chmod 644 "$T/policy.json"
  POLICY=(--policy "$T/policy.json")
  warned () { ar check --format json "$BUNDLE" | jq -r '.findings[] | select(.rule == "mount.shared-writer") | .message'; }
  bind "$T/engine/volumes/v/_data" /data rw
  script 'sleep 60'
  [ -z "$(warned)" ]
  create
  start "$ID"
  new_bundle second
  bind "$T/engine/volumes/v/_data" /data ro
  [[ $(warned) == "the volume $T/engine/volumes/v/_data is mounted writable by the running container main: "* ]]
  ar kill main KILL
  wait_for 10 stopped main
  [ -z "$(warned)" ]
  ar delete main
}
