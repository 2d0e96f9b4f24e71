#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What a reader of the sources may count on: licence, sizes, layout, nothing left open.  Reads the
# sources only; prints TAP.  What needs a tool that is not there is skipped by name.
set -u
cd "${srcdir:-$(dirname "$0")/..}" || exit 99

number=0
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

skip ()
{
  number=$((number + 1))
  echo "ok $number - $1 # SKIP $2"
}

c_files ()
{
  find src libocispec tests -name '*.[ch]' | sort | while read -r file; do
    # What a build in the source tree generated follows its schema.
    [ -e "${file%.?}.schema" ] || echo "$file"
  done
}

own_files ()
{
  c_files
  find src libocispec tests contrib man .ci -type f \
    \( -name '*.sh' -o -name '*.bats' -o -name '*.bash' -o -name '*.py' -o -name '*.am' \
       -o -name '*.schema' -o -name '*.[1-8]' -o -path .ci/run \) 2>/dev/null | sort
  printf '%s\n' configure.ac Makefile.am autogen.sh
}

without_licence ()
{
  own_files | while read -r file; do
    head -n 2 "$file" | grep -q 'SPDX-License-Identifier: Apache-2\.0' || echo "$file"
  done
}

# Written in two halves, so that this line does not find itself.
open_ends='TO''DO|FIX''ME'

# functions long: what is longer than 80 lines.  functions share: a line when fewer than nine of ten
# are within 45.
functions ()
{
  # shellcheck disable=SC2046 # no file name has a blank
  ctags -x --_xformat='%F %n %{end} %N' --kinds-C=f --fields=+ne --languages=C $(c_files) 2>/dev/null |
    awk -v mode="$1" '
      { n = $3 - $2 + 1; all++; if (n <= 45) short++ }
      mode == "long" && n > 80 { print $1 ":" $2 ": " $4 " has " n " lines" }
      END { if (mode == "share" && all > 0 && short < 0.9 * all)
              print "only " short " of " all " functions are within 45 lines" }'
}

echo "1..9"
say "every file names its licence" "$(without_licence)"
# shellcheck disable=SC2046
say "nothing is left open" "$(grep -nE "$open_ends" $(own_files))"
# shellcheck disable=SC2046
say "no line of C is longer than 100 columns" \
  "$(c_files | xargs awk 'length ($0) > 100 { print FILENAME ":" FNR }')"
say "no file of C has more than 800 lines" \
  "$(c_files | xargs wc -l | awk '$2 != "total" && $1 > 800 { print $2 ": " $1 " lines" }')"

if ctags --version 2>/dev/null | grep -q Universal; then
  say "no function has more than 80 lines" "$(functions long)"
  say "nine of ten functions are within 45 lines" "$(functions share)"
else
  skip "no function has more than 80 lines" "universal-ctags is missing"
  skip "nine of ten functions are within 45 lines" "universal-ctags is missing"
fi

format=
for candidate in clang-format-14 clang-format; do
  if "$candidate" --version 2>/dev/null | grep -q 'version 14\.'; then format=$candidate; break; fi
done
if [ -n "$format" ]; then
  # shellcheck disable=SC2046
  say "clang-format changes nothing" \
    "$("$format" --dry-run $(c_files) 2>&1 | grep 'warning:' | cut -d: -f1 | sort | uniq -c |
       awk '{ print $2 ": " $1 " places" }')"
else
  skip "clang-format changes nothing" "clang-format 14 is missing"
fi
say "each file of a room is in its sources.am" \
  "$(c_files | grep -E '^(src/[a-z]+|libocispec)/' | while read -r file; do
       grep -qwF "$file" "$(dirname "$file")/sources.am" || echo "$file"
     done)"
say "each unit test and fuzz target is built" \
  "$(find tests/unit tests/fuzz -name 'test_*.c' -o -name 'fuzz_*.c' | while read -r file; do
       grep -qwF "${file%.c}" "$(dirname "$file")"/*.am || echo "$file"
     done)"
