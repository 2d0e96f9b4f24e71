#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Takes one descriptor on the socket SOCKET: receive.py SOCKET terminal|pidfd.  Of a terminal it
prints what is written there; of a process its pid, and `ended` once that has ended."""
import array
import os
import select
import socket
import sys

server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen()
print("listening", flush=True)
connection, _ = server.accept()
_, control, _, _ = connection.recvmsg(4096, socket.CMSG_SPACE(4))
fds = array.array("i")
fds.frombytes(control[0][2])
if sys.argv[2] == "pidfd":
    with open(f"/proc/self/fdinfo/{fds[0]}", encoding="utf-8") as info:
        print([line for line in info if line.startswith("Pid:")][0], end="", flush=True)
    select.select([fds[0]], [], [])
    print("ended", flush=True)
else:
    try:
        while text := os.read(fds[0], 4096):
            print(text.decode(), end="", flush=True)
    except OSError:  # EIO: nobody has it open any more
        pass
