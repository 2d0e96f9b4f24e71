# SPDX-License-Identifier: Apache-2.0
# What the set-ups of all engines share: waiting, processes, and the root file system of the test image.

# True while process $1 runs; a dead one that nobody has waited for yet does not.
engine_alive ()
{
  [ -n "$1" ] && grep -q '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$1/status" 2>/dev/null
}

# engine_at_once N COMMAND...: COMMAND 1 to COMMAND N at the same time, each of which has to end with its number.
engine_at_once ()
{
  local n=$1 i code pids=() result=0
  shift
  for i in $(seq "$n"); do
    "$@" "$i" >/dev/null 2>&1 3>&- </dev/null &
    pids+=($!)
  done
  for i in $(seq "$n"); do
    code=0
    wait "${pids[i - 1]}" || code=$?
    [ "$code" -eq "$i" ] || { echo "$i ended with $code"; result=1; }
  done
  return "$result"
}

# engine_wait SECONDS COMMAND...: until COMMAND succeeds.
engine_wait ()
{
  local tries=$(($1 * 10))
  shift
  while ! "$@" >/dev/null 2>&1; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || return 1
    sleep 0.1
  done
}

# Processes with one of the lines $1 in their command line, as "process: PID COMMAND".  The lines come
# through a descriptor, or grep would find itself.
engine_processes ()
{
  local dir
  grep -laFf <(printf '%s\n' "$1") /proc/[0-9]*/cmdline 2>/dev/null | while read -r dir; do
    dir=${dir%/cmdline}
    engine_alive "${dir#/proc/}" || continue
    echo "process: ${dir#/proc/} $(tr '\0' ' ' 2>/dev/null <"$dir/cmdline")"
  done
}

# Everything that is mounted below directory $1, the innermost first.
engine_unmount ()
{
  local path
  awk '{ print $5 }' /proc/self/mountinfo | grep -F "$1/" | sort -r | while read -r path; do
    busybox umount -l "$path"
  done
}

# engine_image_root DIRECTORY: busybox-static with all of its applets, a user `agent` and a file that is no program.
engine_image_root ()
{
  local root=$1 applet
  mkdir -p "$root"/{bin,dev,etc,home/agent,proc,root,run,sys,tmp,var}
  cp "$(command -v busybox)" "$root/bin/busybox"
  for applet in $(busybox --list); do
    [ -e "$root/bin/$applet" ] || ln -s busybox "$root/bin/$applet"
  done
  printf 'root:x:0:0::/root:/bin/sh\nagent:x:1000:1000::/home/agent:/bin/sh\n' >"$root/etc/passwd"
  printf 'root:x:0:\nagent:x:1000:\n' >"$root/etc/group"
  echo 'not a program' >"$root/etc/plain"
  chown 1000:1000 "$root/home/agent"
  chmod 1777 "$root/tmp"
}

# engine_left COMMAND...: what COMMAND prints of leftovers; what ends a moment after the client has its answer
# has ten seconds for it.
engine_left ()
{
  local left tries=50
  while left=$("$@"); [ -n "$left" ] && [ "$tries" -gt 0 ]; do
    tries=$((tries - 1))
    sleep 0.2
  done
  [ -z "$left" ] || printf '%s\n' "$left"
}
