#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# agentrun policy suggest: what it drafts is a policy that admits the bundle, once the reasons are given, and no less does.

load lib.bash

setup_file () { common_setup_file; }
teardown_file () { common_teardown_file; }
teardown () { common_teardown; }

setup ()
{
  common_setup
  POLICY=(--policy builtin:default)
}

# suggest: status and output; $T/draft.json is what it printed.
suggest ()
{
  status=0
  ar policy suggest "$BUNDLE" >"$T/draft.json" 2>"$T/stderr" || status=$?
  cat "$T/draft.json" "$T/stderr"
}

# With reasons in, and without the comments that jq doesn't read.
fill_in ()
{
  grep -v '^//' "$T/draft.json" | jq '(.grants[]?.reason) = "the test"' >"$T/policy.json"
  chmod 644 "$T/policy.json"
}

admitted_by_draft ()
{
  fill_in
  ar policy validate "$T/policy.json"
  ar --policy "$T/policy.json" check "$BUNDLE" >"$T/verdict"
}

drafted ()
{
  grep -v '^//' "$T/draft.json" | jq -c "$1"
}

@test "a bundle that is admitted needs nothing" {
  suggest
  [ "$status" -eq 0 ]
  [ "$(cat "$T/draft.json")" = "// admitted by policy builtin:default as it is" ]
}

@test "a bind mount: a grant with an empty reason, which is not valid before it is filled in" {
  mkdir "$T/work"
  bind "$T/work" /work ro
  suggest
  [ "$status" -eq 0 ]
  [ "$(drafted .grants)" = '[{"kind":"mount","source":"'"$T/work"'","mode":"ro","reason":""}]' ]
  [ "$(drafted 'has("rules")')" = false ]
  run ar policy validate "$T/draft.json"
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"reason"* ]]
  admitted_by_draft
}

@test "many things at once, each by the least that opens it" {
  as_root
  edit '.root.readonly = false | .linux.namespaces |= map(select(.type != "ipc"))
    | .process.capabilities = {bounding: ["CAP_SYS_ADMIN", "CAP_CHOWN"]} | .linux.sysctl = {"net.core.somaxconn": "4096"}
    | .linux.resources.memory.limit = 17179869184 | .linux.resources.pids.limit = 9999 | .annotations = {"run.oci.a/b~c": "1"}
    | .hooks.poststop = [{path: "/bin/true"}] | .process.rlimits = [{type: "RLIMIT_NOFILE", soft: 1, hard: 2000000}]
    | .linux.devices = [{path: "/dev/fuse", type: "c", major: 10, minor: 229}]'
  suggest
  [ "$status" -eq 0 ]
  [ "$(drafted '[.grants[] | del(.reason) | to_entries | map(.value | tostring) | join(" ")] | sort | join(",")')" = \
    '"annotation run.oci.a/b~c,capability CAP_SYS_ADMIN,device /dev/fuse rw,hook /bin/true,namespace ipc host,sysctl net.core.somaxconn,user 0"' ]
  [ "$(drafted .rules)" = '{"rootfs.readonly":"warn"}' ]
  [ "$(drafted '[.limits.memory.max, .limits.pids.max, .limits.open_files.max]')" = '["16777216KiB",9999,2000000]' ]
  admitted_by_draft
}

@test "what no policy admits is listed, with exit code 3, beside what can be" {
  bind /etc /host ro
  mkdir "$T/work"
  bind "$T/work" /work rw
  suggest
  [ "$status" -eq 3 ]
  grep -q "^// can't be admitted: mount.never at /mounts/[0-9]*/source: /etc is " "$T/draft.json"
  [ "$(drafted '.grants | length')" -eq 1 ]
  edit '.process.cwd = "relative"'
  suggest
  [ "$status" -eq 3 ]
  grep -q "^// can't be admitted: process.cwd" "$T/draft.json"
}

@test "a file that is no configuration: why, and nothing else" {
  echo '{"ociVersion": "1.0.0", "ociVersion": "1.0.0"}' >"$BUNDLE/config.json"
  suggest
  [ "$status" -eq 3 ]
  [ "$(grep -c . "$T/draft.json")" -eq 1 ]
  grep -q "^// can't be admitted: json.duplicate" "$T/draft.json"
  run ar policy suggest "$T/nowhere"
  [ "$status" -eq 1 ]
}

@test "over a policy file: only what that one lacks" {
  mkdir "$T/work" "$T/more"
  bind "$T/work" /work rw
  bind "$T/more" /more rw
  jq -n --arg s "$T/work" '{version: 1, never: [], grants: [{kind: "mount", source: $s, mode: "rw", reason: "known"}]}' >"$T/base.json"
  chmod 644 "$T/base.json"
  POLICY=(--policy "$T/base.json")
  suggest
  [ "$status" -eq 0 ]
  [ "$(drafted '[.grants[].source]')" = '["'"$T/more"'"]' ]
  grep -qx "// to be added to policy $T/base.json; each reason is yours to give" "$T/draft.json"
}

@test "a socket in a directory" {
  mkdir "$T/work"
  python3 -c 'import socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); import time; time.sleep(30)' "$T/work/s" </dev/null >/dev/null 2>&1 3>&- &
  local listener=$!
  wait_for 10 test -S "$T/work/s"
  bind "$T/work" /work ro
  suggest
  kill "$listener"
  [ "$status" -eq 0 ]
  [ "$(drafted '[.grants[].kind] | sort | join(" ")')" = '"mount socket"' ] || [ "$(drafted '.rules["mount.socket"]')" = '"warn"' ]
}
