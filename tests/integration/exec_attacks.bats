#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# exec into a container whose processes lie in wait: what root inside, with CAP_SYS_ADMIN and no seccomp filter (only
# builtin:permissive lets that run), can do to the next process that comes in.  Not with CAP_SYS_PTRACE over the host's user
# namespace: who has that may look into every process that he sees, whatever a runtime does.

load lib.bash

setup_file () { common_setup_file; }
teardown_file () { common_teardown_file; }
teardown () { common_teardown; }

setup ()
{
  common_setup
  POLICY=(--policy builtin:permissive)
  as_root
  edit 'del(.linux.seccomp, .linux.maskedPaths, .linux.readonlyPaths) | .root.readonly = false | .process.noNewPrivileges = false
    | .process.capabilities = {bounding: $c, effective: $c, permitted: $c}' \
    --argjson c '["CAP_SYS_ADMIN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_CHOWN", "CAP_SYS_CHROOT"]'
}

# lie_in_wait SCRIPT: the workload, which has done it when this returns.
lie_in_wait ()
{
  script "$1
    touch /tmp/ready; while :; do sleep 0.1; done"
  create
  start "$ID"
  wait_for 10 test -e "/proc/$(pid_of "$ID")/root/tmp/ready"
}

try ()
{
  run --separate-stderr ar exec "$@"
  printf 'status: %s\nstdout: %s\nstderr: %s\n' "$status" "$output" "$stderr"
}

down ()
{
  ar delete --force "$ID"
  nothing_left
}

@test "something else over /proc: exec uses no file of it" {
  lie_in_wait 'mount -t tmpfs none /proc && mkdir -p /proc/self/fd /proc/self/attr /proc/thread-self/attr && : >/proc/self/attr/exec && : >/proc/self/oom_score_adj && : >/proc/self/setgroups'
  try "$ID" /bin/id -u
  # Either it runs, by a procfs of its own, or it is refused: a fake one is never written to.
  [ "$status" -eq 0 ] || [ "$status" -eq 255 ]
  [ "$status" -ne 0 ] || [ "$output" = 0 ]
  local root
  root="/proc/$(pid_of "$ID")/root"
  [ ! -s "$root/proc/self/attr/exec" ]
  [ ! -s "$root/proc/self/oom_score_adj" ]
  [ ! -s "$root/proc/self/setgroups" ]
  down
}

@test "the host's procfs would not be told from another: a bind of part of it over /proc/self" {
  lie_in_wait 'mount --bind /proc/1 /proc/self 2>/dev/null || mount --bind /proc/1/attr /proc/sys'
  try "$ID" /bin/id -u
  [ "$status" -eq 0 ] || [ "$status" -eq 255 ]
  down
}

@test "a terminal: /dev/pts that leads elsewhere, or is none" {
  lie_in_wait 'umount /dev/pts && rmdir /dev/pts && ln -s /tmp /dev/pts && : >/tmp/ptmx'
  run --separate-stderr python3 "$BATS_TEST_DIRNAME/terminal.py" timeout 20 env "$MARK" "$AGENTRUN" --root "$ROOT" "${POLICY[@]}" exec -t "$ID" /bin/id
  echo "$output $stderr"
  [ "$status" -eq 255 ]
  [[ $output$stderr == *"/dev/pts"* ]]
  try "$ID" /bin/id -u
  [ "$output" = 0 ]
  down
}

@test "/etc/passwd as a fifo, as a link to a kernel file, as a directory: nobody waits, nothing leaks" {
  local kind
  edit '.process.env |= map(select(startswith("HOME=") | not))'
  for kind in 'mkfifo /etc/passwd' 'ln -s /proc/kmsg /etc/passwd' 'ln -s /dev/zero /etc/passwd' 'mkdir /etc/passwd' 'yes | head -c 100000000 >/etc/passwd'; do
    lie_in_wait "rm -rf /etc/passwd; $kind"
    try "$ID" /bin/sh -c 'echo $HOME'
    [ "$status" -eq 0 ] || [ "$status" -eq 255 ]
    down
    rm -f "$BUNDLE/rootfs/tmp/ready"
    rm -rf "$BUNDLE/rootfs/etc/passwd"
  done
}

@test "CVE-2019-5736: a program that is the runtime's own executable leaves that as it is" {
  local before
  before=$(sha256sum <"$AGENTRUN")
  lie_in_wait 'printf "#!/proc/self/exe\n" >/bin/trap; chmod 755 /bin/trap
    (while :; do for e in /proc/[0-9]*/exe; do case $(readlink $e) in */busybox|"") ;; *) readlink $e >>/tmp/seen; { echo x >>$e; } 2>/dev/null && echo wrote >>/tmp/wrote; esac; done; done) &'
  local n
  for n in 1 2 3 4 5; do
    try "$ID" /bin/trap
    [ "$status" -ne 0 ]
    try "$ID" /bin/id -u
    [ "$output" = 0 ]
  done
  [ ! -e "/proc/$(pid_of "$ID")/root/tmp/wrote" ]
  [ "$(sha256sum <"$AGENTRUN")" = "$before" ]
  down
}

@test "CVE-2016-9962: the process that comes in can be neither traced nor its descriptors opened before it is the program" {
  lie_in_wait '(while :; do for p in /proc/[0-9]*; do case $(cat $p/comm 2>/dev/null) in agentrun*)
    for f in $p/fd/* $p/root $p/cwd $p/exe; do t=$(readlink $f 2>/dev/null) && echo "$f $t" >>/tmp/seen; done ;; esac; done; done) &'
  local n seen
  for n in $(seq 20); do
    ar exec "$ID" /bin/true
  done
  seen="/proc/$(pid_of "$ID")/root/tmp/seen"
  [ ! -e "$seen" ] || { cat "$seen"; false; }
  down
}

@test "CVE-2024-21626: a working directory that leads to a descriptor of the host" {
  lie_in_wait 'for n in 3 4 5 6 7 8 9 10 11 12; do ln -s /proc/self/fd/$n /link$n; done'
  local n
  for n in 3 4 5 6 7 8 9 10 11 12; do
    try --cwd "/link$n" "$ID" /bin/sh -c 'cat ../../../../../../../../etc/shadow; pwd'
    [[ $output != *root:* ]]
    [ "$status" -ne 0 ] || [[ $output == / ]]
    try --cwd "/proc/self/fd/$n" "$ID" /bin/pwd
    # One of its own, which is the container's root, or none.
    [ "$status" -eq 255 ] || [ "$output" = / ]
  done
  down
}

@test "the first process has changed its root: exec comes to the container's all the same, or is refused" {
  lie_in_wait 'mkdir -p /new/bin /new/tmp && cp /bin/busybox /new/bin/sh && cp /bin/busybox /new/bin/sleep && exec chroot /new /bin/sh -c ": >/tmp/ready; while :; do sleep 1; done"'
  try "$ID" /bin/sh -c 'echo /*'
  [ "$status" -eq 255 ] || [[ $output == *"/proc"* ]]
  down
}
