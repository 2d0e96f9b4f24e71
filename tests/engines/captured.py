#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""captured.py AGENTRUN DIRECTORY: what `check` under builtin:default says of every captured config of an engine.

DIRECTORY holds ENGINE/CASE.config.json.  What such a config points at on the host (an engine's files, a pod's volumes,
sockets, the namespaces of a sandbox) is made of the same kind: in the mount namespace of this process, which has to be its
own (`unshare --mount`).  A line for each: ENGINE/CASE, the verdict, the rules that reject."""

import argparse
import copy
import ctypes
import json
import os
import shutil
import socket
import subprocess
import sys
import time

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--rootless", action="store_true", help="the rootless engines' configs, in a user namespace as theirs")
parser.add_argument("--profile", default="builtin:default", help="the built-in policy, where that is not builtin:default")
parser.add_argument("--cgroup", default=f"agentrun-captured-{os.getpid()}", help="what the sandboxes' groups begin with")
parser.add_argument("--verbose", action="store_true", help="each verdict's findings, to standard error")
parser.add_argument("agentrun")
parser.add_argument("captured")
parser.add_argument("only", nargs="*", help="only these cases")
options = parser.parse_args()
ROOTLESS = options.rootless
CLONE_NEWUSER, CLONE_NEWNS = 0x10000000, 0x00020000
LIBC = ctypes.CDLL(None, use_errno=True)
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
# The binary under test, in the scene.
AGENTRUN = "/run/bin/agentrun"
# Where the engines of the captures kept their data, and the homes that they knew.
COVERED = ["/run", "/var/lib", "/home", "/root"]
# The cases whose namespaces by path were those of the host: a process's number does not tell.
OF_HOST = {
    "cri/ctr-hostnet-c": {"network", "uts"},
    "cri/ctr-hostall-c": {"network", "uts", "ipc", "pid"},
    "trixie-cri/ctr-default": {"network", "uts"},
    "trixie-cri/ctr-hardened": {"network", "uts"},
    "trixie-cri/ctr-k8slike": {"network", "uts"},
}
# Data roots that the captured engines were given; the others are known to the policy.
STATE = ["/var/lib/docker-remap", "/var/lib/trx/dk/data", "/var/lib/trx/ctrd", "/run/trxctrd", "/var/lib/trx/pm", "/run/trxpm"]
ROOTLESS_UID = 1001
SINGLE_FILES = {
    "hosts", "hostname", "resolv.conf", ".containerenv", "termination-log", "etc-hosts", "token", "docker-init", "catatonit",
}


def mount(source, target, kind, flags=0, data=None):
    encoded = [s.encode() if s else None for s in (source, target, kind)]
    if LIBC.mount(*encoded, flags, data.encode() if data else None) != 0:
        raise OSError(ctypes.get_errno(), f"mount on {target}")


def parents(path):
    os.makedirs(os.path.dirname(path), exist_ok=True)


class Scene:
    """The host as a captured config saw it."""

    def __init__(self, binary, pause):
        """BINARY is the contents of the runtime's, PAUSE the config of a sandbox's first process."""
        mount(None, "/", None, MS_REC | MS_PRIVATE)
        for path in COVERED:
            mount("tmpfs", path, "tmpfs", data="mode=755")
        self.pause = pause
        parents(AGENTRUN)
        with open(AGENTRUN, "wb") as f:
            f.write(binary)
        os.chmod(AGENTRUN, 0o755)
        self.processes = []
        self.sockets = [self.listen("/run/docker.sock"), self.listen("/run/docker/containerd/containerd.sock")]
        os.makedirs("/root/cap")
        os.symlink("/var/run/docker.sock", "/root/cap/link.sock")
        # A daemon that is named and owned as Docker's is, for its hook.
        shutil.copy("/bin/busybox", "/run/dockerd")
        self.dockerd = self.start(["sleep", "600"], executable="/run/dockerd").pid
        # A process with namespaces of its own, which nobody has recorded.
        unshare = self.start(["unshare", "--net", "--ipc", "--uts", "--pid", "--fork", "--kill-child", "sleep", "600"])
        self.stranger = self.child_of(unshare.pid)
        self.policy = options.profile
        if not ROOTLESS:
            self.policy = "/run/policy.json"
            with open(self.policy, "w") as f:
                json.dump({"version": 1, "extends": options.profile, "never": [], "engines": {"state": STATE}}, f)
        self.flags = ["--root", "/run/state", "--policy"]
        self.sandboxes = {}

    def start(self, argv, **more):
        self.processes.append(subprocess.Popen(argv, stdin=subprocess.DEVNULL, **more))
        return self.processes[-1]

    def end(self):
        for sandbox in self.sandboxes:
            self.agentrun("delete", "--force", sandbox)
        for process in self.processes:
            process.kill()
            process.wait()

    @staticmethod
    def listen(path):
        parents(path)
        s = socket.socket(socket.AF_UNIX)
        s.bind(path)
        s.listen()
        return s

    @staticmethod
    def child_of(pid):
        for _ in range(500):
            with open(f"/proc/{pid}/task/{pid}/children") as f:
                children = f.read().split()
            if children and os.readlink(f"/proc/{children[0]}/exe") != os.readlink(f"/proc/{pid}/exe"):
                return int(children[0])
            time.sleep(0.01)
        raise TimeoutError("the process with namespaces of its own")

    def agentrun(self, *argv):
        return subprocess.run([AGENTRUN, *self.flags, self.policy, *argv],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)

    def sandbox(self, config):
        """The first process of the sandbox that a container's annotations name: created, never started."""
        name = config["annotations"]["io.kubernetes.cri.sandbox-id"]
        if name not in self.sandboxes:
            pause = copy.deepcopy(self.pause)
            pause["annotations"]["io.kubernetes.cri.sandbox-id"] = name
            pause["linux"]["cgroupsPath"] = f"/{options.cgroup}-{len(self.sandboxes)}"
            for entry in pause["linux"]["namespaces"]:
                entry.pop("path", None)
            where = self.bundle(pause, name)
            for program in ("sleep", "bin/sleep", "pause"):
                parents(f"{where}/rootfs/{program}")
                shutil.copy("/bin/busybox", f"{where}/rootfs/{program}")
            # What containerd sends for it is nothing that builtin:strict would admit.  Its streams are the container's: not a pipe, which would not end.
            with open("/run/create.out", "w+") as out:
                run = subprocess.run([AGENTRUN, *self.flags, "builtin:default", "create", "--bundle", where, name],
                                     stdin=subprocess.DEVNULL, stdout=out, stderr=out)
                out.seek(0)
                if run.returncode != 0:
                    raise RuntimeError(out.read())
            self.sandboxes[name] = json.loads(self.agentrun("state", name).stdout)["pid"]
        return self.sandboxes[name]

    def make_source(self, path):
        """The object that a bind's source names, where this host has none."""
        if path.startswith("/dev") or os.path.lexists(path):
            return
        parents(path)
        if os.path.basename(path) in SINGLE_FILES:
            open(path, "w").close()
        else:
            os.makedirs(path)

    def join(self, case, config, entry):
        """Where a captured namespace path leads: to the host, to the pod's sandbox or to somebody's."""
        kind = {"network": "net"}.get(entry["type"], entry["type"])
        if entry["type"] in OF_HOST.get(case, ()) or entry["path"].endswith("/netns/default"):
            of = os.getpid()
        elif "io.kubernetes.cri.container-name" in config.get("annotations", {}):
            of = self.sandbox(config)
        else:
            of = self.stranger
        if entry["path"].startswith("/proc/"):
            entry["path"] = f"/proc/{of}/ns/{kind}"
        elif not os.path.exists(entry["path"]):
            parents(entry["path"])
            open(entry["path"], "w").close()
            mount(f"/proc/{of}/ns/{kind}", entry["path"], None, MS_BIND)

    def bundle(self, config, name):
        where = f"/run/captured/{len(os.listdir('/run/captured')) if os.path.isdir('/run/captured') else 0}/{name}"
        os.makedirs(where, mode=0o700)
        for m in config.get("mounts", []):
            if {"bind", "rbind"} & set(m.get("options") or []):
                self.make_source(m["source"])
        os.makedirs(os.path.join(where, config["root"]["path"]), exist_ok=True)
        with open(where + "/config.json", "w") as f:
            json.dump(config, f)
        return where

    def judge(self, case, config):
        for entry in config["linux"].get("namespaces", []):
            if entry.get("path"):
                self.join(case, config, entry)
        for hook in config.get("hooks", {}).get("prestart", []):
            hook["path"] = f"/proc/{self.dockerd}/exe"
        # Podman's captures were made with --rootfs, which is no engine's storage; the rest of them is what counts here.
        if config["root"]["path"] in ("/root/pm/bb", "/home/cap/bb"):
            storage = "/home/cap/.local/share" if ROOTLESS else "/var/lib"
            config["root"]["path"] = f"{storage}/containers/storage/overlay/{case.replace('/', '-')}/merged"
        # Docker's hook names the container, whose id is the bundle's name.
        name = os.path.basename(config["linux"].get("cgroupsPath") or case.replace("/", "-")).removeprefix("libpod-")
        run = self.agentrun("check", "--format", "json", self.bundle(config, name))
        try:
            verdict = json.loads(run.stdout)
        except ValueError:
            return f"none: {run.returncode} {run.stderr}"
        if options.verbose:
            print(json.dumps(verdict.get("findings") or verdict, indent=1), file=sys.stderr)
        rejects = {f["rule"] for f in verdict.get("findings", []) if f["action"] == "reject"}
        return " ".join([verdict["verdict"], *sorted(rejects)])


def cases():
    for engine in sorted(os.listdir(options.captured)):
        if not os.path.isdir(os.path.join(options.captured, engine)) or engine.endswith("-rootless") != ROOTLESS:
            continue
        for name in sorted(os.listdir(os.path.join(options.captured, engine))):
            case = engine + "/" + name.removesuffix(".config.json")
            if name.endswith(".config.json") and (not options.only or case in options.only):
                with open(os.path.join(options.captured, engine, name)) as f:
                    yield case, json.load(f)


def user_namespace():
    """The user namespace of a rootless engine: the caller's id as root, and 65,536 subordinate ones."""
    ready, go = os.pipe(), os.pipe()
    child = os.fork()
    if child:
        os.read(ready[0], 1)
        for which in ("uid_map", "gid_map"):
            with open(f"/proc/{child}/{which}", "w") as f:
                f.write(f"0 {ROOTLESS_UID} 1\n1 200000 65536\n")
        os.write(go[1], b"x")
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    if LIBC.unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    os.write(ready[1], b"x")
    os.read(go[0], 1)
    os.setgroups([])
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)
    os.environ.update(HOME="/home/cap", XDG_RUNTIME_DIR=f"/run/user/{ROOTLESS_UID}")


# All of it is read before the scene covers it.
with open(options.agentrun, "rb") as source:
    program = source.read()
with open(os.path.join(options.captured, "cri/pod-default.config.json")) as source:
    sandbox = json.load(source)
todo = list(cases())
if ROOTLESS:
    user_namespace()
scene = Scene(program, sandbox)
try:
    for name, captured in todo:
        print(name, scene.judge(name, captured))
finally:
    scene.end()
