#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What the process is: user, groups, capabilities, privileges, limits, environment, names.

load lib.bash

setup_file () { common_setup_file; }
teardown_file () { common_teardown_file; }
setup () { common_setup; }
teardown () { common_teardown; }

status_of ()
{
  in_container 'cat /proc/self/status'
}

# field NAME: the value of a line of /proc/PID/status.
field ()
{
  sed -n "s/^$1:[[:space:]]*//p" <<<"$output"
}

@test "user, group and supplementary groups are exactly those asked for" {
  edit '.process.user = {uid: 1234, gid: 2345, additionalGids: [10, 4000000000]}'
  status_of
  [ "$(field Uid)" = $'1234\t1234\t1234\t1234' ]
  [ "$(field Gid)" = $'2345\t2345\t2345\t2345' ]
  [ "$(field Groups | xargs)" = "10 4000000000" ]
}

@test "no supplementary group of the caller is left" {
  status_of
  [[ $(field Groups | xargs) == "" || $(field Groups | xargs) == 1000 ]]
}

@test "the umask" {
  in_container umask
  [ "$output" = 0022 ]
  edit '.process.user.umask = 63'
  in_container umask
  [ "$output" = 0077 ]
}

@test "no capability in any set" {
  status_of
  local set
  for set in CapInh CapPrm CapEff CapBnd CapAmb; do
    [ "$(field $set)" = 0000000000000000 ]
  done
}

@test "capability sets as asked for root" {
  as_root
  edit '.process.capabilities = {bounding: ["CAP_CHOWN", "CAP_KILL"], permitted: ["CAP_CHOWN", "CAP_KILL"], effective: ["CAP_CHOWN"]}'
  # Root gets all of the bounding set at execve, whatever was effective before.
  status_of
  [ "$(field CapBnd)" = 0000000000000021 ]
  [ "$(field CapPrm)" = 0000000000000021 ]
  [ "$(field CapInh)" = 0000000000000000 ]
  [ "$(field CapAmb)" = 0000000000000000 ]
}

@test "ambient capabilities stay over execve for a user" {
  edit '.process.capabilities = ({} | .bounding = ["CAP_NET_BIND_SERVICE"] | .permitted = .bounding | .effective = .bounding | .inheritable = .bounding | .ambient = .bounding)'
  status_of
  [ "$(field CapEff)" = 0000000000000400 ]
  [ "$(field CapAmb)" = 0000000000000400 ]
}

@test "the bounding set alone gives a user nothing" {
  edit '.process.capabilities = {bounding: ["CAP_CHOWN"], permitted: ["CAP_CHOWN"], effective: ["CAP_CHOWN"]}'
  status_of
  [ "$(field CapEff)" = 0000000000000000 ]
  [ "$(field CapBnd)" = 0000000000000001 ]
}

@test "noNewPrivileges on and off" {
  status_of
  [ "$(field NoNewPrivs)" = 1 ]
  edit '.process.noNewPrivileges = false'
  as_root
  status_of
  [ "$(field NoNewPrivs)" = 0 ]
}

@test "a seccomp filter need not allow what the runtime itself calls before execve" {
  local nnp
  args cat /proc/self/status
  edit '.linux.seccomp = {defaultAction: "SCMP_ACT_ERRNO", syscalls: [{action: "SCMP_ACT_ALLOW", names: [
    "execve", "openat", "open", "read", "write", "sendfile", "close", "fstat", "newfstatat", "brk", "mmap", "munmap",
    "mprotect", "arch_prctl", "set_tid_address", "set_robust_list", "rseq", "prlimit64", "readlinkat", "readlink",
    "getrandom", "getuid", "uname", "rt_sigaction", "exit_group", "exit"]}]}'
  for nnp in true false; do
    edit '.process.noNewPrivileges = $nnp' --argjson nnp "$nnp"
    run --separate-stderr ar run -b "$BUNDLE" "$ID"
    echo "$nnp: $output $stderr"
    [ "$status" -eq 0 ]
    # Nor does what it took to load the filter stay with the program.
    [[ $output == *CapInh:*0000000000000000*CapPrm:*0000000000000000*CapEff:*0000000000000000*CapBnd:*0000000000000000* ]]
    [[ $output == *CapAmb:*0000000000000000*Seccomp:*2* ]]
  done
}

@test "a seccomp filter is loaded, and refuses what it does not list" {
  status_of
  [ "$(field Seccomp)" = 2 ]
  edit '(.linux.seccomp.syscalls[].names) |= map(select(. != "mkdir" and . != "mkdirat"))'
  in_container 'mkdir /tmp/x'
  [ "$status" -ne 0 ]
  [[ $stderr == *"not permitted"* ]]
}

@test "without seccomp in config.json and a permissive policy there is no filter" {
  edit 'del(.linux.seccomp)'
  status_of
  [ "$(field Seccomp)" = 0 ]
}

@test "seccomp: errnoRet, arguments and the default errno" {
  edit '.linux.seccomp.defaultErrnoRet = 38 | (.linux.seccomp.syscalls[].names) |= map(select(. != "mkdir" and . != "mkdirat" and . != "umask"))
    | .linux.seccomp.syscalls += [{names: ["mkdir", "mkdirat"], action: "SCMP_ACT_ERRNO", errnoRet: 28}]'
  in_container 'mkdir /tmp/x'
  [[ $stderr == *"No space left"* ]]
}

@test "limits" {
  edit '.process.rlimits = [{type: "RLIMIT_NOFILE", soft: 100, hard: 200}, {type: "RLIMIT_CORE", soft: 0, hard: 0}, {type: "RLIMIT_STACK", soft: 1048576, hard: 2097152}]'
  in_container 'ulimit -Sn; ulimit -Hn; ulimit -c; ulimit -Ss; ulimit -Hs'
  [ "$output" = $'100\n200\n0\n1024\n2048' ]
}

@test "host name and domain name" {
  edit '.hostname = "box" | .domainname = "example.org"'
  in_container 'hostname; cat /proc/sys/kernel/domainname'
  [ "$output" = $'box\nexample.org' ]
  [ "$(hostname)" != box ]
}

@test "sysctls of the container's own namespaces" {
  edit '.linux.sysctl = {"net.ipv4.ip_unprivileged_port_start": "7", "net/ipv4/ping_group_range": "3 4", "kernel.msgmax": "4096"}'
  local before
  before=$(cat /proc/sys/net/ipv4/ip_unprivileged_port_start)
  in_container 'cd /proc/sys; cat net/ipv4/ip_unprivileged_port_start net/ipv4/ping_group_range kernel/msgmax'
  [ "$(xargs <<<"$output")" = "7 3 4 4096" ]
  [ "$(cat /proc/sys/net/ipv4/ip_unprivileged_port_start)" = "$before" ]
}

@test "a sysctl is never written where the host would get it" {
  local value name type
  # Each gets the value that it has: were it written, nothing would change.
  for name in net.ipv4.ping_group_range kernel.msgmax fs.mqueue.msg_max kernel.domainname; do
    case $name in net.*) type=network ;; *domain*) type=uts ;; *) type=ipc ;; esac
    value=$(tr '\t' ' ' <"/proc/sys/${name//.//}")
    edit '.linux.sysctl = {($name): $value} | .linux.namespaces |= map(select(.type != $type))
      | del(.hostname)' --arg name "$name" --arg value "$value" --arg type "$type"
    run --separate-stderr ar run -b "$BUNDLE" "$ID"
    [ "$status" -eq 1 ]
    [[ $stderr == *"sysctl.name: the kernel parameter $name would be set on the host"* ]]
    # A namespace of the host's joined by its path is no better.
    edit '.linux.namespaces += [{type: $type, path: "/proc/self/ns/\($proc)"}]' --arg type "$type" --arg proc "${type/network/net}"
    run --separate-stderr ar run -b "$BUNDLE" "$ID"
    echo "$stderr"
    [ "$status" -eq 1 ]
    [[ $stderr == *"sysctl.name: the kernel parameter $name would be set on the host: the $type namespace that is joined"* ]]
    edit '(.linux.namespaces[] | select(.type == $type)) |= {type: $type}' --arg type "$type"
  done
  edit '.linux.sysctl = {"kernel.core_pattern": "core"}'
  run --separate-stderr ar run -b "$BUNDLE" "$ID"
  [ "$status" -eq 1 ]
  [[ $stderr == *"kernel.core_pattern has one value for the whole host"* ]]
  nothing_left
}

@test "a sysctl that does not exist, or leaves /proc/sys, is an error that names it" {
  edit '.linux.sysctl = {"net.does.not.exist": "1"}'
  create_fails net.does.not.exist
  edit '.linux.sysctl = {"net/../../self/oom_score_adj": "1"}'
  create_fails
}

@test "oomScoreAdj" {
  edit '.process.oomScoreAdj = 321'
  in_container 'cat /proc/self/oom_score_adj'
  [ "$output" = 321 ]
}

@test "the environment is config.json's and nothing else" {
  edit '.process.env = ["PATH=/bin", "A=1", "B=two words"]'
  args /bin/env
  run --separate-stderr ar run -b "$BUNDLE" "$ID"
  echo "$output"
  [ "$(grep -v ^HOME= <<<"$output" | sort)" = $'A=1\nB=two words\nPATH=/bin' ]
}

@test "HOME comes from the image's passwd file when it is missing" {
  edit '.process.env = ["PATH=/bin"]'
  in_container 'echo $HOME'
  [ "$output" = /home/agent ]
}

@test "the image's passwd file can be a link or a pipe without harm" {
  edit '.process.env = ["PATH=/bin"]'
  mkfifo "$T/fifo"
  rm "$BUNDLE/rootfs/etc/passwd"
  mkfifo "$BUNDLE/rootfs/etc/passwd"
  in_container 'echo ran'
  [ "$output" = ran ]
  rm "$BUNDLE/rootfs/etc/passwd"
  ln -s "$T/fifo" "$BUNDLE/rootfs/etc/passwd"
  in_container 'echo ran'
  [ "$output" = ran ]
}

@test "pid 1, own namespaces, and only the container's processes" {
  in_container 'echo $$; ls -d /proc/[0-9]* | wc -l; for n in mnt pid net ipc uts; do readlink /proc/self/ns/$n; done'
  [ "${lines[0]}" = 1 ]
  [ "${lines[1]}" -le 4 ]
  local n i=2
  for n in mnt pid net ipc uts; do
    [ "${lines[$i]}" != "$(readlink /proc/self/ns/$n)" ]
    i=$((i + 1))
  done
}

@test "namespaces that are not asked for are the caller's" {
  edit '.linux.namespaces |= map(select(.type == "mount" or .type == "pid")) | del(.hostname)'
  in_container 'for n in net ipc uts; do readlink /proc/self/ns/$n; done'
  [ "$output" = "$(for n in net ipc uts; do readlink /proc/self/ns/$n; done)" ]
}

@test "a namespace by path is joined" {
  ip netns add "${CGROUP#/}"
  edit '(.linux.namespaces[] | select(.type == "network")).path = $p' --arg p "/run/netns/${CGROUP#/}"
  in_container 'readlink /proc/self/ns/net'
  local expected
  expected="net:[$(stat -L -c %i "/run/netns/${CGROUP#/}")]"
  ip netns del "${CGROUP#/}"
  rmdir /run/netns 2>/dev/null || busybox umount /run/netns 2>/dev/null && rmdir /run/netns 2>/dev/null || true
  [ "$output" = "$expected" ]
}

@test "a namespace path of the wrong type or that is no namespace is an error" {
  edit '(.linux.namespaces[] | select(.type == "network")).path = "/proc/self/ns/ipc"'
  create_fails
  edit '(.linux.namespaces[] | select(.type == "network")).path = "/etc/passwd"'
  create_fails
  edit '(.linux.namespaces[] | select(.type == "network")).path = "/does/not/exist"'
  create_fails
}

@test "a cgroup namespace hides the host's paths" {
  edit '.linux.namespaces += [{type: "cgroup"}]'
  in_container 'cat /proc/self/cgroup'
  [[ $output != *"$CGROUP"* ]]
}

@test "the loopback interface is up and the only one" {
  in_container 'ls /sys/class/net; ip -o addr show lo'
  [ "${lines[0]}" = lo ]
  [[ $output == *127.0.0.1/8* ]]
}

@test "the process can't gain root by a set-id file" {
  mkdir "$BUNDLE/rootfs/setid"
  cp "$BUNDLE/rootfs/bin/busybox" "$BUNDLE/rootfs/setid/grep"
  chmod 4755 "$BUNDLE/rootfs/setid/grep"
  in_container '/setid/grep Uid /proc/self/status'
  [[ $output == *$'1000\t1000\t1000\t1000'* ]]
}

@test "edges of user ids" {
  local uid
  for uid in 4294967295 4294967296 -1 '"0"' '"root"' 1.5 1e3 null; do
    edit '.process.user.uid = $u' --argjson u "$uid"
    args /bin/id
    try_create ar create -b "$BUNDLE" "$ID"
    if [ "$status" -eq 0 ]; then
      ar delete --force "$ID"
      echo "uid $uid was taken"
      # null is "absent" by the policy's reading of JSON, and 1e3 as rewritten by jq is 1000
      [ "$uid" = null ] || [ "$uid" = 1e3 ]
    fi
  done
  edit '.process.user.uid = 4294967294'
  in_container 'id -u'
  [ "$output" = 4294967294 ]
}
