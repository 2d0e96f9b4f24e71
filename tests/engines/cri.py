# SPDX-License-Identifier: Apache-2.0
"""A client of the Kubernetes Container Runtime Interface, version v1, as the kubelet is one.

    cri.py SOCKET METHOD [JSON]         one call; prints the answer as JSON
    cri.py SOCKET stream METHOD JSON    Exec or Attach: standard input goes in, output comes out

A call that fails prints "CODE: message" on standard error and ends with 1.  Only the messages and fields that the
tests use are known; the numbers are those of the interface's api.proto.  A message is a dictionary of name:
(number, kind), kind being a scalar, another message, or a list of one of both; unknown fields of answers are skipped.
"""

import base64
import json
import os
import select
import socket
import struct
import sys
import urllib.parse

S, I, B = "string", "int", "bool"
MAP = [("map", {"key": (1, S), "value": (2, S)})]

INT64 = {"value": (1, I)}
METADATA = {"name": (1, S), "uid": (2, S), "namespace": (3, S), "attempt": (4, I)}
NAMESPACES = {"network": (1, I), "pid": (2, I), "ipc": (3, I), "target_id": (4, S)}
PROFILE = {"profile_type": (1, I), "localhost_ref": (2, S)}
SANDBOX_SECURITY = {
    "namespace_options": (1, NAMESPACES), "run_as_user": (3, INT64), "readonly_rootfs": (4, B),
    "supplemental_groups": (5, [I]), "privileged": (6, B), "run_as_group": (8, INT64), "seccomp": (9, PROFILE),
}
SANDBOX_CONFIG = {
    "metadata": (1, METADATA), "hostname": (2, S), "log_directory": (3, S), "labels": (6, MAP), "annotations": (7, MAP),
    "linux": (8, {"cgroup_parent": (1, S), "security_context": (2, SANDBOX_SECURITY), "sysctls": (3, MAP)}),
}
RESOURCES = {
    "cpu_period": (1, I), "cpu_quota": (2, I), "cpu_shares": (3, I), "memory_limit_in_bytes": (4, I),
    "oom_score_adj": (5, I), "cpuset_cpus": (6, S), "cpuset_mems": (7, S),
}
SECURITY = {
    "capabilities": (1, {"add_capabilities": (1, [S]), "drop_capabilities": (2, [S])}), "privileged": (2, B),
    "namespace_options": (3, NAMESPACES), "run_as_user": (5, INT64), "run_as_username": (6, S),
    "readonly_rootfs": (7, B), "supplemental_groups": (8, [I]), "no_new_privs": (11, B), "run_as_group": (12, INT64),
    "masked_paths": (13, [S]), "readonly_paths": (14, [S]), "seccomp": (15, PROFILE),
}
CONTAINER_CONFIG = {
    "metadata": (1, {"name": (1, S), "attempt": (2, I)}), "image": (2, {"image": (1, S)}), "command": (3, [S]),
    "args": (4, [S]), "working_dir": (5, S), "envs": (6, [{"key": (1, S), "value": (2, S)}]),
    "mounts": (7, [{"container_path": (1, S), "host_path": (2, S), "readonly": (3, B), "propagation": (5, I)}]),
    "devices": (8, [{"container_path": (1, S), "host_path": (2, S), "permissions": (3, S)}]),
    "labels": (9, MAP), "annotations": (10, MAP), "log_path": (11, S), "stdin": (12, B), "stdin_once": (13, B),
    "tty": (14, B), "linux": (15, {"resources": (1, RESOURCES), "security_context": (2, SECURITY)}),
}
CONTAINER = {"container_id": (1, S)}
SANDBOX = {"pod_sandbox_id": (1, S)}
STATUS = {
    "id": (1, S), "state": (3, I), "created_at": (4, I), "started_at": (5, I), "finished_at": (6, I),
    "exit_code": (7, I), "reason": (10, S), "message": (11, S), "log_path": (15, S),
}
URL = {"url": (1, S)}
METHODS = {
    "Version": ({"version": (1, S)}, {"runtime_name": (2, S), "runtime_version": (3, S)}),
    "RunPodSandbox": ({"config": (1, SANDBOX_CONFIG), "runtime_handler": (2, S)}, SANDBOX),
    "StopPodSandbox": (SANDBOX, {}),
    "RemovePodSandbox": (SANDBOX, {}),
    "PodSandboxStatus": (SANDBOX, {"status": (1, {"id": (1, S), "state": (3, I)})}),
    "ListPodSandbox": ({}, {"items": (1, [{"id": (1, S), "state": (3, I)}])}),
    "CreateContainer": ({"pod_sandbox_id": (1, S), "config": (2, CONTAINER_CONFIG),
                         "sandbox_config": (3, SANDBOX_CONFIG)}, CONTAINER),
    "StartContainer": (CONTAINER, {}),
    "StopContainer": ({"container_id": (1, S), "timeout": (2, I)}, {}),
    "RemoveContainer": (CONTAINER, {}),
    "ListContainers": ({}, {"containers": (1, [{"id": (1, S), "pod_sandbox_id": (2, S), "state": (6, I)}])}),
    "ContainerStatus": (CONTAINER, {"status": (1, STATUS)}),
    "UpdateContainerResources": ({"container_id": (1, S), "linux": (2, RESOURCES)}, {}),
    "ReopenContainerLog": (CONTAINER, {}),
    "ExecSync": ({"container_id": (1, S), "cmd": (2, [S]), "timeout": (3, I)},
                 {"stdout": (1, S), "stderr": (2, S), "exit_code": (3, I)}),
    "Exec": ({"container_id": (1, S), "cmd": (2, [S]), "tty": (3, B), "stdin": (4, B), "stdout": (5, B),
              "stderr": (6, B)}, URL),
    "Attach": ({"container_id": (1, S), "stdin": (2, B), "tty": (3, B), "stdout": (4, B), "stderr": (5, B)}, URL),
    "ContainerStats": (CONTAINER, {"stats": (1, {
        "cpu": (2, {"usage_core_nano_seconds": (2, INT64)}), "memory": (3, {"working_set_bytes": (2, INT64)})})}),
}


# ---- the wire format of protocol buffers

def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def chunk(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def encode_one(number, kind, value):
    if kind in (I, B):
        return varint(number << 3) + varint(int(value))
    if kind == S:
        return chunk(number, value.encode())
    return chunk(number, encode(kind, value))


def encode(message, values):
    out = b""
    for name, value in values.items():
        number, kind = message[name]
        if kind is MAP:
            for key in value:
                out += chunk(number, encode(MAP[0][1], {"key": key, "value": value[key]}))
        elif isinstance(kind, list):
            for item in value:
                out += encode_one(number, kind[0], item)
        else:
            out += encode_one(number, kind, value)
    return out


def read_varint(data, at):
    result = shift = 0
    while True:
        byte = data[at]
        at += 1
        result |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return result, at


def decode(message, data):
    names = {number: (name, kind) for name, (number, kind) in message.items()}
    out = {name: [] if isinstance(kind, list) else 0 if kind in (I, B) else "" if kind == S else {}
           for name, (number, kind) in message.items()}
    at = 0
    while at < len(data):
        key, at = read_varint(data, at)
        if key & 7 == 0:
            value, at = read_varint(data, at)
            value -= (value >> 63) << 64
        elif key & 7 == 2:
            size, at = read_varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            size = 8 if key & 7 == 1 else 4
            value, at = data[at:at + size], at + size
        if key >> 3 not in names:
            continue
        name, kind = names[key >> 3]
        single = kind[0] if isinstance(kind, list) else kind
        if single == S:
            value = value.decode(errors="replace")
        elif single not in (I, B):
            value = decode(single, value)
        if isinstance(kind, list):
            out[name].append(value)
        else:
            out[name] = value
    return out


# ---- calls

def call(path, method, request):
    import grpc
    asked, answered = METHODS[method]
    with grpc.insecure_channel("unix://" + path) as channel:
        invoke = channel.unary_unary("/runtime.v1.RuntimeService/" + method,
                                     request_serializer=lambda values: encode(asked, values),
                                     response_deserializer=lambda data: decode(answered, data))
        try:
            return invoke(request, timeout=60, wait_for_ready=True)
        except grpc.RpcError as error:
            sys.exit(f"{error.code().name}: {error.details()}")


# ---- streams: WebSocket (RFC 6455) with the kubelet's channels, one byte in front of each message

STDIN, STDOUT, STDERR, ERROR, RESIZE = range(5)


class Stream:
    def __init__(self, url):
        parts = urllib.parse.urlsplit(url)
        self.socket = socket.create_connection((parts.hostname, parts.port), timeout=60)
        self.left = b""
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall((
            f"GET {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Protocol: v4.channel.k8s.io\r\n\r\n").encode())
        while b"\r\n\r\n" not in self.left:
            self.left += self.more()
        head, self.left = self.left.split(b"\r\n\r\n", 1)
        if b" 101 " not in head.split(b"\r\n")[0]:
            sys.exit(f"no stream: {head.decode(errors='replace')}")

    def more(self):
        data = self.socket.recv(65536)
        if not data:
            raise EOFError
        return data

    def take(self, size):
        while len(self.left) < size:
            self.left += self.more()
        data, self.left = self.left[:size], self.left[size:]
        return data

    def receive(self):
        """The channel and the bytes of one message; the channel is None at the end."""
        try:
            head = self.take(2)
            size = head[1] & 0x7F
            if size > 125:
                size = struct.unpack("!H" if size == 126 else "!Q", self.take(2 if size == 126 else 8))[0]
            data = self.take(size)
        except (EOFError, ConnectionResetError):
            return None, b""
        if head[0] & 0xF == 8:
            return None, b""
        return (data[0], data[1:]) if data else (STDOUT, b"")

    def send(self, channel, data):
        data = bytes([channel]) + data
        mask = os.urandom(4)
        size = len(data)
        head = bytes([0x82]) + (bytes([0x80 | size]) if size < 126 else
                                struct.pack("!BH", 0xFE, size) if size < 65536 else struct.pack("!BQ", 0xFF, size))
        self.socket.sendall(head + mask + bytes(byte ^ mask[at % 4] for at, byte in enumerate(data)))


def stream(path, method, request):
    """The exit code of what was run comes as the error channel's status."""
    rows = request.pop("rows", None)
    made = Stream(call(path, method, request)["url"])
    if rows:
        made.send(RESIZE, json.dumps({"Height": rows[0], "Width": rows[1]}).encode())
    sources = [made.socket] + ([0] if request.get("stdin") else [])
    while True:
        ready = [made.socket] if made.left else select.select(sources, [], [], 60)[0]
        if not ready:
            sys.exit("nothing came for 60 seconds")
        if 0 in ready:
            data = os.read(0, 32768)
            if data:
                made.send(STDIN, data)
            else:
                sources.remove(0)
            continue
        channel, data = made.receive()
        if channel is None:
            return 0
        if channel == ERROR:
            status = json.loads(data)
            if status.get("status") == "Success":
                return 0
            causes = status.get("details", {}).get("causes", [])
            codes = [int(cause["message"]) for cause in causes if cause.get("reason") == "ExitCode"]
            print(status.get("message", ""), file=sys.stderr)
            return codes[0] if codes else 1
        out = sys.stderr if channel == STDERR else sys.stdout
        out.buffer.write(data)
        out.flush()


def main():
    path, method, rest = sys.argv[1], sys.argv[2], sys.argv[3:]
    if method == "stream":
        return stream(path, rest[0], json.loads(rest[1]))
    print(json.dumps(call(path, method, json.loads(rest[0]) if rest else {})))
    return 0


sys.exit(main())
