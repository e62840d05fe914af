# SPDX-License-Identifier: Apache-2.0
"""mlrun monitor without a server: in a file, samples are blocks one after the other; on a terminal each block replaces
the one before, cut to the terminal's size. It ends after --duration, by a signal, or when its output is closed."""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import time

from gpu_case import fake_driver, sandbox_has_children_file
from lib import case
from monitor_case import monitor

GPU = re.compile(r"^ +(\d) +(\d+) +(\d+) +(\S+ \wiB) +(\S+ GiB) +(\d+) C +(\d+) W +(\d+) MHz +(\S+) .* Fake \d$")
PROCESS = re.compile(r"^ +(\d) +(\d+) +(\S+) +(\d+) +(\d+) +(\S+ MiB) +(\S+) +(.*)$")


def check_file(this):
    with monitor(this, "--interval=500ms", "--duration=3s", serve=False, users=["train er"]) as running:
        this.equal("exit status at the end of --duration", running.process.wait(timeout=60), 0, said=running.said())
        this.equal("said", running.said(), "")
        text = running.stdout.read_text()
    blocks = text.split("\n\n")
    # A machine that stalls for a while takes fewer samples, and never more.
    this.true("a block per sample", 2 <= len(blocks) <= 7, text)
    this.true("no control characters", text.replace("\n", "").isprintable(), text)
    lines = blocks[-1].splitlines()
    gpus = [GPU.match(line).groups() for line in lines[2:4]]
    this.equal("GPUs", gpus, [("0", "60", "20", "0.98 GiB", "80.0 GiB", "50", "300", "1980", "33"),
                              ("1", "61", "21", "0.98 GiB", "80.0 GiB", "51", "301", "1981", "-")])
    processes = [PROCESS.match(line).groups() for line in lines[5:]]
    user = subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()
    this.equal("processes", [(p[0], *p[2:]) for p in processes],
               [("0", "C+G", "30", "10", "200 MiB", user, "train er"), ("1", "M+C", "31", "11", "201 MiB", user, "train er")])


def read_until(terminal, holds, seconds=60):
    text = b""
    end = time.monotonic() + seconds
    while not holds(text) and time.monotonic() < end:
        try:
            text += os.read(terminal, 65536)
        except OSError:  # the other side is gone
            break
    return text.decode()


def check_terminal(this):
    """Six lines of 40 characters: the seventh line of the block, a process, is not shown."""
    terminal, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 7, 40, 0, 0))
    with monitor(this, "--interval=200ms", serve=False, users=["a", "b", "c"], stdout=side) as running:
        os.close(side)
        text = read_until(terminal, lambda seen: seen.count(b"\x1b[J") >= 3)
        this.equal("exit status after SIGTERM", running.end(signal.SIGTERM), 0, said=running.said())
    os.close(terminal)
    blocks = re.split(r"\x1b\[(\d+)A\r\x1b\[J", text)
    this.true("redrawn", len(blocks) >= 7, blocks)
    before = blocks[0]
    for lines_up, block in zip(blocks[1:-2:2], blocks[2:-2:2], strict=True):
        this.equal("lines that are gone up", int(lines_up), before.count("\n"))
        before = block
    shown = before.replace("\r", "").splitlines()
    this.equal("lines that fit", len(shown), 6, said=before)
    this.true("characters that fit", max(map(len, shown)) == 40, shown)


def check_reader_that_stands_still(this):
    """With a full pipe, such as a pager's, metrics and signals still work, and the reader gets whole blocks afterwards."""
    users = [f"process {number}" for number in range(40)]
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    with monitor(this, "--interval=100ms", users=users, stdout=writer) as running:
        os.close(writer)
        for _ in range(3):
            time.sleep(1)
            this.equal("health beside a full pipe", running.get("/healthz")[0], 200)
        text = read_until(reader, lambda seen: seen.count(b"\n\n") >= 4)
        for block in text.split("\n\n")[1:4]:
            this.equal("lines of a block", len(block.splitlines()), 5 + 2 * len(users), said=block)
        time.sleep(1)
        this.equal("exit status after SIGTERM beside a full pipe", running.end(signal.SIGTERM), 0, said=running.said())
    os.close(reader)


def check(this):
    if not sandbox_has_children_file():
        raise case.Skip("the kernel has no /proc/PID/task/TID/children")
    check_file(this)
    check_terminal(this)
    check_reader_that_stands_still(this)
    left = this.run("sh", "-c", f"('{case.MLRUN}' monitor --interval 100ms; echo \"status $?\" >&2) | head -n 1",
                    env=fake_driver(this, 580))
    this.equal("exit status when the table is read no more: that of SIGPIPE", left.stderr, "status 141\n", said=left.stdout)
    full = this.run("sh", "-c", f"'{case.MLRUN}' monitor --interval 100ms > /dev/full", env=fake_driver(this, 580))
    this.equal("exit status on a full disk", full.returncode, 125)
    this.equal("said", full.stderr, "mlrun: cannot write the table to standard output: No space left on device\n")


if __name__ == "__main__":
    case.run(check)
