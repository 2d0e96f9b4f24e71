#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# NOTIFY_SOCKET, sd_notify(3): the workload gets a socket of agentrun's own, and only that it is ready goes out.

load lib.bash

setup_file () { common_setup_file; }
teardown_file () { common_teardown_file; }

setup ()
{
  common_setup
  # What a service manager would listen with: a datagram a line, in the file.
  python3 -c 'import socket, sys, time
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind(sys.argv[1])
with open(sys.argv[2], "w") as out:
    while True:
        print(repr(s.recv(4096).decode()), file=out, flush=True)' "$T/manager" "$T/heard" </dev/null >/dev/null 2>&1 3>&- &
  MANAGER=$!
  wait_for 20 test -S "$T/manager"
  chmod 600 "$T/manager"
  # A program of the image that sends its arguments, each as a message.
  cat >"$T/say.c" <<'C'
#include <string.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
int main (int argc, char **argv)
{
  struct sockaddr_un un = { .sun_family = AF_UNIX };
  int fd = socket (AF_UNIX, SOCK_DGRAM, 0);
  strcpy (un.sun_path, getenv ("NOTIFY_SOCKET"));
  for (int i = 1; i < argc; i++)
    if (sendto (fd, argv[i], strlen (argv[i]), 0, (struct sockaddr *) &un, sizeof un) < 0)
      return 1;
  pause ();
}
C
  gcc -static -o "$BUNDLE/rootfs/say" "$T/say.c"
}

teardown ()
{
  kill "$MANAGER" 2>/dev/null || true
  common_teardown
}

forwarder_gone ()
{
  ! grep -lsx agentrun-notify /proc/[0-9]*/comm | while read -r comm; do
    grep -qsF "$MARK" "${comm%comm}environ" && echo here
  done | grep -q here
}

@test "READY=1 goes out in agentrun's own words, and nothing else does" {
  args /say 'STATUS=working' 'FDSTORE=1' $'MAINPID=1\nSTOPPING=1' $'READY=1\nSTATUS=up' 'WATCHDOG=1'
  NOTIFY_SOCKET="$T/manager" ar create -b "$BUNDLE" "$ID" </dev/null >/dev/null 2>&1
  [ ! -s "$T/heard" ]
  start
  wait_for 20 test -s "$T/heard"
  wait_for 20 forwarder_gone
  cat "$T/heard"
  [ "$(cat "$T/heard")" = "'READY=1\\nMAINPID=$(pid_of "$ID")'" ]
  ar delete --force "$ID"
  nothing_left
}

@test "the process that listens is nobody, keeps no stream of the caller's, and ends with the container" {
  local pid
  args /bin/sleep 100
  NOTIFY_SOCKET="$T/manager" ar create -b "$BUNDLE" "$ID" </dev/null >"$T/out" 2>&1
  start
  for pid in $(grep -lsx agentrun-notify /proc/[0-9]*/comm | cut -d/ -f3); do
    grep -qsF "$MARK" "/proc/$pid/environ" || continue
    grep -q '^Uid:	65534	65534	65534	65534$' "/proc/$pid/status"
    grep -q '^CapEff:	0*$' "/proc/$pid/status"
    [ "$(find "/proc/$pid/fd" -type l | wc -l)" -eq 6 ]
    [ "$(readlink "/proc/$pid"/fd/[012] | sort -u)" = /dev/null ]
  done
  run ! forwarder_gone
  ar kill "$ID" KILL
  wait_for 20 forwarder_gone
  ar delete --force "$ID"
  [ ! -s "$T/heard" ]
  nothing_left
}

@test "in the container: a read-only tmpfs with a socket for the process's user alone" {
  script 'echo $NOTIFY_SOCKET; stat -c "%a %u %F" $NOTIFY_SOCKET; ls /run/notify; touch /run/notify/x 2>/dev/null || echo read-only
    grep " /run/notify " /proc/self/mountinfo | grep -o nosuid,nodev,noexec'
  edit '.process.env += ["NOTIFY_SOCKET=/host/path"]'
  NOTIFY_SOCKET="$T/manager" run ar run -b "$BUNDLE" "$ID"
  echo "$output"
  [ "$output" = $'/run/notify/notify.sock\n600 1000 socket\nnotify.sock\nread-only\nnosuid,nodev,noexec' ]
  wait_for 20 forwarder_gone
  nothing_left
}

@test "in a user namespace, and for run" {
  own_user_namespace
  gcc -static -o "$BUNDLE/rootfs/say" "$T/say.c"
  args /say READY=1
  NOTIFY_SOCKET="$T/manager" ar run -d -b "$BUNDLE" "$ID" </dev/null >/dev/null 2>&1
  wait_for 20 grep -q READY "$T/heard"
  ar delete --force "$ID"
  nothing_left
}

@test "an address that nobody listens at is an error" {
  for address in nothing "$T/none" @; do
    run --separate-stderr env NOTIFY_SOCKET="$address" "$AGENTRUN" --root "$ROOT" "${POLICY[@]}" run -b "$BUNDLE" "$ID"
    echo "$stderr"
    [ "$status" -eq 1 ]
    [[ $stderr == *NOTIFY_SOCKET* ]]
  done
  nothing_left
}
