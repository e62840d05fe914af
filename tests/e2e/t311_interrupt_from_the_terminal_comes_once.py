# SPDX-License-Identifier: Apache-2.0
"""On Ctrl-C in a terminal the program gets one SIGINT and time to end, and its status and trace are kept."""

import os
import pty
import time

from lib import case
from lib.trace import Trace


def read_until(terminal, word, seconds=30):
    text, until = b"", time.monotonic() + seconds
    while word not in text and time.monotonic() < until:
        try:
            text += os.read(terminal, 4096)
        except OSError:  # the other end has gone
            break
    return text


def check(this):
    out = this.new_trace()
    command = this.command(this.victim("sleeper"), out=out)
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(command[0], command, this.environment)
    read_until(terminal, b"ready")
    os.write(terminal, b"\x03")
    said = read_until(terminal, b"terminations")
    read_until(terminal, b"(nothing more)")
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    this.true("one interrupt", b"1 interrupts, 0 terminations" in said, said)
    this.equal("exit status", status, 5)
    this.equal("status in the trace", Trace(out).run["exit_status"], 5)


if __name__ == "__main__":
    case.run(check)
