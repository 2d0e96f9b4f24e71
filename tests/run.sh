#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every test there is, in stages, each with its count; the last line is the sum.  Needs root (for
# packages, mounts and engines) and Debian's package archive if something is missing.  Works on a
# copy of the tree in a temporary directory and leaves nothing else behind; that is a test as well.
#
#   tests/run.sh [--fast] [--no-vm]
#     --fast   without sanitizers, clang, fuzzing, release archive and engines
#     --no-vm  without the virtual machine
set -u -o pipefail
# shellcheck disable=SC2317 # stages are called by name

packages='
  build-essential autoconf automake pkg-config git xz-utils python3
  libseccomp-dev libyajl-dev libselinux1-dev libmnl-dev libmd-dev libcmocka-dev
  clang clang-format universal-ctags
  bats jq strace busybox-static iproute2 iptables procps util-linux libcap2-bin
  docker.io containerd runc crun podman uidmap slirp4netns python3-grpcio catatonit
'
jobs=$(nproc)
test_limit=120 # seconds for one case
bats_limit=300 # for one file
engine_limit=900
fuzz_seconds=10
bats_alone='syscalls'

fast=0 vm=1
for argument; do
  case $argument in
    --fast) fast=1 ;;
    --no-vm) vm=0 ;;
    *) sed -n 's/^# \{0,1\}//; 6,9p' "$0" >&2; exit 2 ;;
  esac
done

exec </dev/null
cd "$(dirname "$0")/.." || exit 1
tree=$PWD
if [ "$(id -u)" != 0 ]; then
  echo "tests/run.sh needs root" >&2
  exit 1
fi

passed=0 failed=0 skipped=0
# Cases that failed beside another file and passed alone.  A few are the price of engines on a busy
# machine, and each is printed; more than this many are a fault.
unsteady=0 unsteady_limit=8
running=() # the processes of the jobs that go on
# Its name marks all that a stage starts: it is in the environment, the paths or the mounts.
work=$(mktemp -d "${TMPDIR:-/tmp}/agentrun-test-run-XXXXXX") || exit 1
logs=$work/logs
mkdir "$logs" "$work/tmp"
export TMPDIR=$work/tmp AGENTRUN_TEST_RUN=$work LC_ALL=C.UTF-8 BATS_TEST_TIMEOUT=$test_limit

# ---- Counting

# stage NAME PASSED FAILED SKIPPED LOG [SECONDS]: one line of output, and the end of the log if it failed.  A
# stage without a test is a failed one: it would pass for ever without looking at anything.
stage ()
{
  local name=$1 p=$2 f=$3 s=$4 log=$5
  if [ $((p + f + s)) -eq 0 ]; then
    f=1
    echo "$name ran no test" >>"$log"
  fi
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
  printf '%-34s %5d passed %3d failed %3d skipped  (%d s)\n' "$name" "$p" "$f" "$s" \
    "${6:-$((SECONDS - stage_start))}"
  if [ "$f" -gt 0 ]; then
    grep -E '^(not ok|FAIL:|ERROR:|XPASS:)|: (fatal )?error:' "$log" | head -n 40 | cut -c -300
    echo "---- the end of $log"
    tail -n 40 "$log" | cut -c -300
    echo "----"
  fi
  stage_start=$SECONDS
}
stage_start=$SECONDS

# check NAME LOG COMMAND...: a stage of one test, the success of COMMAND.
check ()
{
  local name=$1 log=$logs/$2
  shift 2
  if "$@" >"$log" 2>&1; then stage "$name" 1 0 0 "$log"; else stage "$name" 0 1 0 "$log"; fi
}

# How often automake's summary in LOG counts KIND (PASS, FAIL …).
summary ()
{
  sed -n "s/^# $1: *\([0-9]*\)\$/\1/p" "$2" | awk '{ n += $1 } END { print n + 0 }'
}

# make_check NAME LOG DIRECTORY: builds there and counts each case of make check.
make_check ()
{
  local name=$1 log=$logs/$2 directory=$3 status p f s
  make -C "$directory" -j"$jobs" check >"$log" 2>&1
  status=$?
  p=$(summary PASS "$log")
  f=$(($(summary FAIL "$log") + $(summary ERROR "$log") + $(summary XPASS "$log")))
  s=$(summary SKIP "$log")
  if [ "$status" -ne 0 ]; then
    [ "$f" -gt 0 ] || f=1
    cat "$directory/test-suite.log" >>"$log" 2>/dev/null
  fi
  stage "$name" "$p" "$f" "$s" "$log"
}

# A file of bats runs as a job: its TAP goes to LOG, its exit code and its seconds to LOG.status.

# tap_start LOG LIMIT COMMAND...: begins a job; its process is appended to the array of running ones.
tap_start ()
{
  local log=$logs/$1 limit=$2
  shift 2
  (
    # An interruption ends the job: bats is the child that gets the signal.
    timeout --kill-after=20 "$limit" "$@" >"$log" 2>&1 &
    job=$! begin=$SECONDS
    trap 'kill -TERM "$job"' TERM
    wait "$job"
    status=$?
    # A wait that the trap has ended.
    while kill -0 "$job" 2>/dev/null; do
      wait "$job"
      status=$?
    done
    [ "$status" -ne 124 ] && [ "$status" -ne 137 ] || echo "not within $limit seconds" >>"$log"
    echo "$status $((SECONDS - begin))" >"$log.status"
  ) &
  running+=($!)
}

# tap_count LOG: sets ok, notok, skips and took from what the job of LOG has written.  A broken-off run
# fails all that its plan still promised.
tap_count ()
{
  local log=$logs/$1 status plan missing
  status=1 took=0
  read -r status took 2>/dev/null <"$log.status"
  plan=$(sed -n 's/^1\.\.\([0-9]*\).*/\1/p' "$log" | head -n 1)
  skips=$(grep -cE '^ok .*# (skip|SKIP)' "$log")
  ok=$(($(grep -cE '^ok ' "$log") - skips))
  notok=$(grep -cE '^not ok ' "$log")
  missing=$((${plan:-0} - ok - notok - skips))
  [ "$missing" -le 0 ] || notok=$((notok + missing))
  [ "$status" -eq 0 ] || [ "$notok" -gt 0 ] || notok=1
}

# tap_file NAME LOG LIMIT COMMAND...: a job alone, counted as a stage.
tap_file ()
{
  local name=$1 log=$2 ok notok skips took
  shift
  tap_start "$@"
  wait "${running[@]}"
  running=()
  tap_count "$log"
  stage "$name" "$ok" "$notok" "$skips" "$logs/$log" "$took"
}

# ---- What is there, to compare at the end

list_mounts () { awk '{ print $5, $4 }' /proc/self/mountinfo | grep -F agentrun; }
list_cgroups () { find /sys/fs/cgroup -mindepth 1 -type d -path '*agentrun*' 2>/dev/null; }
list_directories () { ls -d /run/agentrun/* /var/lib/agentrun* 2>/dev/null; }

# Processes that carry the mark of this run.  It is taken out of the environment here, or the
# helpers of the listing would be among them.
marked_processes ()
(
  unset TMPDIR AGENTRUN_TEST_RUN AGENTRUN
  # Binary files, and processes that end meanwhile.
  grep -alsF "$work" /proc/[0-9]*/{environ,cmdline} | cut -d/ -f3
  find /proc/[0-9]*/{exe,cwd} -maxdepth 0 -lname "$work/*" 2>/dev/null | cut -d/ -f3
)

# Processes in a container of ours: what is mounted on their root comes from a directory of agentrun.
contained_processes ()
{
  grep -lsE '^([^ ]+ ){3}[^ ]*agentrun[^ ]* / |^([^ ]+ ){4}/ .*agentrun' /proc/[0-9]*/mountinfo |
    cut -d/ -f3
}

# describe: a line for each process id of the input that still runs.
describe ()
{
  local pid
  sort -u | while read -r pid; do
    # Not the helpers of the listing, which are dead by now, and maybe not yet waited for.
    if grep -q '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$pid/status" 2>/dev/null; then
      echo "$pid $(tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline")"
    fi
  done
}

snapshot ()
{
  list_mounts | sort >"$work/mounts.$1"
  list_cgroups | sort >"$work/cgroups.$1"
  list_directories | sort >"$work/directories.$1"
  { marked_processes; contained_processes; } >"$work/pids"
  describe <"$work/pids" | sort >"$work/processes.$1"
}

# What is there now and was not at the start.
left_behind ()
{
  local kind
  snapshot end
  for kind in processes mounts cgroups directories; do
    comm -13 "$work/$kind.start" "$work/$kind.end" | sed "s/^/$kind: /"
  done
}

nothing_left ()
{
  local left tries
  for tries in 1 2 3 4 5; do
    left=$(left_behind)
    [ -n "$left" ] || return 0
    [ "$tries" -eq 5 ] || sleep 1
  done
  printf 'left behind by the tests:\n%s\n' "$left"
  return 1
}

# After a failure: ends what carries the mark of this run, by its number, and nothing else; another
# run of the tests may go on beside this one.
sweep ()
{
  marked_processes >"$work/pids"
  describe <"$work/pids" | while read -r pid _; do
    [ "$pid" = $$ ] || kill -KILL "$pid" 2>/dev/null
  done
  list_mounts | grep -F "$work" | cut -d' ' -f1 | sort -r |
    while read -r mount; do umount -l "$mount" 2>/dev/null; done
}

finish ()
{
  local before=$failed
  if [ "$unsteady" -gt "$unsteady_limit" ]; then
    echo "$unsteady unsteady cases are more than $unsteady_limit"
    failed=$((failed + 1))
    before=$failed
  fi
  check "nothing is left behind" leftover.log nothing_left
  [ "$failed" -eq "$before" ] || sweep
  if [ "$failed" -eq 0 ]; then
    rm -rf --one-file-system "$work"
  else
    find "$work" -mindepth 1 -maxdepth 1 ! -name logs -exec rm -rf --one-file-system {} +
    echo "logs: $logs"
  fi
  if [ "$skipped" -gt 0 ]; then
    echo "$passed passed, $failed failed, $skipped skipped"
  else
    echo "$passed passed, $failed failed"
  fi
  [ "$failed" -eq 0 ]
  exit
}

# ---- Stages

install_packages ()
{
  local missing='' package
  for package in $packages; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
      missing="$missing $package"
  done
  [ -n "$missing" ] || return 0
  echo "installing:$missing"
  export DEBIAN_FRONTEND=noninteractive
  # shellcheck disable=SC2086 # a list
  apt-get install -y --no-install-recommends $missing && return 0
  # The package lists are missing or old.
  # shellcheck disable=SC2086
  apt-get update && apt-get install -y --no-install-recommends $missing
}

# The files of the tree, and not what builds have left in it.
copy_tree ()
{
  mkdir "$work/src"
  if git -C "$tree" rev-parse --git-dir >/dev/null 2>&1; then
    git -C "$tree" -c safe.directory="$tree" ls-files -z --cached --others --exclude-standard |
      (cd "$tree" && xargs -0 sh -c 'for f; do [ ! -e "$f" ] || printf "%s\0" "$f"; done' -) |
      tar -C "$tree" --null -T - -cf - | tar -C "$work/src" -xf -
  else
    tar -C "$tree" -cf - . | tar -C "$work/src" -xf -
  fi && "$work/src/autogen.sh"
}

# configure_in NAME ARGUMENTS...: configures in $work/NAME.
configure_in ()
{
  local directory=$work/$1
  shift
  mkdir "$directory" && (cd "$directory" && "$work/src/configure" "$@")
}

# Ends here if something failed: nothing that follows could work.
require () { [ "$failed" -eq 0 ] || finish; }

with_clang ()
{
  configure_in clang CC=clang --enable-werror &&
    make -C "$work/clang" -j"$jobs" check TESTS=
}

release_archive ()
{
  make -C "$work/gcc" -j"$jobs" distcheck TESTS=
}

installed_program ()
{
  make -C "$work/gcc" install DESTDIR="$work/installed" &&
    [ -x "$work/installed/usr/local/bin/agentrun" ] &&
    "$work/installed/usr/local/bin/agentrun" --version
}

# What the fuzzers start from: the documents that the tables of tests/policy change.
fuzz_corpus ()
{
  local policy=$work/src/tests/policy file
  mkdir -p "$work/corpus"/fuzz_{config,evaluation,policy,process}
  cp "$policy/base.config.json" "$work/corpus/fuzz_config/"
  { cat "$policy/base.config.json" && printf '\0' && cat "$policy/base.facts.json"; } >"$work/corpus/fuzz_evaluation/base"
  jq .process "$policy/base.config.json" >"$work/corpus/fuzz_process/base"
  for file in "$policy"/*/*.json; do
    jq -e .policy "$file" >"$work/corpus/fuzz_policy/${file//\//-}" 2>/dev/null || rm -f "$work/corpus/fuzz_policy/${file//\//-}"
  done
}

fuzz_targets ()
{
  local log=$logs/fuzz.log p=0 f=0 target
  if ! { configure_in fuzz CC=clang --enable-fuzzing CFLAGS='-g -O1' &&
         make -C "$work/fuzz" -j"$jobs"; } >"$log" 2>&1; then
    stage "fuzz targets" 0 1 0 "$log"
    return
  fi
  fuzz_corpus
  for target in "$work"/fuzz/tests/fuzz/fuzz_*; do
    case $target in *.o) continue ;; esac
    mkdir -p "$work/corpus/${target##*/}"
    if timeout $((fuzz_seconds * 6)) "$target" -max_total_time="$fuzz_seconds" -timeout=10 \
         -artifact_prefix="$logs/" "$work/corpus/${target##*/}" >>"$log" 2>&1; then
      p=$((p + 1))
    else
      f=$((f + 1))
      echo "not ok ${target##*/}" >>"$log"
    fi
  done
  stage "fuzz targets, $fuzz_seconds s each" "$p" "$f" 0 "$log"
}

# The names of the cases that failed in LOG as one regular expression for bats; nothing if the file
# broke off, since then all of it has to run again.
failed_cases ()
{
  local log=$1
  [ "$(grep -cE '^(not )?ok ' "$log")" -eq "$(sed -n 's/^1\.\.\([0-9]*\).*/\1/p' "$log" | head -n 1)" ] ||
    return 0
  # Names with a quotation mark are not what bats compares with.
  grep -qE '^not ok ([0-9]+ (setup|teardown)_file failed|.*")' "$log" && return 0
  sed -n 's/^not ok [0-9]* //p' "$log" | sed 's/ in [0-9]*ms$//; s/[][\\.*^$+?(){}|]/\\&/g' |
    awk '{ printf "%s%s", n++ ? "|" : "^(", $0 } END { if (n) print ")$" }'
}

# bats_again NAME LOG LIMIT FILE: what failed in LOG, once more and alone.  Sets ok, notok and skips.
bats_again ()
{
  local name=$1 log=$2 limit=$3 file=$4 cases before_ok=$ok before_skips=$skips before_failed=$notok
  cases=$(failed_cases "$logs/$log")
  mv "$logs/$log" "$logs/first-$log"
  tap_start "$log" "$limit" bats --formatter tap ${cases:+--filter "$cases"} "$file"
  wait "${running[@]}"
  running=()
  tap_count "$log"
  if [ -n "$cases" ]; then
    # A name that the expression did not find must not pass for that; the others have been counted.
    [ $((ok + notok + skips)) -eq "$before_failed" ] || notok=$((before_failed - ok))
    ok=$((before_ok + ok)) skips=$((before_skips + skips))
  fi
  if [ "$notok" -eq 0 ]; then
    unsteady=$((unsteady + before_failed))
    echo "unsteady, passed alone: $name:"
    grep -E '^not ok ' "$logs/first-$log" | cut -c -200
    grep -A 12 -E '^not ok ' "$logs/first-$log" | grep -E '^#' | head -n 24 | cut -c -200
  fi
}

# bats_in DIRECTORY LIMIT: each file is a stage, two of them at a time; a directory without one fails.
# A file whose name is in bats_alone measures what others would disturb, and runs by itself.
bats_in ()
{
  local directory=tests/$1 prefix=$1 limit=$2 file name again=() alone=() log index job
  local ok notok skips took
  local -a files=()
  for file in "$work/src/$directory"/*.bats; do
    [ -e "$file" ] || continue
    case " $bats_alone " in
      *" $(basename "$file" .bats) "*) alone+=("$file") ;;
      *) files+=("$file") ;;
    esac
  done
  if [ $((${#files[@]} + ${#alone[@]})) -eq 0 ]; then
    stage "$directory" 0 0 0 "$logs/$prefix.log"
    return
  fi
  local -A name_of=()
  local next=0 workers=2
  while [ "$next" -lt "${#files[@]}" ] || [ "${#running[@]}" -gt 0 ]; do
    while [ "$next" -lt "${#files[@]}" ] && [ "${#running[@]}" -lt "$workers" ]; do
      name=$(basename "${files[next]}" .bats)
      tap_start "$prefix-$name.log" "$limit" bats --timing --formatter tap "${files[next]}"
      name_of[${running[-1]}]=$name
      next=$((next + 1))
    done
    wait -n -p job "${running[@]}"
    for index in "${!running[@]}"; do
      [ "${running[index]}" != "$job" ] || unset "running[index]"
    done
    running=("${running[@]}")
    name=${name_of[$job]}
    log=$prefix-$name.log
    tap_count "$log"
    if [ "$notok" -gt 0 ]; then
      again+=("$name")
      echo "$directory/$name: $notok failed, to be run alone"
    else
      stage "$directory/$name" "$ok" "$notok" "$skips" "$logs/$log" "$took"
    fi
  done
  for name in "${again[@]}"; do
    log=$prefix-$name.log
    tap_count "$log"
    bats_again "$directory/$name" "$log" "$limit" "$work/src/$directory/$name.bats"
    stage "$directory/$name" "$ok" "$notok" "$skips" "$logs/$log" "$took"
  done
  for file in "${alone[@]}"; do
    name=$(basename "$file" .bats)
    tap_file "$directory/$name" "$prefix-$name.log" "$limit" bats --timing --formatter tap "$file"
  done
}

interrupted ()
{
  trap '' INT TERM
  echo interrupted
  failed=$((failed + 1))
  if [ "${#running[@]}" -gt 0 ]; then
    kill -TERM "${running[@]}"
    wait "${running[@]}"
  fi
  finish
}
trap interrupted INT TERM

# In a function, which the shell has read to its end before it runs: a change of this file during a
# run changes nothing.
run_stages ()
{
  check "packages" packages.log install_packages
  require
  snapshot start
  check "autogen" autogen.log copy_tree
  require
  check "configure" configure.log configure_in gcc --enable-werror
  require
  make_check "make check" check.log "$work/gcc"
  [ -x "$work/gcc/agentrun" ] || finish
  export AGENTRUN=$work/gcc/agentrun AGENTRUN_SHARED=${AGENTRUN_SHARED:-$tree/../shared}

  if [ "$fast" -eq 0 ]; then
    # No --enable-werror: what the sanitizers put in makes gcc warn about code that is right.
    check "configure with sanitizers" configure-sanitizers.log \
      configure_in sanitizers --enable-asan --enable-ubsan CFLAGS='-g -O1'
    make_check "make check with sanitizers" sanitizers.log "$work/sanitizers"
    check "clang without a warning" clang.log with_clang
    check "release archive" distcheck.log release_archive
    check "make install" install.log installed_program
    fuzz_targets
  fi
  bats_in integration "$bats_limit"
  [ "$fast" -eq 1 ] || bats_in engines "$engine_limit"
  if [ "$vm" -eq 1 ] && [ "$fast" -eq 0 ] && [ -e "$work/src/tests/vm/run.sh" ]; then
    tap_file "tests/vm" vm.log 1800 bash "$work/src/tests/vm/run.sh"
  fi
  finish
}

run_stages
