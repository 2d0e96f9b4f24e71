#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# A new user namespace: its maps, and that everything else works as without one.

load lib.bash

setup_file () { common_setup_file; }
teardown_file () { common_teardown_file; }
teardown () { common_teardown; }

setup ()
{
  common_setup
  own_user_namespace 600000
}

@test "the maps are the configuration's, and the process has its ids" {
  in_container 'id -u; id -g; tr -s " " </proc/self/uid_map; tr -s " " </proc/self/gid_map; cat /proc/self/setgroups'
  [ "$status" -eq 0 ]
  [ "${lines[0]}" = 1000 ]
  [ "${lines[1]}" = 1000 ]
  [ "${lines[2]}" = " 0 500000 65536" ]
  [ "${lines[3]}" = " 0 600000 65536" ]
  [ "${lines[4]}" = allow ]
}

@test "on the host the process has the mapped ids, and no group of the caller" {
  script 'sleep 20'
  edit '.process.user.additionalGids = [7]'
  create
  start
  local pid
  pid=$(pid_of "$ID")
  grep -q '^Uid:	501000	501000	501000	501000$' "/proc/$pid/status"
  grep -q '^Gid:	601000	601000	601000	601000$' "/proc/$pid/status"
  grep -q '^Groups:	600007 *$' "/proc/$pid/status"
  [ "$(readlink "/proc/$pid/ns/user")" != "$(readlink /proc/self/ns/user)" ]
  ar delete --force "$ID"
  nothing_left
}

@test "several ranges, and a namespace without id 0" {
  edit '.linux.uidMappings = [{containerID: 1000, hostID: 500000, size: 1}, {containerID: 2000, hostID: 700000, size: 10}]
    | .linux.gidMappings = [{containerID: 1000, hostID: 500000, size: 1}]
    | (.mounts[] | select(.type == "devpts") | .options) |= map(select(. != "gid=5"))'
  chown -hR 500000:500000 "$BUNDLE/rootfs"
  in_container 'id -u; tr -s " " </proc/self/uid_map'
  [ "$status" -eq 0 ]
  [ "$output" = $'1000\n 1000 500000 1\n 2000 700000 10' ]
}

@test "every file system of the configuration is there" {
  in_container "awk '{ for (i = 7; \$i != \"-\"; i++); print \$5, \$(i + 1) }' /proc/self/mountinfo"
  [ "$status" -eq 0 ]
  local expected
  for expected in "/proc proc" "/dev tmpfs" "/dev/pts devpts" "/dev/shm tmpfs" "/dev/mqueue mqueue" "/sys sysfs" "/tmp tmpfs"; do
    grep -qxF "$expected" <<<"$output"
  done
  grep -qE '^/sys/fs/cgroup(/memory cgroup| cgroup2)$' <<<"$output"
}

@test "what is asked read-only is" {
  mkdir "$T/data" && chown 501000:601000 "$T/data"
  bind "$T/data" /mnt ro
  edit '.root.readonly = true'
  in_container 'touch /x 2>&1; touch /mnt/x 2>&1; echo 1 2>&1 >/proc/sys/kernel/printk
    awk "\$5 == \"/sys\" || \$5 == \"/mnt\" || \$5 == \"/\" { print \$6 }" /proc/self/mountinfo | cut -d, -f1 | sort -u'
  [[ ${lines[0]} == *"Read-only file system"* ]]
  [[ ${lines[1]} == *"Read-only file system"* ]]
  [ "${lines[-1]}" = ro ]
  [ ! -e "$T/data/x" ]
}

@test "a bind that may be written belongs to the mapped user" {
  mkdir "$T/data" && chown 501000:601000 "$T/data"
  bind "$T/data" /mnt rw nosuid nodev
  in_container 'echo x >/mnt/file && stat -c "%u %g" /mnt /mnt/file'
  [ "$status" -eq 0 ]
  [ "$output" = $'1000 1000\n1000 1000' ]
  [ "$(stat -c '%u %g' "$T/data/file")" = "501000 601000" ]
}

@test "the default devices are the host's own nodes and work" {
  in_container 'for d in null zero full random urandom tty; do test -c /dev/$d || echo "$d is missing"; done
    echo x >/dev/null && head -c 2 /dev/zero | wc -c && head -c 3 /dev/urandom | wc -c; stat -c %t:%T /dev/full
    readlink /dev/fd; readlink /dev/ptmx'
  [ "$status" -eq 0 ]
  [ "$output" = $'2\n3\n1:7\n/proc/self/fd\npts/ptmx' ]
}

@test "a device that the host does not have under this name is an error" {
  edit '.linux.devices = [{path: "/dev/agentrun-none", type: "c", major: 1, minor: 3}]'
  create_fails 'device /dev/agentrun-none'
}

@test "masked paths are empty, also to root of the namespace" {
  as_root
  in_container 'cat /proc/kcore | wc -c; ls /sys/firmware | wc -l; cat /proc/timer_list | wc -c'
  [ "$output" = $'0\n0\n0' ]
}

@test "the score of the OOM killer and the host name are set" {
  edit '.process.oomScoreAdj = 321 | .hostname = "inside" | .domainname = "example"'
  in_container 'cat /proc/self/oom_score_adj; hostname; cat /proc/sys/kernel/domainname'
  [ "$status" -eq 0 ]
  [ "$output" = $'321\ninside\nexample' ]
}

@test "the loopback interface is up, and a network parameter is set" {
  edit '.linux.sysctl = {"net.ipv4.ip_unprivileged_port_start": "77"}'
  in_container 'cat /sys/class/net/lo/flags; cat /proc/sys/net/ipv4/ip_unprivileged_port_start'
  [ "$status" -eq 0 ]
  [ "$output" = $'0x9\n77' ]
}

@test "a cgroup namespace as well" {
  edit '.linux.namespaces += [{type: "cgroup"}]'
  in_container 'grep -vc ":/$" /proc/self/cgroup; ls /sys/fs/cgroup/ | wc -l'
  [ "$status" -eq 0 ]
  [ "${lines[0]}" = 0 ]
  [ "${lines[1]}" -gt 1 ]
}

@test "a network namespace of the host's user namespace is joined" {
  local net="$T/net" pid
  unshare --net sleep 30 3>&- &
  pid=$!
  wait_for 2 eval '[ "$(readlink /proc/'"$pid"'/ns/net)" != "$(readlink /proc/self/ns/net)" ]'
  touch "$net"
  busybox mount --bind "/proc/$pid/ns/net" "$net"
  kill "$pid"
  # Whose network it is decides about sysfs, so without it.
  edit '(.linux.namespaces[] | select(.type == "network")).path = $n
    | .mounts |= map(select(.destination | startswith("/sys") | not))' --arg n "$net"
  in_container 'readlink /proc/self/ns/net'
  local inside=$output expected
  expected=$(stat -L -c %i "$net")
  busybox umount "$net"
  [ "$status" -eq 0 ]
  [ "$inside" = "net:[$expected]" ]
}

@test "exec joins the user namespace" {
  script 'sleep 20'
  create
  start
  run --separate-stderr ar exec "$ID" sh -c 'id -u; readlink /proc/self/ns/user'
  echo "$stderr"
  [ "$status" -eq 0 ]
  [ "${lines[0]}" = 1000 ]
  [ "${lines[1]}" = "$(readlink "/proc/$(pid_of "$ID")/ns/user")" ]
  ar delete --force "$ID"
  nothing_left
}

@test "init can't be traced, nor its files be seen, before it is the workload" {
  script 'sleep 20'
  create
  local pid
  pid=$(pid_of "$ID")
  [ "$(stat -c %u "/proc/$pid/mem")" = 0 ]
  start
  ar delete --force "$ID"
}

@test "a process user that is not mapped is refused" {
  edit '.linux.uidMappings = [{containerID: 0, hostID: 500000, size: 10}]'
  create_fails 'uid 1000'
}

@test "maps that make no sense are refused" {
  edit '.linux.uidMappings = []'
  create_fails 'uidMappings'
  edit '.linux.uidMappings = [{containerID: 0, hostID: 500000, size: 0}]'
  create_fails 'uidMappings'
  edit '.linux.uidMappings = [{containerID: 0, hostID: 4294967290, size: 10}]'
  create_fails 'uidMappings'
  edit '.linux.uidMappings = [{containerID: 0, hostID: 500000, size: 2000}, {containerID: 1999, hostID: 700000, size: 10}]'
  create_fails 'overlap'
  edit '.linux.uidMappings = [range(341) | {containerID: (2 * .), hostID: (500000 + 2 * .), size: 1}]'
  create_fails '341'
  edit '.linux.uidMappings = [range(340) | {containerID: (1000000 + 2 * .), hostID: (2000000 + 2 * .), size: 1}]'
  create_fails 'bytes'
  edit '.linux.namespaces |= map(select(.type != "user"))'
  create_fails 'without a user namespace'
}

@test "a hook of the runtime runs outside, one of the container inside" {
  cat >"$T/hook" <<SH
#!/bin/sh
readlink /proc/self/ns/user >"$T/seen/\$1"
cat >/dev/null
SH
  chmod 755 "$T/hook"
  mkdir -m 777 "$T/seen"
  edit '.hooks = {createRuntime: [{path: $h, args: ["hook", "runtime"]}], createContainer: [{path: $h, args: ["hook", "container"]}]}' --arg h "$T/hook"
  in_container 'readlink /proc/self/ns/user'
  [ "$status" -eq 0 ]
  [ "$(cat "$T/seen/runtime")" = "$(readlink /proc/self/ns/user)" ]
  [ "$(cat "$T/seen/container")" = "$output" ]
}

@test "a user namespace without maps has the caller's ids up to the process's own" {
  as_root
  edit 'del(.linux.uidMappings, .linux.gidMappings)
    | (.mounts[] | select(.type == "devpts").options) |= map(select(startswith("gid=") | not))'
  in_container 'id -u; cat /proc/self/uid_map'
  [ "$status" -eq 0 ]
  [[ $output =~ ^0.*0[[:space:]]+0[[:space:]]+1$ ]]
  [ "$(echo "$output" | head -n 1)" = 0 ]
  POLICY=(--policy builtin:default)
  create_fails 'userns.mapping'
}
