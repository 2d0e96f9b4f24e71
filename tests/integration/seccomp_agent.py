#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A seccomp agent: takes listeners on the socket SOCKET, writes what came with each as a line to LOG,
and answers every system call that is asked for with errno 123.  `gone` as third argument: takes the
listener and closes it."""
import array
import fcntl
import os
import socket
import struct
import sys
import threading

RECV, SEND = 0xC0502100, 0xC0182101


def answer(listener):
    while True:
        question = bytearray(80)
        try:
            fcntl.ioctl(listener, RECV, question)
            number = struct.unpack_from("=Q", question)[0]
            fcntl.ioctl(listener, SEND, bytearray(struct.pack("=QqiI", number, 0, -123, 0)))
        except OSError as error:
            if error.errno != 2:  # ENOENT: who asked is gone
                return


server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen()
print("listening", flush=True)
while True:
    connection, _ = server.accept()
    message, control, _, _ = connection.recvmsg(65536, socket.CMSG_SPACE(4))
    fds = array.array("i")
    for _, _, data in control:
        fds.frombytes(data)
    with open(sys.argv[2], "a", encoding="utf-8") as log:
        log.write(message.decode() + "\n")
    if len(fds) == 1 and sys.argv[3:] == ["gone"]:
        os.close(fds[0])
    elif len(fds) == 1:
        threading.Thread(target=answer, args=(fds[0],), daemon=True).start()
    connection.close()
