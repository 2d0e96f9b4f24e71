#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# agentrun of an ordinary user without an engine.  The user is `games`, whom every Debian has; where
# he needs sub-ids he gets them in copies of the account files that are only mounted for that command.

load lib.bash

setup_file () { common_setup_file; }
teardown_file () { common_teardown_file; }
teardown () { common_teardown; }

setup ()
{
  common_setup
  UID_GAMES=$(id -u games)
  GID_GAMES=$(id -g games)
  mkdir -m 700 "$T/run"
  mkdir "$T/etc"
  cp /etc/passwd "$T/etc/passwd"
  echo games:2300000:65536 >"$T/etc/subuid"
  cp "$T/etc/subuid" "$T/etc/subgid"
  chmod 644 "$T"/etc/*
  cp "$AGENTRUN" "$T/agentrun"
  rm -r "$BUNDLE/rootfs"
  cp -a "$FILE_DIR/rootfs" "$BUNDLE/rootfs"
  edit 'del(.linux.resources, .linux.cgroupsPath) | .process.user = {uid: 0, gid: 0}
    | (.mounts[] | select(.type == "devpts") | .options) |= map(select(. != "gid=5"))'
  chown -hR games:games "$BUNDLE" "$T/run"
}

# as_games COMMAND...: agentrun as the user, without sub-ids; the state is in his runtime directory.
as_games ()
{
  setpriv --reuid games --regid games --clear-groups env -i -C "$T" PATH=/bin XDG_RUNTIME_DIR="$T/run" "$MARK" \
    timeout 20 "$T/agentrun" "${POLICY[@]}" "$@"
}

with_sub_ids ()
{
  export T MARK
  unshare --mount bash -c 'for f in passwd subuid subgid; do [ -e "/etc/$f" ] || exit 99
    mount --bind "$T/etc/$f" "/etc/$f" || exit 99; done
    exec setpriv --reuid games --regid games --clear-groups env -i -C "$T" PATH=/bin XDG_RUNTIME_DIR="$T/run" "$MARK" \
      timeout 20 "$T/agentrun" "$@"' _ "${POLICY[@]}" "$@"
}

need_sub_ids ()
{
  [ -e /etc/subuid ] && [ -x /usr/bin/newuidmap ] || skip "uidmap is not installed"
}

@test "without sub-ids the user is root inside, and nobody else is there" {
  script 'id -u; tr -s " " </proc/self/uid_map; cat /proc/self/setgroups; echo x >/dev/null && echo null'
  run --separate-stderr as_games run -b "$BUNDLE" "$ID"
  echo "$stderr"
  [ "$status" -eq 0 ]
  [ "$output" = "0"$'\n'" 0 $UID_GAMES 1"$'\n'"deny"$'\n'"null" ]
  nothing_left
  [ -z "$(ls "$T/run/agentrun")" ]
}

@test "a user namespace of the configuration counts from the host" {
  edit '.linux.namespaces += [{type: "user"}] | .process.user = {uid: 1000, gid: 1000}
    | .linux.uidMappings = [{containerID: 1000, hostID: $u, size: 1}]
    | .linux.gidMappings = [{containerID: 1000, hostID: $g, size: 1}]' --argjson u "$UID_GAMES" --argjson g "$GID_GAMES"
  script 'id -u; id -g; touch /home/file'
  edit '.root.readonly = false'
  chown -h games:games "$BUNDLE/config.json"
  run --separate-stderr as_games run -b "$BUNDLE" "$ID"
  echo "$stderr"
  [ "$status" -eq 0 ]
  [ "$output" = $'1000\n1000' ]
  [ "$(stat -c '%u %g' "$BUNDLE/rootfs/home/file")" = "$UID_GAMES $GID_GAMES" ]
}

@test "with sub-ids there are more users and groups" {
  need_sub_ids
  edit '.process.user = {uid: 1000, gid: 1000, additionalGids: [7]}'
  script 'id -u; id -G; tr -s " " </proc/self/uid_map'
  run --separate-stderr with_sub_ids run -b "$BUNDLE" "$ID"
  echo "$stderr"
  [ "$status" -eq 0 ]
  [ "$output" = $'1000\n1000 7'$'\n'" 0 $UID_GAMES 1"$'\n'" 1 2300000 65536" ]
}

@test "with sub-ids a configuration's own map" {
  need_sub_ids
  edit '.linux.namespaces += [{type: "user"}] | .process.user = {uid: 1000, gid: 1000}
    | .linux.uidMappings = [{containerID: 0, hostID: 2300000, size: 1000}, {containerID: 1000, hostID: $u, size: 1}]
    | .linux.gidMappings = [{containerID: 0, hostID: 2300000, size: 1000}, {containerID: 1000, hostID: $g, size: 1}]' \
    --argjson u "$UID_GAMES" --argjson g "$GID_GAMES"
  chown -hR 2300000:2300000 "$BUNDLE/rootfs"
  script 'id -u; stat -c %u /bin'
  run --separate-stderr with_sub_ids run -b "$BUNDLE" "$ID"
  echo "$stderr"
  [ "$status" -eq 0 ]
  [ "$output" = $'1000\n0' ]
}

@test "ids that are not the caller's are refused" {
  edit '.linux.namespaces += [{type: "user"}]
    | .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 10}]
    | .linux.gidMappings = [{containerID: 0, hostID: 100000, size: 10}]'
  run as_games run -b "$BUNDLE" "$ID"
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"uidMappings[0]"* ]]
  nothing_left
}

@test "a group that can't be set is an error, not left out" {
  edit '.process.user.additionalGids = [0]'
  run as_games run -b "$BUNDLE" "$ID"
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *additionalGids* ]]
  nothing_left
}

@test "a limit without a cgroup to hold it is an error" {
  [ ! -e /sys/fs/cgroup/cgroup.controllers ] || skip "the cgroup may be delegated"
  edit '.linux.resources = {memory: {limit: 67108864}}'
  run as_games run -b "$BUNDLE" "$ID"
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *cgroup* ]]
  nothing_left
}

@test "check says whether limits would hold: a warning for the policy's own, a denial for one that is asked for" {
  [ ! -e /sys/fs/cgroup/cgroup.controllers ] || skip "the cgroup may be delegated"
  POLICY=(--policy builtin:default)
  found () { as_games check --format json "$BUNDLE" | jq -r '.findings[] | select(.rule == "limit.unenforced") | .action'; }
  [ "$(found)" = warn ]
  edit '.linux.resources = {memory: {limit: 67108864}}'
  [ "$(found)" = reject ]
  # Zeros are what engines send by habit.
  edit '.linux.resources = {memory: {limit: 0, disableOOMKiller: false}, cpu: {shares: 0}, blockIO: {weight: 0}}'
  [ "$(found)" = warn ]
}

@test "create, state, start, kill and delete, each a command of the user's" {
  script 'sleep 30'
  as_games create -b "$BUNDLE" "$ID" </dev/null >/dev/null 2>"$T/stderr" || { cat "$T/stderr"; false; }
  [ "$(as_games state "$ID" | jq -r .status)" = created ]
  as_games start "$ID"
  [ "$(as_games state "$ID" | jq -r .status)" = running ]
  as_games kill --all "$ID" KILL
  wait_for 5 eval '[ "$(as_games state "$ID" | jq -r .status)" = stopped ]'
  as_games delete "$ID"
  nothing_left
}

@test "a file as a standard stream passes the default policy" {
  POLICY=(--policy builtin:default)
  edit '.process.user = {uid: 1000, gid: 1000} | .root.readonly = true'
  script 'echo out; echo err >&2'
  need_sub_ids
  with_sub_ids run -b "$BUNDLE" "$ID" </dev/null >"$T/out" 2>"$T/err" || { cat "$T/err"; false; }
  [ "$(cat "$T/out")" = out ]
  [ "$(tail -n 1 "$T/err")" = err ]
  nothing_left
}

@test "exec, ps, list and events, by the user without an engine" {
  script 'sleep 30'
  as_games run -d -b "$BUNDLE" "$ID" </dev/null >/dev/null 2>"$T/stderr" || { cat "$T/stderr"; false; }
  run --separate-stderr as_games exec "$ID" sh -c 'id -u; readlink /proc/self/ns/user; cat; exit 7' <<<in
  echo "$output $stderr"
  [ "$status" -eq 7 ]
  [ "$(sed -n '1p;3p' <<<"$output")" = $'0\nin' ]
  [ "${lines[1]}" = "$(readlink "/proc/$(as_games state "$ID" | jq .pid)/ns/user")" ]
  run as_games list --quiet
  [ "$output" = "$ID" ]
  as_games delete --force "$ID"
  nothing_left
}

@test "exec into a container with sub-ids, as another user of it" {
  need_sub_ids
  script 'sleep 30'
  edit '.process.user = {uid: 1000, gid: 1000}'
  with_sub_ids run -d -b "$BUNDLE" "$ID" </dev/null >/dev/null 2>"$T/stderr" || { cat "$T/stderr"; false; }
  run --separate-stderr with_sub_ids exec "$ID" id
  echo "$output $stderr"
  [ "$status" -eq 0 ]
  [[ $output == uid=1000* ]]
  run --separate-stderr with_sub_ids exec --user 0:0 "$ID" id
  [[ $output == uid=0* ]]
  with_sub_ids delete --force "$ID"
  nothing_left
}

@test "check judges where the user may look" {
  POLICY=(--policy builtin:default)
  edit '.process.user = {uid: 1000, gid: 1000} | .root.readonly = true'
  run as_games check "$BUNDLE"
  echo "$output"
  [ "$status" -ne 1 ]
  [[ $output != *EPERM* ]]
}

@test "what spec --rootless writes is admitted by builtin:default and runs" {
  rm "$BUNDLE/config.json"
  POLICY=()
  as_games spec --rootless -b "$BUNDLE"
  edit '.process.args = ["sh", "-c", "id -u; cat /proc/self/uid_map; touch /tmp/x && ls /tmp"]'
  chown games "$BUNDLE/config.json"
  run as_games --policy builtin:default run -b "$BUNDLE" "$ID" </dev/null
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output =~ 1000.*1000[[:space:]]+0[[:space:]]+1.*x$ ]]
}

@test "root of the user's namespace can't take off masks, nor make a read-only bind writable" {
  mkdir "$T/shared"
  echo kept >"$T/shared/file"
  chown -R games:games "$T/shared"
  bind "$T/shared" /mnt ro
  edit '.process.noNewPrivileges = false | del(.linux.seccomp)
    | .process.capabilities = {bounding: $c, effective: $c, permitted: $c}' --argjson c '["CAP_SYS_ADMIN"]'
  script 'mount -t tmpfs none /tmp && echo "may mount"
    umount /mnt 2>/dev/null && echo "unmounted"; umount /proc/kcore 2>/dev/null && echo "no mask"
    mount -o remount,bind,rw /mnt 2>/dev/null && echo "writable"
    { echo gone >/mnt/file; } 2>/dev/null; cat /mnt/file'
  run --separate-stderr as_games run -b "$BUNDLE" "$ID"
  echo "$output $stderr"
  [ "$output" = $'may mount\nkept' ]
  nothing_left
}

# own_policy JSON: the user's own; nothing is given by --policy.
own_policy ()
{
  mkdir -p "$T/config/agentrun"
  printf '%s\n' "$1" >"$T/config/agentrun/policy.json"
  chown -R games:games "$T/config"
  chmod -R go-w "$T/config"
  POLICY=()
}

as_games_at_home ()
{
  setpriv --reuid games --regid games --clear-groups env -i -C "$T" PATH=/bin XDG_RUNTIME_DIR="$T/run" XDG_CONFIG_HOME="$T/config" "$MARK" \
    timeout 20 "$T/agentrun" "$@"
}

@test "the user's own policy forbids more than the host's" {
  [ ! -e /etc/agentrun/policy.json ] || skip "this host has a policy of its own"
  own_policy '{"version": 1, "never": ["/srv/mine"], "rules": {"capability.default": "reject", "environment.loader": "reject"},
    "limits": {"memory": {"max": "1GiB"}}, "exec": {"allow": false}, "environment": {"deny": ["SECRET_TOOL"]}}'
  run --separate-stderr as_games_at_home policy show
  echo "$output $stderr"
  [ "$status" -eq 0 ]
  [ "$(jq -r '.rules["capability.default"], .limits.memory.max, .limits.memory.default, .exec.allow, .never[0], (.environment.deny | index("SECRET_TOOL") != null)' <<<"$output")" = \
    $'reject\n1GiB\n1GiB\nfalse\n/srv/mine\ntrue' ]
  run --separate-stderr as_games_at_home check "$BUNDLE"
  [[ ${lines[0]} == *"builtin:default, tightened by $T/config/agentrun/policy.json"* ]]
  # Beside a policy that the caller names it does not count.
  run --separate-stderr as_games_at_home --policy builtin:permissive policy show
  [ "$(jq -r '.exec.allow' <<<"$output")" != false ]
}

@test "the user's own policy loosens nothing, and says so with file, line and key" {
  [ ! -e /etc/agentrun/policy.json ] || skip "this host has a policy of its own"
  local bad key
  while read -r key bad; do
    own_policy "$bad"
    run --separate-stderr as_games_at_home check "$BUNDLE"
    echo "$bad: $stderr"
    [ "$status" -eq 1 ]
    [[ $stderr == *"$T/config/agentrun/policy.json:1: $key: "* ]]
  done <<'EOF'
/rules/user.root {"version": 1, "rules": {"user.root": "off"}}
/rules/mount.socket {"version": 1, "rules": {"mount.socket": "warn"}}
/mode {"version": 1, "mode": "audit"}
/grants {"version": 1, "grants": []}
/engines {"version": 1, "engines": {"state": ["/srv"]}}
/extends {"version": 1, "extends": "builtin:permissive"}
/limits/memory/max {"version": 1, "limits": {"memory": {"max": "100GiB"}}}
/limits/pids/default {"version": 1, "limits": {"pids": {"default": 4000}}}
/limits/tmpfs/max {"version": 1, "limits": {"tmpfs": {"max": "100GiB"}}}
/exec/users {"version": 1, "exec": {"users": [0]}}
/environment/secrets {"version": 1, "environment": {"secrets": "off"}}
/image/digest {"version": 1, "image": {"digest": "off"}}
/version {"rules": {}}
/unknown {"version": 1, "unknown": 1}
EOF
  own_policy '{"version": 1}'
  chmod 666 "$T/config/agentrun/policy.json"
  run --separate-stderr as_games_at_home check "$BUNDLE"
  [[ $stderr == *"writable by group or others"* ]]
}

@test "root's policy asks no user" {
  own_policy '{"version": 1, "mode": "audit"}'
  run --separate-stderr env XDG_CONFIG_HOME="$T/config" HOME="$T" "$AGENTRUN" policy show
  [ "$status" -eq 0 ]
}
