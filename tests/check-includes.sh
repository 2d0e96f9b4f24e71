#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Which room of the source tree may know which: dependencies point one way.  Reads the sources only;
# prints TAP.
set -u
cd "${srcdir:-$(dirname "$0")/..}" || exit 99

# room: the rooms whose headers it may include.  Its own goes without saying.
rooms='
libocispec:
base:
linux:      base libocispec
cgroup:     base libocispec linux
state:      base libocispec plan
spec:       base libocispec
policy:     base libocispec spec
plan:       base libocispec spec policy
container:  base libocispec spec policy plan linux cgroup state
cli:        base libocispec spec policy plan container linux cgroup state
agentrun.c: base cli linux
'
number=0

# say TITLE OFFENCES: one test, passed when there are no offences.
say ()
{
  number=$((number + 1))
  if [ -z "$2" ]; then
    echo "ok $number - $1"
  else
    echo "not ok $number - $1"
    # shellcheck disable=SC2001 # each line gets its mark
    sed 's/^/# /' <<<"$2"
  fi
}

sources_of ()
{
  case $1 in
    libocispec) find libocispec -name '*.[ch]' ;;
    *) find "src/$1" -name '*.[ch]' ;;
  esac | while read -r file; do
    # What a build in the source tree generated follows its schema.
    [ -e "${file%.?}.schema" ] || echo "$file"
  done
}

# owner HEADER ROOM: the room that "HEADER" belongs to when a file of ROOM includes it.
owner ()
{
  case $1 in
    */*) echo "${1%%/*}" ;;
    *)
      local found
      found=$(find src libocispec \( -name "$1" -o -name "${1%.h}.schema" \) -printf '%h\n' | sort -u)
      case $found in
        *$'\n'* | '') echo "$2" ;;
        libocispec) echo libocispec ;;
        *) echo "${found#src/}" ;;
      esac
      ;;
  esac
}

offences_of ()
{
  local room=$1 allowed=" $1 $2 " file line header
  sources_of "$room" | while read -r file; do
    grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "$file" | while IFS= read -r line; do
      # shellcheck disable=SC2001 # a pattern with a group
      header=$(sed 's/^[^"]*"\([^"]*\)".*/\1/' <<<"$line")
      case $allowed in
        *" $(owner "$header" "$room") "*) ;;
        *) echo "$file:${line%%:*}: may not include \"$header\"" ;;
      esac
    done
  done
}

listed=$(sed -n 's/^\([a-z.]*\):.*/\1/p' <<<"$rooms" | sort)
there=$({ echo libocispec; find src -mindepth 1 -maxdepth 1 \( -type d -o -name '*.c' \) -printf '%f\n'; } | sort)
count=$(wc -l <<<"$listed")
echo "1..$((count + 4))"

say "every room has a rule" "$(comm -13 <(echo "$listed") <(echo "$there"))"
while IFS=: read -r room allowed; do
  [ -n "$room" ] || continue
  say "$room includes nothing from above" "$(offences_of "$room" "$(tr -s ' ' ' ' <<<"$allowed")")"
done <<<"$rooms"

say "only libocispec knows yajl" \
  "$(grep -rnE --include='*.[ch]' 'include.*yajl|yajl_[a-z]+ *\(' src)"
say "linux, cgroup and state don't read the config" \
  "$(grep -rnwE --include='*.[ch]' 'oci_(config|process|mount|hooks|hook|linux|root)' \
       src/linux src/cgroup src/state)"
# A child of resolve_userns.c joins a user namespace, for nothing but to be looked at.
say "base, spec, policy and plan call no kernel interface for containers" \
  "$(grep -rnE --include='*.[ch]' \
       '\b(mount|umount2|unshare|setns|clone3?|pivot_root|chroot|fsopen|move_mount|mount_setattr) \(' \
       src/base src/spec src/policy src/plan |
     grep -vE '^[^:]*:[0-9]*: *(/?\*|//)|^src/spec/resolve_userns.c:[0-9]*:.*setns \(namespace, CLONE_NEWUSER\)')"
