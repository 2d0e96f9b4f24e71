#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The log file, which engines read to tell their user what went wrong.

load lib.bash

setup_file () { common_setup_file; }
teardown_file () { common_teardown_file; }
setup () { common_setup; }
teardown () { common_teardown; }

# A failure that no policy has to do with.
breakage ()
{
  args /bin/nosuchprogram
}

@test "a failure is exactly one JSON line with level, msg and time, and nothing on stdout" {
  breakage
  try_create ar_logged create -b "$BUNDLE" "$ID"
  cat "$LOG"
  [ "$status" -eq 1 ]
  [ -z "$output" ]
  [ "$(wc -l <"$LOG")" -eq 1 ]
  [ "$(jq -r .level "$LOG")" = error ]
  [ -n "$(jq -r .msg "$LOG")" ]
  [[ $(jq -r .time "$LOG") =~ ^20[0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9:.]+(Z|[+-][0-9:]+)$ ]]
}

@test "success writes nothing to the log" {
  ar_logged create -b "$BUNDLE" "$ID" </dev/null >"$T/out" 2>&1
  ar_logged start "$ID"
  wait_for 5 stopped "$ID"
  ar_logged delete "$ID"
  [ ! -s "$LOG" ]
  [ ! -s "$T/out" ]
}

@test "the log file is appended to" {
  echo '{"level":"error","msg":"earlier"}' >"$LOG"
  breakage
  try_create ar_logged create -b "$BUNDLE" "$ID"
  [ "$(wc -l <"$LOG")" -eq 2 ]
  [ "$(head -n 1 "$LOG" | jq -r .msg)" = earlier ]
}

@test "without --log the message is on standard error" {
  breakage
  try_create ar create -b "$BUNDLE" "$ID"
  [ -z "$output" ]
  [[ $stderr == *"no such file or directory"* ]]
}

@test "the text format is a line of text" {
  breakage
  try_create ar --log "$LOG" --log-format text create -b "$BUNDLE" "$ID"
  cat "$LOG"
  [ "$(wc -l <"$LOG")" -eq 1 ]
  grep -q 'no such file or directory' "$LOG"
  run ! jq -e . "$LOG"
}

@test "file: before the path, and the equals form" {
  breakage
  try_create ar "--log=file:$LOG" --log-format=json create -b "$BUNDLE" "$ID"
  [ "$(jq -r .level "$LOG")" = error ]
}

@test "quotes, backslashes and control characters of the input are escaped" {
  edit '.process.args = ["/bin/no\"such\\program\u0001\n\tx"]'
  try_create ar_logged create -b "$BUNDLE" "$ID"
  cat "$LOG"
  [ "$(wc -l <"$LOG")" -eq 1 ]
  jq -e .msg "$LOG"
}

@test "a log that is a symbolic link is not written through" {
  breakage
  echo precious >"$T/victim"
  ln -s "$T/victim" "$LOG"
  try_create ar_logged create -b "$BUNDLE" "$ID"
  [ "$status" -ne 0 ]
  [ "$(cat "$T/victim")" = precious ]
}

@test "a log that is a pipe without a reader does not block" {
  breakage
  mkfifo "$LOG"
  try_create timeout 10 env "$MARK" "$AGENTRUN" --root "$ROOT" --log "$LOG" --log-format json \
    "${POLICY[@]}" create -b "$BUNDLE" "$ID"
  [ "$status" -ne 0 ]
  [ "$status" -ne 124 ]
}

@test "an unknown log format or level is refused" {
  try_create ar --log "$LOG" --log-format xml create -b "$BUNDLE" "$ID"
  [ "$status" -eq 1 ]
  [[ $stderr == *xml* ]]
  try_create ar --log-level loud create -b "$BUNDLE" "$ID"
  [ "$status" -eq 1 ]
  [[ $stderr == *loud* ]]
}

@test "debug output goes to the log or to standard error, never to standard output" {
  try_create ar --debug create -b "$BUNDLE" "$ID"
  [ "$status" -eq 0 ]
  [ -z "$output" ]
  ar delete --force "$ID"
}
