# SPDX-License-Identifier: Apache-2.0
"""Sweeps for tests: a plan, the sweep as a process, and its database read by Python's own SQLite."""

import os
import random
import signal
import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path

from lib import case

THREE = """
[[configuration]]
name = "dry"
dry = true
[[configuration]]
name = "full"
[[configuration]]
name = "calls"
options = ["--preload=files"]
"""


class Sweep:
    def __init__(self, this, plan, name="out"):
        self.this, self.out = this, this.path(name)
        self.plan = this.path(f"{name}.toml")
        self.plan.write_text(plan)

    def command(self, *options):
        """The sweep from the beginning, or resumed, as it is."""
        if (self.out / "sweep.sqlite").exists():
            return [str(case.MLRUN), "sweep", "--resume", str(self.out), *options]
        return [str(case.MLRUN), "sweep", str(self.plan), "-o", str(self.out), *options]

    def run(self, *options, status=0, **more):
        done = self.this.run(*self.command(*options), **more)
        self.this.equal("exit status of the sweep", done.returncode, status, said=done.stderr)
        return done

    def start(self, **more):
        more = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL,
                "env": self.this.environment} | more
        return subprocess.Popen(self.command(), **more)  # pylint: disable=consider-using-with

    def rows(self, query):
        with closing(sqlite3.connect(f"file:{self.out}/sweep.sqlite?mode=rw", uri=True)) as database:  # it makes none
            return database.execute(query).fetchall()

    def figure(self, name, configuration):
        return [value for (value,) in self.rows(
            f"SELECT value FROM figure JOIN run ON run_id = run.id WHERE name = '{name}' AND configuration = '{configuration}'"
            " AND state = 'done' ORDER BY position")]

    def folder(self, folder):
        return self.out / "runs" / folder

    def expect_whole(self, runs):
        """Every run is done exactly once, each row has its folder and each folder its row, and nothing still runs."""
        this = self.this
        this.equal("integrity", self.rows("PRAGMA integrity_check"), [("ok",)])
        counts = self.rows("SELECT count(*) FROM run WHERE state = 'done' GROUP BY configuration, workload, block")
        this.equal("runs that are done", counts, [(1,)] * runs)
        this.equal("runs by key", len(self.rows("SELECT DISTINCT configuration, workload, block FROM run")), runs)
        this.equal("unfinished rows", self.rows("SELECT * FROM run WHERE state IN ('planned', 'running')"), [])
        this.equal("figures of every run", len(self.rows(
            "SELECT 1 FROM figure JOIN run ON run_id = run.id WHERE name = 'wall_s' AND state = 'done'")), runs)
        folders = sorted(path.name for path in (self.out / "runs").iterdir())
        this.equal("folders", folders, sorted(folder for (folder,) in self.rows("SELECT folder FROM run")))
        this.equal("processes that still run", processes_of(self.out), [])


def processes_of(folder):
    """Processes with a file of the folder open, or its name in their command line."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes()
            files = [os.readlink(fd) for fd in (process / "fd").iterdir()]
        except OSError:  # it has ended
            continue
        is_ours = int(process.name) == os.getpid()
        if not is_ours and (os.fsencode(folder) in words or any(name.startswith(str(folder)) for name in files)):
            found.append((process.name, words))
    return found


def children_of(pid):
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def kill(sweep, process, also_supervisor):
    """SIGKILL to the sweep, and to the supervisor of its run, which would end the run."""
    pids = [*(children_of(process.pid) if also_supervisor else []), process.pid]
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    process.wait()


def killed_at_random(sweep, times, most_s, seed):
    """Kills it that often at random moments, every other time together with the supervisor; ends with it done."""
    chance = random.Random(seed)
    for number in range(times):
        process = sweep.start()
        try:
            process.wait(timeout=chance.uniform(0, most_s))
            break  # it is done
        except subprocess.TimeoutExpired:
            kill(sweep, process, number % 2 == 1)
    sweep.run(timeout=600)


def wait_until(holds, seconds=60):
    """A database whose tables are just made does not answer yet."""
    end = time.monotonic() + seconds
    while True:
        try:
            if holds():
                return
        except sqlite3.OperationalError as error:
            last = error
        else:
            last = None
        if time.monotonic() > end:
            raise AssertionError(f"it did not come: {last}")
        time.sleep(0.01)
