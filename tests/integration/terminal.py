# SPDX-License-Identifier: Apache-2.0
"""Runs a command in a terminal of its own, as a user would: terminal.py [-s ROWSxCOLS] [-r ROWSxCOLS]
[-w TEXT] [-k SECONDS] [-i INPUT] COMMAND...

Prints what the command shows, and ends with its exit code.  -s: the size at the beginning; -w: wait
until TEXT was shown; then -r: the size changes, and -i: is typed (backslash escapes are read), -k: with
so many seconds after each key.  -c:
says on the last line whether the terminal's modes are those from before.  Ends with 99 after 30
seconds."""

import argparse
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time


def set_size(fd, text):
    rows, cols = (int(n) for n in text.split("x"))
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-s", default="24x80")
    parser.add_argument("-r")
    parser.add_argument("-w")
    parser.add_argument("-i", default="")
    parser.add_argument("-k", type=float, default=0)
    parser.add_argument("-c", action="store_true")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    master, slave = pty.openpty()
    set_size(master, options.s)
    before = termios.tcgetattr(slave)
    pid = os.fork()
    if pid == 0:
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        for fd in range(3):
            os.dup2(slave, fd)
        os.closerange(3, 64)
        os.execvp(options.command[0], options.command)
    code, shown, typed, end = None, b"", False, time.time() + 30
    while code is None or select.select([master], [], [], 0.2)[0]:
        if select.select([master], [], [], 0.05)[0]:
            shown += os.read(master, 65536)
        if not typed and (options.w is None or options.w.encode() in shown):
            typed = True
            if options.r:
                set_size(master, options.r)
                time.sleep(0.3)
            for key in options.i.encode().decode("unicode_escape").encode("latin-1"):
                os.write(master, bytes([key]))
                time.sleep(options.k)
        if code is None:
            done, status = os.waitpid(pid, os.WNOHANG)
            code = os.waitstatus_to_exitcode(status) if done else None
        if time.time() > end:
            os.kill(pid, signal.SIGKILL)
            sys.exit(99)
    sys.stdout.write(shown.decode("utf-8", "replace").replace("\r\n", "\n"))
    if options.c:
        print("modes", "restored" if termios.tcgetattr(slave) == before else "changed")
    sys.exit(code if code >= 0 else 128 - code)


main()
