# SPDX-License-Identifier: Apache-2.0
"""A program on its own terminal, and waiting for what it does."""

import fcntl
import os
import pty
import re
import select
import subprocess
import termios
import threading
import time


def wait_until(what, holds, seconds=60):
    """what: a text, or a function that makes one when it is needed."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what() if callable(what) else what}")
        time.sleep(0.005)


def file_has(path, text, count=1):
    return lambda: path.exists() and path.read_text(errors="replace").count(text) >= count


def foreground_group(pid):
    """The group that keys which send signals reach, on the terminal of the process."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return int(file.read().rpartition(")")[2].split()[5])
    except OSError:
        return 0


def state_of(pid):
    """The letter that /proc has: T is stopped; empty: no such process."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0]
    except OSError:
        return ""


class Terminal:
    """The program leads a session whose controlling terminal this is."""

    def __init__(self, command, environment, folder):
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(  # noqa: PLW1509: nothing else runs between fork and exec
            [str(word) for word in command], stdin=slave, stdout=slave, stderr=slave, env=environment, cwd=folder,
            start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(slave)
        self.text, self.closing = "", False
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        while not self.closing:
            try:
                if not select.select([self.master], [], [], 0.05)[0]:
                    continue
                data = os.read(self.master, 4096)
            except OSError:  # the other end has gone
                return
            if not data:
                return
            self.text += data.decode(errors="replace").replace("\r", "")

    def keys(self, text):
        os.write(self.master, text.encode())

    def wait_for(self, text, count=1):
        wait_until(lambda: f"{text!r} on the terminal, which has {self.text[-500:]!r}", lambda: self.text.count(text) >= count)

    def hang_up(self):
        self.closing = True
        self.reader.join()   # a read that is waiting would keep the terminal open
        os.close(self.master)

    def end(self):
        status = self.process.wait(60)
        self.reader.join(5)
        return status


class Shell(Terminal):
    """An interactive bash with job control."""

    def __init__(self, environment, folder):
        super().__init__(["bash", "--norc", "--noprofile", "--noediting", "-i"], environment | {"PS1": "", "TERM": "dumb"}, folder)

    def line(self, text):
        self.keys(text + "\n")

    def say_status(self):
        """Has the shell print the status of the last command, and returns it."""
        said = re.compile(r"status=(\d+)\n")
        before = len(said.findall(self.text))
        self.line('echo "status"=$?')
        wait_until(lambda: f"the status on the terminal, which has {self.text[-500:]!r}", lambda: len(said.findall(self.text)) > before)
        return said.findall(self.text)[-1]
