#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Mounts: options, destinations that are links, masks, default devices.

load lib.bash

setup_file () { common_setup_file; }
teardown_file () { common_teardown_file; }
setup () { common_setup; }
teardown () { common_teardown; }

# Prints the options of the last mount on $1, per mount and per superblock.
options_of ()
{
  echo "awk '\$5 == \"$1\" { o = \$6 } END { print o }' /proc/self/mountinfo"
}

@test "the mounts of config.json are there with their types, in their order" {
  in_container "awk '{ for (i = 7; \$i != \"-\"; i++); print \$5, \$(i + 1) }' /proc/self/mountinfo"
  local expected
  for expected in "/proc proc" "/dev tmpfs" "/dev/pts devpts" "/dev/shm tmpfs" "/dev/mqueue mqueue" "/sys sysfs" "/tmp tmpfs"; do
    grep -qxF "$expected" <<<"$output"
  done
}

@test "mount options are applied" {
  edit '(.mounts[] | select(.destination == "/tmp") | .options) = ["nosuid", "noexec", "nodev", "noatime", "mode=0700", "uid=1000", "size=4096k"]'
  in_container "$(options_of /tmp); stat -c '%a %u' /tmp; df -k /tmp | tail -n 1"
  [[ ,${lines[0]}, == *,nosuid,* ]]
  [[ ,${lines[0]}, == *,nodev,* ]]
  [[ ,${lines[0]}, == *,noexec,* ]]
  [[ ,${lines[0]}, == *,noatime,* ]]
  [ "${lines[1]}" = "700 1000" ]
  [[ ${lines[2]} == *4096* ]]
}

@test "a tmpfs without a mode takes that of the directory it covers" {
  mkdir -m 2750 "$BUNDLE/rootfs/data"
  edit '.mounts += [{destination: "/data", type: "tmpfs", source: "tmpfs", options: ["size=1m"]}]'
  in_container 'stat -c %a /data'
  [ "$output" = 2750 ] || [ "$output" = 750 ]
}

@test "tmpcopyup copies what the image has" {
  mkdir -p "$BUNDLE/rootfs/data/sub"
  echo content >"$BUNDLE/rootfs/data/sub/file"
  chmod 640 "$BUNDLE/rootfs/data/sub/file"
  chown 1000:1000 "$BUNDLE/rootfs/data/sub/file"
  ln -s sub/file "$BUNDLE/rootfs/data/link"
  edit '.mounts += [{destination: "/data", type: "tmpfs", source: "tmpfs", options: ["size=1m", "tmpcopyup"]}]'
  in_container 'cat /data/link; stat -c "%a %u" /data/sub/file; readlink /data/link'
  [ "$output" = $'content\n640 1000\nsub/file' ]
}

@test "parameters of a file system on a bind mount are left out" {
  mkdir "$T/shared"
  edit '.mounts += [{destination: "/mnt", type: "bind", source: $s, options: ["bind", "ro", "mode=755", "size=1k"]}]' --arg s "$T/shared"
  in_container 'grep " /mnt " /proc/self/mountinfo'
  [ "$status" -eq 0 ]
  [[ $output == *" ro,"* ]]
}

@test "a bind mount, writable and read-only" {
  mkdir "$T/shared"
  chmod 777 "$T/shared"
  bind "$T/shared" /mnt rw
  in_container 'echo x >/mnt/file && cat /mnt/file'
  [ "$output" = x ]
  [ "$(stat -c %u "$T/shared/file")" -eq 1000 ]
  edit '(.mounts[] | select(.destination == "/mnt") | .options) = ["rbind", "ro"]'
  in_container 'cat /mnt/file; echo y >/mnt/file'
  [ "${lines[0]}" = x ]
  [ "$status" -ne 0 ]
  [ "$(cat "$T/shared/file")" = x ]
}

@test "a read-only bind mount is read-only even for root with all capabilities but mount rights" {
  mkdir "$T/shared"
  as_root
  bind "$T/shared" /mnt ro
  in_container 'touch /mnt/x'
  [ "$status" -ne 0 ]
  [ -z "$(ls -A "$T/shared")" ]
}

@test "a file can be bound over a file, and a missing destination is made" {
  echo content >"$T/file"
  as_root
  edit '.root.readonly = false'
  bind "$T/file" /new/dir/file ro
  in_container 'cat /new/dir/file'
  [ "$output" = content ]
}

@test "recursive and flat bind mounts differ" {
  mkdir -p "$T/tree/below"
  busybox mount -t tmpfs tmpfs "$T/tree/below"
  touch "$T/tree/below/inner"
  bind "$T/tree" /mnt rw
  in_container 'ls /mnt/below'
  [ -z "$output" ]
  edit '(.mounts[] | select(.destination == "/mnt") | .options) = ["rbind"]'
  in_container 'ls /mnt/below'
  [ "$output" = inner ]
  busybox umount "$T/tree/below"
}

@test "the recursive read-only option reaches mounts below" {
  mkdir -p "$T/tree/below"
  busybox mount -t tmpfs -o mode=1777 tmpfs "$T/tree/below"
  edit '.mounts += [{destination: "/mnt", type: "bind", source: $s, options: ["rbind", "rro"]}]' --arg s "$T/tree"
  in_container 'touch /mnt/below/x'
  [ "$status" -ne 0 ]
  busybox umount "$T/tree/below"
}

@test "mounts of the host made later don't appear inside" {
  mkdir -p "$T/tree/below"
  bind "$T/tree" /mnt rw
  script 'sleep 100'
  create
  start
  busybox mount -t tmpfs tmpfs "$T/tree/below"
  run grep -c "$T/tree/below\|/mnt/below" "/proc/$(pid_of "$ID")/mountinfo"
  busybox umount "$T/tree/below"
  ar delete --force "$ID"
  [ "$output" = 0 ]
}

@test "mounts inside don't appear on the host" {
  create
  run grep -cF "$T" /proc/self/mountinfo
  ar delete --force "$ID"
  [ "$output" = 0 ]
}

@test "nothing of the host's root can be seen in the mount table" {
  in_container 'cut -d" " -f4,5 /proc/self/mountinfo; ls /'
  [[ $output != *"/usr/bin"* ]]
  [ ! -e "$BUNDLE/rootfs/.pivot" ]
  [[ $output != *oldroot* ]]
}

@test "a destination through a link that leaves the root file system stays inside" {
  mkdir "$T/victim" "$T/shared"
  ln -s "$T/victim" "$BUNDLE/rootfs/link"
  as_root
  edit '.root.readonly = false'
  bind "$T/shared" /link/made rw
  in_container 'echo x >/link/made/file'
  [ -z "$(ls -A "$T/victim")" ]
}

@test "a destination through ../ of a link stays inside" {
  mkdir "$T/shared"
  touch "$T/shared/seen"
  ln -s ../../../../../../../.. "$BUNDLE/rootfs/up"
  edit '.root.readonly = false'
  as_root
  bind "$T/shared" /up/mnt ro
  in_container 'ls /mnt'
  [ "$output" = seen ]
  run ! grep -F "$T/shared" /proc/self/mountinfo
}

@test "an absolute link as destination is followed inside the root file system" {
  mkdir "$T/shared"
  touch "$T/shared/seen"
  ln -s /mnt "$BUNDLE/rootfs/link"
  bind "$T/shared" /link ro
  in_container 'ls /mnt'
  [ "$output" = seen ]
}

@test "a dangling link as destination makes nothing outside" {
  mkdir "$T/shared"
  ln -s "$T/made-outside" "$BUNDLE/rootfs/link"
  as_root
  edit '.root.readonly = false'
  bind "$T/shared" /link ro
  in_container true
  [ ! -e "$T/made-outside" ]
}

@test "a loop of links is an error that names the destination" {
  ln -s b "$BUNDLE/rootfs/a"
  ln -s a "$BUNDLE/rootfs/b"
  mkdir "$T/shared"
  bind "$T/shared" /a/x ro
  create_fails /a/x
}

@test "/dev that is a link is not followed to the host" {
  mkdir "$T/victim"
  touch "$T/victim/ptmx"
  rmdir "$BUNDLE/rootfs/dev"
  ln -s "$T/victim" "$BUNDLE/rootfs/dev"
  in_container true
  [ "$(ls "$T/victim")" = ptmx ]
  rm "$BUNDLE/rootfs/dev"
  ln -s ../../victim "$BUNDLE/rootfs/dev"
  in_container true
  [ "$(ls "$T/victim")" = ptmx ]
  nothing_left
}

@test "without a mount on /dev nothing is made outside the root file system" {
  mkdir "$T/victim"
  rmdir "$BUNDLE/rootfs/dev"
  ln -s "$T/victim" "$BUNDLE/rootfs/dev"
  edit 'del(.mounts[] | select(.destination | startswith("/dev"))) | .root.readonly = false'
  in_container true
  [ -z "$(ls -A "$T/victim")" ]
}

@test "/dev/null or /dev/console of the image that is a link is not followed" {
  echo precious >"$T/victim"
  mkdir -p "$BUNDLE/rootfs/dev"
  ln -s "$T/victim" "$BUNDLE/rootfs/dev/null"
  ln -s "$T/victim" "$BUNDLE/rootfs/dev/console"
  edit 'del(.mounts[] | select(.destination | startswith("/dev"))) | .root.readonly = false'
  as_root
  in_container 'echo x >/dev/null'
  [ "$(cat "$T/victim")" = precious ]
  [ "$(stat -c %u "$T/victim")" -eq 0 ]
}

@test "/proc or /sys that is a link in the image is refused" {
  mkdir "$BUNDLE/rootfs/fake"
  rmdir "$BUNDLE/rootfs/proc"
  ln -s fake "$BUNDLE/rootfs/proc"
  create_fails proc
  rm "$BUNDLE/rootfs/proc"
  mkdir "$BUNDLE/rootfs/proc"
  rmdir "$BUNDLE/rootfs/sys"
  ln -s fake "$BUNDLE/rootfs/sys"
  create_fails sys
}

@test "a bind mount over /proc can't make the runtime write elsewhere" {
  mkdir -p "$T/fake/self/attr" "$T/fake/sys/net/ipv4"
  touch "$T/fake/self/oom_score_adj" "$T/fake/sys/net/ipv4/ip_forward"
  edit '.linux.sysctl = {"net.ipv4.ip_forward": "1"} | .process.oomScoreAdj = 100'
  edit '.mounts += [{destination: "/proc", type: "bind", source: $s, options: ["bind"]}]' --arg s "$T/fake"
  in_container true
  [ ! -s "$T/fake/sys/net/ipv4/ip_forward" ]
  [ ! -s "$T/fake/self/oom_score_adj" ]
}

@test "masked paths: directories are empty, files are empty, and neither can be written" {
  mkdir -p "$BUNDLE/rootfs/secret/inner"
  echo secret >"$BUNDLE/rootfs/secret.txt"
  chmod 666 "$BUNDLE/rootfs/secret.txt"
  edit '.linux.maskedPaths += ["/secret", "/secret.txt", "/does/not/exist"]'
  in_container 'ls -A /secret; cat /secret.txt; echo x >/secret.txt 2>/dev/null; cat /secret.txt; touch /secret/x 2>/dev/null; ls -A /secret'
  [ -z "$output" ]
  [ "$(cat "$BUNDLE/rootfs/secret.txt")" = secret ]
}

@test "a masked path that is a link of the image masks nothing outside, and the target is not readable by it" {
  echo precious >"$T/victim"
  ln -s "$T/victim" "$BUNDLE/rootfs/secret"
  edit '.linux.maskedPaths += ["/secret"]'
  in_container 'cat /secret 2>/dev/null'
  [ -z "$output" ]
  run ! grep -F "$T/victim" /proc/self/mountinfo
}

@test "kernel files are masked" {
  in_container 'cat /proc/kcore | head -c 1 | wc -c; cat /proc/keys /proc/timer_list 2>/dev/null | wc -c; ls /proc/acpi /sys/firmware 2>/dev/null | grep -v :'
  [ "$(grep -vx 0 <<<"$output")" = "" ]
}

@test "read-only paths can be read and not written" {
  as_root
  edit '.linux.readonlyPaths += ["/tmp2", "/does/not/exist"] | .root.readonly = false'
  mkdir "$BUNDLE/rootfs/tmp2"
  in_container 'cat /proc/sys/kernel/ostype; echo 1 >/proc/sys/net/ipv4/ip_forward || echo ro; touch /tmp2/x || echo ro'
  [ "$output" = $'Linux\nro\nro' ]
}

@test "the default devices and links" {
  in_container 'for d in null zero full random urandom tty; do stat -c "%n %F %t:%T %a" /dev/$d; done
    for l in fd stdin stdout stderr ptmx; do echo "$l $(readlink /dev/$l)"; done; echo x >/dev/null; head -c 3 /dev/zero | wc -c; ls /dev/core 2>/dev/null'
  echo "$output" >"$T/out"
  grep -qx '/dev/null character special file 1:3 666' "$T/out"
  grep -qx '/dev/zero character special file 1:5 666' "$T/out"
  grep -qx '/dev/full character special file 1:7 666' "$T/out"
  grep -qx '/dev/random character special file 1:8 666' "$T/out"
  grep -qx '/dev/urandom character special file 1:9 666' "$T/out"
  grep -qx '/dev/tty character special file 5:0 666' "$T/out"
  grep -qx 'fd /proc/self/fd' "$T/out"
  grep -qx 'stdin /proc/self/fd/0' "$T/out"
  grep -qx 'stdout /proc/self/fd/1' "$T/out"
  grep -qx 'stderr /proc/self/fd/2' "$T/out"
  grep -qxE 'ptmx (/dev/)?pts/ptmx' "$T/out"
  grep -qx 3 "$T/out"
}

@test "a device of config.json with its mode and owner" {
  as_root
  edit '.linux.devices = [{path: "/dev/mine", type: "c", major: 1, minor: 5, fileMode: 384, uid: 1000, gid: 1000}]'
  in_container 'stat -c "%F %t:%T %a %u:%g" /dev/mine'
  [ "$output" = "character special file 1:5 600 1000:1000" ]
}

@test "the root file system: read-only and writable" {
  as_root
  in_container 'touch /x'
  [ "$status" -ne 0 ]
  edit '.root.readonly = false'
  in_container 'touch /x && ls /x'
  [ "$output" = /x ]
  [ -e "$BUNDLE/rootfs/x" ]
}

@test "an unknown mount type, a bad option and a missing source are errors that name the mount" {
  edit '.mounts += [{destination: "/mnt", type: "ext4", source: "/dev/null", options: []}]'
  create_fails '/mnt|ext4'
  edit 'del(.mounts[-1])'
  edit '.mounts += [{destination: "/mnt", type: "tmpfs", source: "tmpfs", options: ["nonsense=1"]}]'
  create_fails nonsense
  edit 'del(.mounts[-1])'
  bind /does/not/exist /mnt ro
  create_fails /does/not/exist
}

@test "a hundred mounts" {
  edit '.mounts += [range(100) | {destination: "/tmp/m\(.)", type: "tmpfs", source: "tmpfs", options: ["size=64k"]}]'
  in_container 'grep -c " /tmp/m" /proc/self/mountinfo'
  [ "$output" = 100 ]
}

@test "another type of file system is refused by the default policy, and mounted under the permissive one" {
  mkdir "$T/lower" "$T/upper" "$T/work"
  echo below >"$T/lower/file"
  edit '.mounts += [{destination: "/mnt", type: "overlay", source: "overlay",
    options: ["lowerdir=\($t)/lower", "upperdir=\($t)/upper", "workdir=\($t)/work"]}]' --arg t "$T"
  in_container 'cat /mnt/file'
  [ "$output" = below ]
  POLICY=(--policy builtin:default)
  in_container 'cat /mnt/file'
  [ "$status" -eq 1 ]
  [[ $stderr == *"mount.type: "*overlay* ]]
  nothing_left
}

@test "a tmpfs on a place that the image does not have can be written by all, also with tmpcopyup" {
  edit '.mounts += [{destination: "/new", type: "tmpfs", source: "tmpfs", options: ["nosuid"]},
    {destination: "/newer", type: "tmpfs", source: "tmpfs", options: ["nosuid", "tmpcopyup"]}]'
  in_container 'stat -c %a /new /newer; echo x >/newer/file && cat /newer/file'
  [ "$output" = $'1777\n1777\nx' ]
}
