# SPDX-License-Identifier: Apache-2.0
"""The summary as a person reads it: on a terminal of some width, by blocks."""

import fcntl
import os
import pty
import re
import shlex
import struct
import subprocess
import termios

from lib import case

HEADING = re.compile(r"^[A-Z][A-Z ]{4,}")


def on_terminal(this, columns, *words):
    """Lines that mlrun prints on a terminal that is so wide, without colours."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    text = b""
    with subprocess.Popen([case.MLRUN, *map(str, words)], stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.STDOUT,
                          env=this.environment, cwd=this.folder):
        os.close(theirs)
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            text += piece
    os.close(ours)
    return [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in text.decode().replace("\r", "").splitlines()]


def blocks(lines):
    """Rows by heading, in order: those of two words in capitals or more."""
    found, rows = {}, None
    for line in lines:
        if heading := HEADING.match(line):
            rows = found[heading.group().strip()] = []
        elif rows is not None and line:
            rows.append(line)
    return found


def commands(lines):
    """The words of each command that FINDINGS names."""
    text = re.sub(r"\n +", " ", "\n".join(lines))
    return [shlex.split(one) for one in re.findall(r"rows: (mlrun show [^']*'[^']*')", text)]
