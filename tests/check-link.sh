#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What the dynamic linker would do for the program, read from its header: libc and no other
# library, no search path of its own, and the hardening that the build promises.  Runs in the
# build directory; prints TAP.
set -u

program=${AGENTRUN:-./agentrun}
readelf=${READELF:-readelf}
number=0

say ()
{
  number=$((number + 1))
  if [ "$1" -eq 0 ]; then echo "ok $number - $2"; else echo "not ok $number - $2"; fi
}

if [ -n "${LINK_TEST_SKIP:-}" ]; then
  echo "1..0 # SKIP not for $LINK_TEST_SKIP"
  exit 0
fi

echo "1..4"
dynamic=$(LC_ALL=C "$readelf" -dW "$program") || { echo "Bail out! can't read $program"; exit 1; }
needed=$(sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' <<<"$dynamic" | sort | tr '\n' ' ')
[ "$needed" = "libc.so.6 " ]
say $? "needs libc.so.6 and nothing else (found: $needed)"
! grep -Eq '\((RPATH|RUNPATH)\)' <<<"$dynamic"
say $? "has no RPATH or RUNPATH"
grep -q 'BIND_NOW' <<<"$dynamic" && LC_ALL=C "$readelf" -lW "$program" | grep -q 'GNU_RELRO'
say $? "binds all symbols at start and makes them read-only"
LC_ALL=C "$readelf" -hW "$program" | grep -q 'Type: *DYN' && grep -q 'PIE' <<<"$dynamic"
say $? "is a position independent executable"
