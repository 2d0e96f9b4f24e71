#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Policy files: ownership, strictness, and that a broken one stops everything.

load lib.bash

setup_file () { common_setup_file; }
teardown_file () { common_teardown_file; }

setup ()
{
  common_setup
  POLICY=(--policy builtin:default)
}

teardown () { common_teardown; }

file ()
{
  cat >"$T/policy.json"
  POLICY=(--policy "$T/policy.json")
}

# broken PATTERN: validate says what is wrong with file and line, and create refuses to run.
broken ()
{
  run "$AGENTRUN" policy validate "$T/policy.json"
  echo "$output"
  [ "$status" -eq 1 ] || return 1
  grep -qE -- "$1" <<<"$output" || return 1
  create_fails "$1"
}

@test "a small file, with comments, is valid and in force" {
  file <<'JSON'
// what this host's agents may do
{
  "version": 1, /* the only one */
  "extends": "builtin:default",
  "never": [],
  "rules": { "rootfs.readonly": "warn" }
}
JSON
  run "$AGENTRUN" policy validate "$T/policy.json"
  echo "$output"
  [ "$status" -eq 0 ]
  edit '.root.readonly = false'
  run ar check "$BUNDLE"
  echo "$output"
  [ "$status" -eq 0 ]
  [[ ${lines[0]} == *"$T/policy.json"* ]]
}

@test "an unknown key, a wrong type, a repeated key: file and line are named" {
  file <<'JSON'
{
  "version": 1, "extends": "builtin:default", "never": [],
  "surprise": 1
}
JSON
  broken 'policy.json:3: .*surprise'
  file <<'JSON'
{
  "version": 1, "extends": "builtin:default", "never": "none"
}
JSON
  broken 'policy.json:2: .*never'
  file <<'JSON'
{
  "version": 1, "extends": "builtin:default", "never": [],
  "mode": "enforce",
  "mode": "audit"
}
JSON
  broken 'policy.json:4: .*mode'
}

@test "an unknown rule, a setting that a rule does not take, a fixed rule" {
  file <<<'{"version": 1, "extends": "builtin:default", "never": [], "rules": {"no.such": "off"}}'
  broken 'no\.such'
  file <<<'{"version": 1, "extends": "builtin:default", "never": [], "rules": {"user.root": "nonsense"}}'
  broken 'user\.root'
  file <<<'{"version": 1, "extends": "builtin:default", "never": [], "rules": {"json.duplicate": "off"}}'
  broken 'json\.duplicate'
  file <<<'{"version": 1, "extends": "builtin:default", "never": [], "rules": {"mount.never": "off"}}'
  broken 'mount\.never'
}

@test "an unknown version, an unknown profile, a missing never list" {
  file <<<'{"version": 2, "extends": "builtin:default", "never": []}'
  broken version
  file <<<'{"version": 1, "extends": "builtin:nonsense", "never": []}'
  broken 'extends|nonsense'
  file <<<'{"version": 1, "extends": "builtin:default"}'
  broken never
}

@test "grants: unknown kind, missing reason, relative source, expired" {
  local grant
  for grant in '{"kind": "nonsense", "reason": "x"}' '{"kind": "mount", "source": "/srv", "mode": "rw"}' \
    '{"kind": "mount", "source": "srv", "mode": "rw", "reason": "x"}' \
    '{"kind": "mount", "source": "/srv", "mode": "rwx", "reason": "x"}' \
    '{"kind": "mount", "source": "/srv", "mode": "rw", "reason": "x", "expires": "yesterday"}'; do
    echo "$grant"
    file <<<"{\"version\": 1, \"extends\": \"builtin:default\", \"never\": [], \"grants\": [$grant]}"
    broken grants
  done
  file <<<'{"version": 1, "extends": "builtin:default", "never": [], "grants": [{"kind": "mount", "source": "/srv", "mode": "rw", "reason": "x", "expires": "2020-01-01"}]}'
  run "$AGENTRUN" policy validate "$T/policy.json"
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *expire* ]]
}

@test "what this build does not have is refused, not ignored" {
  file <<<'{"version": 1, "extends": "builtin:default", "never": [], "supervision": "required"}'
  broken supervision
}

@test "a file that others can write, or that somebody else owns, or below such a directory" {
  file <<<'{"version": 1, "extends": "builtin:default", "never": []}'
  chmod 666 "$T/policy.json"
  broken 'policy.json.*(writ|owner)'
  chmod 664 "$T/policy.json"
  broken 'policy.json.*(writ|owner)'
  chmod 600 "$T/policy.json"
  chown 1000 "$T/policy.json"
  broken 'policy.json.*(belongs|own)'
  chown 0 "$T/policy.json"
  run "$AGENTRUN" policy validate "$T/policy.json"
  [ "$status" -eq 0 ]
  mkdir "$T/open"
  mv "$T/policy.json" "$T/open/policy.json"
  chmod 777 "$T/open"
  POLICY=(--policy "$T/open/policy.json")
  create_fails "$T/open"
}

@test "a file that is missing, a directory, a pipe or a link" {
  POLICY=(--policy "$T/policy.json")
  create_fails "$T/policy.json"
  mkfifo "$T/policy.json"
  create_fails "$T/policy.json"
  rm "$T/policy.json"
  mkdir "$T/policy.json"
  create_fails "$T/policy.json"
}

@test "a broken policy stops create and run, but not --version, features, state, kill and delete" {
  args /bin/sleep 100
  create
  file <<<'nonsense'
  ar --version
  ar features >/dev/null
  ar state "$ID" >/dev/null
  new_bundle second
  try_create ar create -b "$BUNDLE" "$ID"
  [ "$status" -eq 1 ]
  [[ $stderr == *policy.json* ]]
  run ar run -b "$BUNDLE" "$ID"
  [ "$status" -ne 0 ]
  ar kill main KILL
  wait_for 5 stopped main
  ar delete main
}

@test "a program under another name needs its own policy file" {
  cp "$AGENTRUN" "$T/agentrun-test-name"
  run "$T/agentrun-test-name" --version
  [ "$status" -eq 0 ]
  run "$T/agentrun-test-name" features
  [ "$status" -eq 0 ]
  try_create env "$MARK" "$T/agentrun-test-name" --root "$ROOT" create -b "$BUNDLE" "$ID"
  [ "$status" -eq 1 ]
  [[ $stderr == */etc/agentrun/agentrun-test-name.json* ]]
  nothing_left
}
