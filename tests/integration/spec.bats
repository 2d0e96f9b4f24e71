#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# spec: what it writes is admitted and runs.

load lib.bash

setup_file () { common_setup_file; }
teardown_file () { common_teardown_file; }
setup () { common_setup; }
teardown () { common_teardown; }

# A bundle without a configuration.
bare ()
{
  rm "$BUNDLE/config.json"
  POLICY=(--policy builtin:default)
}

@test "builtin:default admits what spec writes, and tighten only what has no field" {
  bare
  run ar spec --bundle "$BUNDLE"
  [ "$status" -eq 0 ]
  [ -z "$output" ]
  [ "$(stat -c %a "$BUNDLE/config.json")" = 644 ]
  local json
  json=$(ar check --format json "$BUNDLE")
  jq -c '.findings[] | [.rule, .pointer]' <<<"$json"
  [ "$(jq -r .verdict <<<"$json")" = admitted ]
  [ "$(jq -r '[.findings[].rule] | sort | unique | join(" ")' <<<"$json")" = \
    "mount.hardening path.masked seccomp.baseline seccomp.missing" ]
}

@test "it runs, with its args and with others" {
  bare
  (cd "$BUNDLE" && ar spec)
  run ar run -b "$BUNDLE" "$ID" </dev/null
  echo "$output"
  [ "$status" -eq 0 ]
  script 'id -u; grep -E "^(CapBnd|NoNewPrivs|Seccomp):" /proc/self/status; echo >/tmp/file && ls /tmp'
  run ar run -b "$BUNDLE" "$ID"
  echo "$output"
  [ "$status" -eq 0 ]
  [ "${lines[0]}" = 1000 ]
  [[ $output == *CapBnd:*0000000000000000* ]]
  [[ $output == *NoNewPrivs:*1* ]]
  [[ $output == *Seccomp:*2* ]]
  [ "${lines[-1]}" = file ]
}

@test "it overwrites nothing, not even a dangling link" {
  echo '{}' >"$BUNDLE/config.json"
  run ar spec -b "$BUNDLE"
  [ "$status" -eq 1 ]
  [[ $output == *"exists already"* ]]
  [ "$(cat "$BUNDLE/config.json")" = '{}' ]
  rm "$BUNDLE/config.json"
  ln -s "$T/elsewhere" "$BUNDLE/config.json"
  run ar spec -b "$BUNDLE"
  [ "$status" -eq 1 ]
  [ ! -e "$T/elsewhere" ]
}

@test "an open umask doesn't make it writable for others" {
  bare
  (umask 0 && ar spec -b "$BUNDLE")
  [ "$(stat -c %a "$BUNDLE/config.json")" = 644 ]
}

@test "a missing directory is an error" {
  run ar spec -b "$T/nowhere"
  [ "$status" -eq 1 ]
  [[ $output == *nowhere* ]]
}
