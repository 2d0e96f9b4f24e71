#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What builtin:default says of configs that were captured from real engines: captured.table has a line for each, and
# captured.py makes the host that they knew.  AGENTRUN is the binary under test; AGENTRUN_SHARED is where the
# captures lie, beside the repository.

bats_require_minimum_version 1.5.0

verdicts ()
{
  unshare --mount /usr/bin/python3 "$BATS_TEST_DIRNAME/captured.py" --cgroup "agentrun-captured-$$" "$@" "$AGENTRUN" "$AGENTRUN_SHARED/engines" >"$BATS_TEST_TMPDIR/verdicts"
}

expected ()
{
  grep "$@" '^[a-z-]*-rootless/' "$BATS_TEST_DIRNAME/captured.table"
}

setup ()
{
  [ -d "${AGENTRUN_SHARED:-}/engines" ] || skip "AGENTRUN_SHARED has no captures"
}

teardown ()
{
  [ -z "$(find /sys/fs/cgroup -maxdepth 2 -name "agentrun-captured-$$-*")" ]
}

@test "the configs of engines of root" {
  verdicts
  diff <(expected -v) "$BATS_TEST_TMPDIR/verdicts"
}

@test "the configs of rootless engines, in a user namespace as theirs" {
  verdicts --rootless
  diff <(expected -e) "$BATS_TEST_TMPDIR/verdicts"
}

@test "of each engine a hardened config is admitted, and a default one is not" {
  local engine
  for engine in docker podman podman-rootless trixie-docker trixie-podman; do
    grep -qx "$engine/hardened admitted" "$BATS_TEST_DIRNAME/captured.table"
    grep -qE "^$engine/run-d(efault)? denied .*user\.root" "$BATS_TEST_DIRNAME/captured.table"
  done
  # Kubernetes' hands its service account's token on, unless it is told not to.
  grep -qx 'cri/ctr-hardened denied mount.token' "$BATS_TEST_DIRNAME/captured.table"
}

@test "builtin:strict admits a hardened config of each engine" {
  local engine
  verdicts --profile builtin:strict
  rootful=$(cat "$BATS_TEST_TMPDIR/verdicts")
  verdicts --profile builtin:strict --rootless
  printf '%s\n' "$rootful" | cat - "$BATS_TEST_TMPDIR/verdicts" | grep hardened
  for engine in docker podman trixie-docker trixie-podman; do
    grep -qx "$engine/hardened admitted" <<<"$rootful"
  done
  # On cgroup v1 nobody delegates a group that would hold the limits.
  grep -qxE 'podman-rootless/hardened (admitted|denied limit\.unenforced)' "$BATS_TEST_TMPDIR/verdicts"
  grep -qx 'cri/ctr-hardened denied mount.token' <<<"$rootful"
}
