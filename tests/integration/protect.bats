#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# `protect` of a grant: names in a writable workspace that the workload can read and neither change nor replace.

load lib.bash

setup_file () { common_setup_file; }
teardown_file () { common_teardown_file; }
teardown () { common_teardown; }

setup ()
{
  common_setup
  mkdir -p "$T/work/.git/hooks" "$T/work/src"
  echo original >"$T/work/.git/hooks/pre-commit"
  echo '[core]' >"$T/work/.git/config"
  echo '{}' >"$T/work/.mcp.json"
  chown -R 1000:1000 "$T/work"
  bind "$T/work" /work rw
  grant '{protect: [".git/hooks", ".git/config", ".mcp.json"]}'
}

# grant MEMBERS: of the workspace, beside source, mode and reason.
grant ()
{
  jq -n --arg s "$T/work" "{version: 1, never: [], grants: [{kind: \"mount\", source: \$s, mode: \"rw\", reason: \"the workspace\"} + $1]}" >"$T/policy.json"
  chmod 644 "$T/policy.json"
  POLICY=(--policy "$T/policy.json")
}

@test "what is protected can be read, and not written, replaced, moved or covered; the rest is writable" {
  in_container 'cd /work; cat .git/hooks/pre-commit; echo x >src/file && echo wrote
    for c in "sh -c \"echo x >.git/hooks/pre-commit\"" "sh -c \"echo x >.git/hooks/new\"" "rm .git/hooks/pre-commit" "rm -r .git/hooks" "mv .git/hooks .git/old" "mv .git .old" "rm -rf .git" \
      "mv .mcp.json x" "rm .mcp.json" "sh -c \"echo x >.mcp.json\"" "cp src/file .git/config" "ln -sf src/file .git/config" "mv src/file .mcp.json"; do eval "$c" 2>/dev/null && echo "did: $c"; done
    echo x >.git/index && mkdir .git/refs && echo the rest'
  [ "$status" -eq 0 ]
  [ "$output" = $'original\nwrote\nthe rest' ]
  [ "$(cat "$T/work/.git/hooks/pre-commit")" = original ]
  [ "$(cat "$T/work/.git/config")" = '[core]' ]
  [ "$(cat "$T/work/.git/index")" = x ]
  nothing_left
}

@test "the finding says what becomes read-only, and the plan has it" {
  run --separate-stderr ar check --format json "$BUNDLE"
  [ "$status" -eq 0 ]
  [ "$(jq '[.findings[] | select(.rule == "mount.protected" and .action == "tighten" and .applied)] | length' <<<"$output")" -eq 3 ]
  run --separate-stderr ar check --plan "$BUNDLE"
  [[ $output == *'".git/hooks"'* ]]
}

@test "a name that does not exist is refused, or with protect_missing a warning" {
  rm "$T/work/.mcp.json"
  create_fails 'mount.protected: .mcp.json, which a grant protects, does not exist'
  grant '{protect: [".git/hooks", ".mcp.json"], protect_missing: "warn"}'
  in_container 'echo x >/work/.git/hooks/new 2>/dev/null || echo kept'
  [ "$output" = kept ]
  [ ! -e "$T/work/.mcp.json" ]
  nothing_left
}

@test "a link in the place of a protected name is refused" {
  rm -r "$T/work/.git/hooks"
  ln -s ../src "$T/work/.git/hooks"
  create_fails 'mount.protected: .git/hooks, which a grant protects, .*ELOOP'
  rm "$T/work/.git/hooks"
  mkdir "$T/work/.git/hooks"
  mv "$T/work/.git" "$T/work/other"
  ln -s other "$T/work/.git"
  create_fails 'mount.protected: .git/hooks, which a grant protects, .*ELOOP'
}

@test "a mount of a part of the workspace keeps what is protected there" {
  edit '(.mounts[] | select(.destination == "/work") | .source) = $s' --arg s "$T/work/.git"
  in_container 'echo x >/work/hooks/new 2>/dev/null || echo kept; echo x >/work/index && echo wrote'
  [ "$output" = $'kept\nwrote' ]
  edit '(.mounts[] | select(.destination == "/work") | .source) = $s' --arg s "$T/work/.git/hooks"
  create_fails 'mount.protected: it is or lies in .git/hooks, which a grant protects'
  edit '(.mounts[] | select(.destination == "/work") | .options) = ["bind", "ro"]'
  in_container 'cat /work/pre-commit'
  [ "$output" = original ]
  nothing_left
}

@test "an inner name listed before its directory, and both" {
  grant '{protect: [".git/hooks", ".git"]}'
  in_container 'echo x >/work/.git/index 2>/dev/null || echo kept; echo x >/work/.git/hooks/new 2>/dev/null || echo kept; echo x >/work/src/file && echo wrote'
  [ "$output" = $'kept\nkept\nwrote' ]
}

@test "with a user namespace, whose root can't take the mounts off" {
  own_user_namespace
  chown -R 500000:500000 "$T/work"
  as_root
  POLICY=(--policy "$T/policy.json")
  jq '.grants += [{kind: "user", uid: 0, reason: "the test"}, {kind: "capability", name: "CAP_SYS_ADMIN", reason: "the test"}] | .rules = {"seccomp.baseline": "off"}' \
    "$T/policy.json" >"$T/root.json"
  chmod 644 "$T/root.json"
  POLICY=(--policy "$T/root.json")
  edit 'del(.linux.seccomp) | .process.capabilities = {bounding: ["CAP_SYS_ADMIN"], effective: ["CAP_SYS_ADMIN"], permitted: ["CAP_SYS_ADMIN"]}'
  in_container 'umount /work/.git/hooks 2>/dev/null && echo off; mount -o remount,bind,rw /work/.git/hooks 2>/dev/null && echo rw; echo x >/work/.git/hooks/new 2>/dev/null || echo kept'
  echo "$stderr"
  [ "$output" = kept ]
}

@test "a protected file that is swapped between admission and mount is not taken for it" {
  # The check of the inode itself: a plan that names another one is what a swap leads to.
  local n seen=0
  (while :; do for f in a b; do echo "$f" >"$T/work/.next"; mv -f "$T/work/.next" "$T/work/.mcp.json"; done; done) 2>/dev/null 3>&- &
  local swapper=$!
  for n in $(seq 40); do
    status=0
    ar run -b "$BUNDLE" "$ID-$n" </dev/null >"$T/out" 2>"$T/err" || status=$?
    [ "$status" -eq 0 ] || { seen=$((seen + 1)); grep -qE 'mount.protected|was replaced|ENOENT|ESTALE|EAGAIN' "$T/err" || { cat "$T/err"; kill "$swapper"; false; }; }
  done
  kill "$swapper"
  echo "$seen of 40 creates met a swap"
}

@test "what protect can't mean is refused in the policy file" {
  local bad
  for bad in '{protect: ["/abs"]}' '{protect: ["../up"]}' '{protect: ["a/../b"]}' '{protect: [""]}' '{protect: ["a/"]}' '{protect: ["*.json"]}' \
    '{protect: ["a"], protect_missing: "never"}' '{protect_missing: "warn"}' '{protect: ["a"], mode: "ro"}' '{protect: ["a"], source: "/srv/agents/**"}'; do
    grant "$bad"
    run --separate-stderr ar policy validate "$T/policy.json"
    echo "$bad: $stderr"
    [ "$status" -eq 1 ]
    [[ $stderr == *"$T/policy.json:"*"/protect"* ]]
  done
}
