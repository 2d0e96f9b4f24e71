#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# config.json is read strictly: errors carry the rule, a JSON pointer and the line.

load lib.bash

setup_file () { common_setup_file; }
teardown_file () { common_teardown_file; }
teardown () { common_teardown; }

setup ()
{
  common_setup
  POLICY=(--policy builtin:default)
}

# refused_json RULE PATTERN: check denies with a finding of that rule whose message matches.
refused_json ()
{
  run --separate-stderr ar check --format json "$BUNDLE"
  echo "$output"
  [ "$status" -eq 3 ] || return 1
  [ "$(jq -r .verdict <<<"$output")" = denied ] || return 1
  jq -r --arg r "$1" '.findings[] | select(.rule == $r and .action == "reject") | .message' <<<"$output" \
    | grep -qE -- "$2" || return 1
  try_create ar_logged create -b "$BUNDLE" "$ID"
  [ "$status" -eq 1 ] || return 1
  jq -r .msg "$LOG" | grep -q "$1" || return 1
  nothing_left
}

text ()
{
  cat >"$BUNDLE/config.json"
}

@test "not JSON, empty, cut off, trailing data, a comment, a byte order mark" {
  local config='{"ociVersion": "1.0.0"}'
  text <<<'nonsense'; refused_json json.syntax 'config.json:1'
  text </dev/null; refused_json json.syntax 'config.json'
  text <<<'{"ociVersion": "1.0.0"'; refused_json json.syntax 'config.json'
  text <<<"$config x"; refused_json json.syntax 'config.json'
  text <<<"/* x */ $config"; refused_json json.syntax 'config.json'
  printf '\357\273\277%s' "$config" | text; refused_json json.syntax 'config.json'
  text <<<'[]'; refused_json json.syntax 'config.json' || refused_json json.type 'config.json'
}

@test "a repeated member" {
  sed -i '0,/"hostname"/s//"hostname": "other",\n  "hostname"/' "$BUNDLE/config.json"
  local line
  line=$(grep -n '"hostname"' "$BUNDLE/config.json" | tail -n 1 | cut -d: -f1)
  refused_json json.duplicate "config.json:$line: .*hostname"
}

@test "a repeated member that is written with an escape" {
  sed -i '0,/"hostname"/s//"h\\u006fstname": "other",\n  "hostname"/' "$BUNDLE/config.json"
  refused_json json.duplicate hostname
}

@test "a member that differs from a known one by case only" {
  sed -i '0,/"readonly"/s//"readOnly"/' "$BUNDLE/config.json"
  refused_json json.case readOnly
}

@test "a number as text, a fraction, a negative one, one that is too large" {
  local value line
  for value in '"1000"' 1000.5 -1 4294967296; do
    cp "$BATS_TEST_DIRNAME/config.json" "$BUNDLE/config.json"
    sed -i "0,/\"uid\": 1000/s//\"uid\": $value/" "$BUNDLE/config.json"
    line=$(grep -n '"uid"' "$BUNDLE/config.json" | cut -d: -f1)
    refused_json json.type "config.json:$line: /process/user/uid: expected an integer from 0 to 4294967295"
  done
}

@test "all type errors are told at once" {
  edit '.process.user.uid = "0" | .root.readonly = "yes" | .mounts = {}'
  run --separate-stderr ar check --format json "$BUNDLE"
  echo "$output"
  [ "$status" -eq 3 ]
  [ "$(jq '[.findings[] | select(.rule == "json.type")] | length' <<<"$output")" -eq 3 ]
}

@test "a missing or foreign ociVersion" {
  edit 'del(.ociVersion)'; refused_json json.version ociVersion
  edit '.ociVersion = "2.0.0"'; refused_json json.version '2\.0\.0'
}

@test "too deep" {
  python3 -c 'print("{\"x\": " + "[" * 100000)' | text
  refused_json json.size 'config.json'
}

@test "too large" {
  head -c 17000000 /dev/zero | tr '\0' ' ' >>"$BUNDLE/config.json"
  refused_json json.size 'config.json'
}

@test "an unknown member is a warning with its place and does not deny" {
  edit '.linux.surprise = 1'
  run --separate-stderr ar check --format json "$BUNDLE"
  echo "$output"
  [ "$status" -eq 0 ]
  [ "$(jq -r '.findings[] | select(.rule == "json.unknown") | .action + " " + .pointer' <<<"$output")" = "warn /linux/surprise" ]
}

@test "config.json that is a pipe, a link or a directory is refused at once" {
  rm "$BUNDLE/config.json"
  mkfifo "$BUNDLE/config.json"
  run timeout 10 env "$MARK" "$AGENTRUN" --root "$ROOT" "${POLICY[@]}" check "$BUNDLE"
  echo "$output"
  [ "$status" -eq 3 ] || [ "$status" -eq 1 ]
  rm "$BUNDLE/config.json"
  ln -s "$BATS_TEST_DIRNAME/config.json" "$BUNDLE/config.json"
  run ar check "$BUNDLE"
  echo "$output"
  [ "$status" -eq 3 ] || [ "$status" -eq 1 ]
  rm "$BUNDLE/config.json"
  mkdir "$BUNDLE/config.json"
  run ar check "$BUNDLE"
  [ "$status" -eq 3 ] || [ "$status" -eq 1 ]
}
