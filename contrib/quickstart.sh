#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# From a clone to a demonstration, on a fresh Debian 12 or 13 as root: installs the packages that the
# build needs, builds out of tree, runs a hardened sandbox, and then tries three configurations that
# are refused.  Exit code 0 only if all four went as they should.
#
#   contrib/quickstart.sh [--install] [BUILD-DIRECTORY]     (default: ./build)
#
# Beside packages and the build directory nothing on the host is changed, unless --install is given;
# what the demonstration makes is in a temporary directory and removed at the end.
set -eu

packages='build-essential autoconf automake pkg-config python3 busybox-static
  libseccomp-dev libyajl-dev libselinux1-dev libmd-dev'

tree=$(cd "$(dirname "$0")/.." && pwd)
build=$tree/build
install=false
for argument; do
  case $argument in
    --install) install=true ;;
    -*) sed -n '3,10s/^# \{0,1\}//p' "$0"; exit 2 ;;
    *) build=$argument ;;
  esac
done
[ "$(id -u)" = 0 ] || { echo "quickstart: run this as root (containers need it)" >&2; exit 2; }

install_packages ()
{
  local missing='' package
  for package in $packages; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] \
      || missing="$missing $package"
  done
  [ -n "$missing" ] || return 0
  export DEBIAN_FRONTEND=noninteractive
  apt-get -qq update
  # shellcheck disable=SC2086 # a list
  apt-get -qq install -y --no-install-recommends $missing >/dev/null
}

build_agentrun ()
{
  mkdir -p "$build"
  build=$(cd "$build" && pwd)
  [ -x "$tree/configure" ] || (cd "$tree" && ./autogen.sh)
  cd "$build"
  [ -f Makefile ] || "$tree/configure" --quiet
  make --no-print-directory -j"$(nproc)"
  if [ "$install" = true ]; then
    make install
  fi
}

# step TEXT COMMAND...: the output only of what fails.
step ()
{
  echo "$1"
  shift
  if ! "$@" >"$work/log" 2>&1; then
    tail -n 30 "$work/log"
    exit 1
  fi
}

cleanup ()
{
  [ -z "${listener:-}" ] || kill "$listener" 2>/dev/null || true
  rm -rf --one-file-system "$work"
}

work=$(mktemp -d)
trap cleanup EXIT

# ---- The demonstration

# A root file system with nothing but busybox, and a configuration as an engine would write it.
make_bundle ()
{
  local bundle=$1 applet
  mkdir -p "$bundle/rootfs"/{bin,dev,etc,proc,sys,tmp}
  cp "$(command -v busybox)" "$bundle/rootfs/bin/busybox"
  for applet in sh id hostname ls touch cat grep; do
    ln -s busybox "$bundle/rootfs/bin/$applet"
  done
  cat >"$bundle/agent.sh" <<'AGENT'
echo "user:           $(id -u):$(id -g)"
echo "host name:      $(hostname)"
echo "network:        $(ls /sys/class/net)"
echo "privileges:     $(grep -E 'CapEff|NoNewPrivs|Seccomp:' /proc/self/status | while read -r k v; do echo -n "$k $v  "; done)"
echo "own files:      $(touch /bin/x 2>&1)"
echo "scratch space:  $(touch /tmp/x && echo /tmp can be written)"
AGENT
  cp "$bundle/agent.sh" "$bundle/rootfs/agent.sh"
  cat >"$bundle/config.json" <<'JSON'
{
  "ociVersion": "1.0.2",
  "process": {
    "user": { "uid": 1000, "gid": 1000 },
    "args": ["/bin/sh", "/agent.sh"],
    "env": ["PATH=/bin"],
    "cwd": "/",
    "noNewPrivileges": true,
    "capabilities": {}
  },
  "root": { "path": "rootfs", "readonly": true },
  "hostname": "sandbox",
  "mounts": [
    { "destination": "/proc", "type": "proc", "source": "proc", "options": ["nosuid", "noexec", "nodev"] },
    { "destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755", "size=64k"] },
    { "destination": "/sys", "type": "sysfs", "source": "sysfs", "options": ["nosuid", "noexec", "nodev", "ro"] },
    { "destination": "/tmp", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "nodev", "noexec", "mode=1777", "size=16m"] }
  ],
  "linux": {
    "cgroupsPath": "/agentrun-quickstart-ID",
    "namespaces": [ { "type": "pid" }, { "type": "network" }, { "type": "ipc" }, { "type": "uts" }, { "type": "mount" } ],
    "resources": { "memory": { "limit": 134217728 }, "pids": { "limit": 64 } }
  }
}
JSON
  sed -i "s/quickstart-ID/quickstart-$$/" "$bundle/config.json"
}

# change PYTHON-STATEMENT: the configuration c, changed.
change ()
{
  cp "$work/bundle/good.json" "$work/bundle/config.json"
  python3 - "$work/bundle/config.json" "$1" <<'PYTHON'
import json, sys
name, statement = sys.argv[1:]
c = json.load(open(name))
exec(statement)
json.dump(c, open(name, "w"), indent=1)
PYTHON
}

agentrun ()
{
  "$build/agentrun" --root "$work/state" --policy builtin:default "$@"
}

right=0

# The sandbox has to run, with what it says on standard output.
admitted ()
{
  printf '\n%s\n' "$1"
  if agentrun run -b "$work/bundle" quickstart >"$work/out" 2>&1 && grep -q 'user:  *1000:1000' "$work/out"; then
    sed 's/^/    /' "$work/out"
    right=$((right + 1))
  else
    sed 's/^/    /' "$work/out"
    echo "    NOT as it should be: this one had to run."
  fi
}

# denied TITLE RULE: the run has to be refused with that rule; check tells it so that it reads well.
denied ()
{
  printf '\n%s\n' "$1"
  if ! agentrun run -b "$work/bundle" quickstart >"$work/out" 2>&1 && grep -q "$2:" "$work/out"; then
    agentrun check "$work/bundle" 2>&1 | sed '/^tightened:/,$d; /^warned/,$d; /^$/d; s/^/    /'
    right=$((right + 1))
  else
    sed 's/^/    /' "$work/out"
    echo "    NOT as it should be: this one had to be refused by $2."
  fi
}

# The engine's socket if there is one, else a stand-in that somebody listens on.
find_socket ()
{
  socket=/var/run/docker.sock
  rule=mount.never
  [ ! -S "$socket" ] || return 0
  socket=$work/docker.sock
  rule=mount.socket
  python3 -c 'import socket, sys, time
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(1); time.sleep(600)' "$socket" &
  listener=$!
  while [ ! -S "$socket" ]; do sleep 0.1; done
}

demonstrate ()
{
  make_bundle "$work/bundle"
  cp "$work/bundle/config.json" "$work/bundle/good.json"
  find_socket

  admitted '1. A hardened sandbox: a user, no capabilities, a read-only root, own namespaces. It runs.'
  change "c['mounts'].append({'destination': '/var/run/docker.sock', 'type': 'bind', 'source': '$socket', 'options': ['rbind']})"
  denied "2. The same with $socket mounted. Refused." "$rule"
  change "c['process']['user'] = {'uid': 0, 'gid': 0}"
  denied '3. The same as root. Refused.' user.root
  change "c['linux']['namespaces'] = [n for n in c['linux']['namespaces'] if n['type'] != 'network']"
  denied "4. The same in the host's network. Refused." namespace.host

  printf '\n%s of 4 as they should be. ' "$right"
  echo "The binary is $build/agentrun; agentrun policy explain RULE tells more."
  [ "$right" -eq 4 ]
}

step 'Installing what the build needs ...' install_packages
step "Building in $build ..." build_agentrun
"$build/agentrun" --version | head -n 1
demonstrate
