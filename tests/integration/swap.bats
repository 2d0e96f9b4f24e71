#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What was judged is what the container sees: the host's objects are swapped while create stands still between its verdict
# and the clone of init.  strace holds it there.

load lib.bash

setup_file ()
{
  command -v strace >/dev/null || { echo "strace is missing"; return 1; }
  common_setup_file
}
teardown_file () { common_teardown_file; }
teardown () { common_teardown; }

setup ()
{
  common_setup
  mkdir "$T/judged" "$T/evil"
  chmod 777 "$T/judged"
  echo good >"$T/judged/file"
  echo bad >"$T/evil/file"
  jq -n --arg s "$T/place" --arg j "$T/judged" '{version: 1, never: [], grants: [
    {kind: "mount", source: $s, mode: "rw", reason: "the test"}, {kind: "mount", source: $j, mode: "rw", reason: "the test"}]}' >"$T/policy.json"
  chmod 644 "$T/policy.json"
  POLICY=(--policy "$T/policy.json")
}

# held SCRIPT SWAP...: runs the container with SCRIPT; the shell words SWAP are run while create is held before it clones
# init, which is after everything was judged.  Sets status, output and stderr.
held ()
{
  script "$1"
  shift
  rm -f "$T/trace"
  env "$MARK" strace -f -o "$T/trace" -e trace=clone3 -e inject=clone3:delay_enter=1500000:when=1 \
    timeout 30 "$AGENTRUN" --root "$ROOT" "${POLICY[@]}" run -b "$BUNDLE" "$ID" </dev/null >"$T/stdout" 2>"$T/stderr" 3>&- &
  local job=$! tries=200
  # The line is written when the call begins.
  until grep -q clone3 "$T/trace" 2>/dev/null; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || { cat "$T/stderr"; wait "$job"; return 1; }
    sleep 0.01
  done
  eval "$*"
  status=0
  wait "$job" || status=$?
  output=$(cat "$T/stdout")
  stderr=$(cat "$T/stderr")
  printf 'status: %s\nstdout: %s\nstderr: %s\n' "$status" "$output" "$stderr"
}

@test "a directory that another takes the place of" {
  mv "$T/judged" "$T/place"
  bind "$T/place" /work rw
  held 'cat /work/file; echo x >/work/new' 'mv "$T/place" "$T/away"; mv "$T/evil" "$T/place"'
  [ "$status" -eq 0 ]
  [ "$output" = good ]
  [ -e "$T/away/new" ] && [ ! -e "$T/place/new" ]
}

@test "a directory that becomes a link to one of the host's" {
  mv "$T/judged" "$T/place"
  bind "$T/place" /work rw
  held 'ls /work' 'mv "$T/place" "$T/away"; ln -s /etc "$T/place"'
  [ "$status" -eq 0 ]
  [ "$output" = file ]
}

@test "a link that led to what was granted and now leads elsewhere" {
  ln -s "$T/judged" "$T/link"
  bind "$T/link" /work rw
  held 'cat /work/file' 'ln -sfn "$T/evil" "$T/link"'
  [ "$status" -eq 0 ]
  [ "$output" = good ]
}

# The kernel mounts no file that has no name any more: then there is no container.
never_bad ()
{
  [[ $output != *bad* && $output != *socket* ]]
  [ "$status" -eq 0 ] || [[ $stderr == *"mount on /work/file: ENOENT"* ]]
}

@test "a file that another is renamed over, or that becomes a socket" {
  echo good >"$T/place"
  bind "$T/place" /work/file ro
  held 'cat /work/file' 'mv "$T/evil/file" "$T/place"'
  never_bad
  echo good >"$T/place"
  held 'test -S /work/file && echo socket; cat /work/file' 'rm "$T/place"; python3 -c "import socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1])" "$T/place"'
  never_bad
  rm "$T/place"
  echo good >"$T/place"
  ln "$T/place" "$T/kept"
  held 'cat /work/file' 'mv "$T/place" "$T/away"; echo bad >"$T/place"'
  [ "$status" -eq 0 ]
  [ "$output" = good ]
}

@test "a component above the source" {
  mkdir "$T/place"
  mv "$T/judged" "$T/place/sub"
  bind "$T/place/sub" /work rw
  held 'cat /work/file' 'mv "$T/place" "$T/away"; mkdir "$T/place"; mv "$T/evil" "$T/place/sub"'
  [ "$status" -eq 0 ]
  [ "$output" = good ]
}

@test "a mount made on the source after the verdict" {
  mv "$T/judged" "$T/place"
  bind "$T/place" /work rbind rw
  held 'cat /work/file; ls /work' 'mount --bind /etc "$T/place"'
  umount "$T/place"
  [ "$status" -eq 0 ]
  [ "$output" = $'good\nfile' ]
}

@test "the root file system" {
  cp -a "$BUNDLE/rootfs" "$T/other"
  echo bad >"$T/other/etc/which"
  rm -r "$BUNDLE/rootfs"
  cp -a "$FILE_DIR/rootfs" "$BUNDLE/rootfs"
  echo good >"$BUNDLE/rootfs/etc/which"
  held 'cat /etc/which' 'mv "$BUNDLE/rootfs" "$T/away"; mv "$T/other" "$BUNDLE/rootfs"'
  [ "$status" -eq 0 ]
  [ "$output" = good ]
}

@test "a namespace file that is bound to the host's" {
  POLICY=(--policy builtin:permissive)
  touch "$T/ns"
  unshare --net="$T/ns" true
  edit '.linux.namespaces |= map(if .type == "network" then .path = $p else . end)' --arg p "$T/ns"
  OWN_MOUNT="$T/ns"
  local judged
  judged=$(stat -Lc %i "$T/ns")
  held 'readlink /proc/self/ns/net' 'umount -l "$T/ns"; mount --bind /proc/self/ns/net "$T/ns"'
  umount "$T/ns"
  [ "$status" -eq 0 ]
  [ "$output" = "net:[$judged]" ]
}

@test "config.json" {
  held 'echo good' 'jq ".process.args = [\"/bin/echo\", \"bad\"]" "$BUNDLE/config.json" >"$T/new"; mv "$T/new" "$BUNDLE/config.json"'
  # It was read once; a start that came later would be refused (lifecycle.record).
  [ "$output" = good ] || [[ $stderr == *lifecycle.record* ]]
}

@test "a hook's program" {
  POLICY=(--policy builtin:permissive)
  printf '#!/bin/sh\necho good >"%s"\n' "$T/hooked" >"$T/hook"
  printf '#!/bin/sh\necho bad >"%s"\n' "$T/hooked" >"$T/other"
  chmod 755 "$T/hook" "$T/other"
  edit '.hooks.createRuntime = [{path: $p}]' --arg p "$T/hook"
  held true 'mv "$T/other" "$T/hook"'
  [ "$status" -eq 0 ]
  [ "$(cat "$T/hooked")" = good ]
}
