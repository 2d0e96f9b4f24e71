#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# list: what is there, in each form, also when a record is broken or vanishes meanwhile.

load lib.bash

setup_file () { common_setup_file; }
teardown_file () { common_teardown_file; }
setup () { common_setup; }
teardown () { common_teardown; }

sleeper ()
{
  args /bin/sleep 100
  create
  start
}

@test "list of nothing: no containers, or no state root at all" {
  run ar list --format json
  [ "$status" -eq 0 ]
  [ "$output" = "[]" ]
  sleeper
  ar delete --force "$ID"
  run ar list -f json
  [ "$status" -eq 0 ]
  [ "$output" = "[]" ]
  run ar list -q
  [ "$status" -eq 0 ]
  [ -z "$output" ]
}

@test "the JSON has what state says, and created, rootfs and owner" {
  sleeper
  local json
  json=$(ar list --format json)
  echo "$json"
  [ "$(jq length <<<"$json")" -eq 1 ]
  [ "$(jq -r '.[0].id' <<<"$json")" = "$ID" ]
  [ "$(jq -r '.[0].pid' <<<"$json")" = "$(pid_of "$ID")" ]
  [ "$(jq -r '.[0].status' <<<"$json")" = running ]
  [ "$(jq -r '.[0].bundle' <<<"$json")" = "$BUNDLE" ]
  [ "$(jq -r '.[0].rootfs' <<<"$json")" = "$BUNDLE/rootfs" ]
  [ "$(jq -r '.[0].owner' <<<"$json")" = root ]
  date -d "$(jq -r '.[0].created' <<<"$json")"
  ar delete --force "$ID"
}

@test "the table has a line for each, --quiet the ids alone; sorted" {
  sleeper
  new_bundle another
  args /bin/true
  create
  start
  wait_for 5 stopped another
  run ar list
  echo "$output"
  [ "${#lines[@]}" -eq 3 ]
  [[ ${lines[0]} == ID* ]]
  [[ ${lines[1]} == another*" 0 "*stopped*"$T/another" ]]
  [[ ${lines[2]} == main*"$(pid_of main)"*running*"$T/main" ]]
  run ar list --quiet
  [ "$output" = $'another\nmain' ]
  ar delete another
  ar delete --force main
}

@test "paused and created containers are listed as such" {
  args /bin/sleep 100
  create
  [ "$(ar list -f json | jq -r '.[0].status')" = created ]
  start
  ar pause "$ID"
  [ "$(ar list -f json | jq -r '.[0].status')" = paused ]
  ar resume "$ID"
  ar delete --force "$ID"
}

@test "a broken record is shown and the others all the same" {
  sleeper
  mkdir "$ROOT/empty" "$ROOT/cut"
  head -c 100 "$ROOT/$ID/state.json" >"$ROOT/cut/state.json"
  chmod 600 "$ROOT/cut/state.json"
  run ar list -f json
  echo "$output"
  [ "$status" -eq 0 ]
  [ "$(jq -r 'map(.id + "=" + .status) | join(" ")' <<<"$output")" = \
    "cut=broken empty=broken main=running" ]
  [ "$(jq -r '.[0].problem | length' <<<"$output")" -gt 10 ]
  run ar delete --force cut # whose process and cgroups nobody could name
  [ "$status" -eq 1 ]
  [[ $output == *"state.json is damaged"* ]]
  rm -r "$ROOT/cut"
  ar delete --force empty
  ar delete --force "$ID"
}

@test "list does not wait for a command that has the lock" {
  sleeper
  local before after holder
  flock "$ROOT/$ID" sleep 5 3>&- &
  holder=$!
  sleep 0.2
  before=$(date +%s)
  [ "$(ar list -q)" = "$ID" ]
  after=$(date +%s)
  pkill -P "$holder" || true
  wait "$holder" || true
  [ $((after - before)) -le 3 ]
  ar delete --force "$ID"
}

@test "containers that come and go do not disturb list" {
  args /bin/true
  (
    for _ in 1 2 3 4 5 6; do
      ar run -b "$BUNDLE" "$ID" </dev/null >"$T/run" 2>&1 3>&- || break
      rm "$T/run"
    done
    touch "$T/done"
  ) &
  local runs=$! # not all jobs: bats has one of its own while a test has a time limit
  while [ ! -e "$T/done" ]; do
    ar list -f json >"$T/json"
    jq -e . "$T/json" >/dev/null
  done
  wait "$runs"
  if [ -e "$T/run" ]; then
    cat "$T/run"
    false
  fi
}

@test "an unknown format is an error" {
  run ar list --format yaml
  [ "$status" -eq 1 ]
  [[ $output == *yaml* ]]
}
