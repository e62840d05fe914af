# SPDX-License-Identifier: Apache-2.0
"""Runs the same situation of a shell's job twice, untraced and traced: what the command (victims/job.c) and the shell print
about its process group, session, terminal and signals must be equal."""

import concurrent.futures
import os
import shlex
import subprocess
import time

from lib.terminal import Shell, file_has, foreground_group, wait_until


class Attempt:
    """One run of one situation."""

    def __init__(self, this, name, traced):
        self.this, self.traced = this, traced
        self.folder = this.path(f"{name}_{'traced' if traced else 'untraced'}")
        self.folder.mkdir()
        self.log = self.folder / "log"
        self.environment = this.environment
        self.said = []

    def words(self, *command):
        traced = self.this.command(*command, out=self.folder / "trace")
        return traced if self.traced else [str(word) for word in command]

    def command(self, mode=""):
        return self.words(self.this.victim("job"), self.log, *([mode] if mode else []))

    def line(self, mode=""):
        return shlex.join(self.command(mode))

    def shell(self):
        return Shell(self.environment, self.folder)

    def start(self, *command, **more):
        return subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, env=self.environment, cwd=self.folder, text=True, **more)

    def wait_for(self, text, count=1):
        wait_until(f"{text!r} in {self.folder}", file_has(self.log, text, count), 20)

    def settle(self):
        """Time for a second signal that must not come."""
        time.sleep(0.15)

    def wait_for_foreground(self, shell):
        """The shell has handed over the terminal."""
        wait_until("a job in the foreground", lambda: foreground_group(shell.process.pid) not in (0, shell.process.pid))

    def end(self):
        self.settle()
        self.log.with_name("log.end").touch()
        self.wait_for("command: end")

    def pid(self):
        """Of the victim."""
        for entry in os.listdir("/proc"):
            try:
                words = open(f"/proc/{entry}/cmdline", "rb").read().split(b"\0")
            except OSError:
                continue
            if entry.isdigit() and len(words) > 1 and words[0].endswith(b"/job") and words[1] == os.fsencode(self.log):
                return int(entry)
        return 0

    def child_of(self, shell):
        """The process that the shell has started: mlrun, or the victim."""
        return int(open(f"/proc/{shell.process.pid}/task/{shell.process.pid}/children", encoding="ascii").read().split()[0])

    def leave(self, shell):
        """Ends the run, notes the shell's status, and ends the shell."""
        self.end()
        self.note(shell.say_status())
        shell.keys("\x04")
        shell.end()

    def note(self, *values):
        self.said.append(" ".join(map(str, values)))

    def result(self):
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        by_process = sorted(lines, key=lambda line: line.partition(":")[0])
        return by_process + self.said


def attempt(this, function, traced):
    run = Attempt(this, function.__name__, traced)
    try:
        function(run)
    except (AssertionError, OSError, subprocess.TimeoutExpired, IndexError) as error:
        return [f"{type(error).__name__}: {error}", *run.result()]
    finally:
        run.log.with_name("log.end").touch()
    return run.result()


def compare(this, situations):
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        runs = {(function, traced): pool.submit(attempt, this, function, traced) for function in situations for traced in (False, True)}
    differ = {}
    for function in situations:
        untraced, traced = runs[function, False].result(), runs[function, True].result()
        if untraced != traced or any("Error:" in line for line in untraced):
            differ[function.__name__] = {"untraced": untraced, "traced": traced}
    shown = "".join(f"\n{name}\n  untraced: {pair['untraced']}\n  traced:   {pair['traced']}" for name, pair in differ.items())
    this.true(f"{len(situations) - len(differ)} of {len(situations)} situations are equal", not differ, shown)
