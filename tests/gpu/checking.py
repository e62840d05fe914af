# SPDX-License-Identifier: Apache-2.0
"""Runs the checks of `run`: each program has a time limit; a check that raises an exception does not agree and has the reason,
unless the total time was over; the report is written after each check, so that results survive if the machine becomes
unavailable."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path

PROGRAM_S = 120
# Prefix of reasons in the loss table. CUPTI's own work is listed there but is no loss (runner/trace/TABLES.md).
OWN_WORK = "CUPTI's own work: "
HELD = "what CUPTI held when the process was killed or CUPTI did not answer at the end"
ANOTHER = "another client had CUPTI"
# Of a carried build: each system with Python packages in C++ has them.
OF_COMPILER = ("libstdc++.so.6", "libgcc_s.so.1")
SLACK_NS = 50_000_000  # of times that were converted from the profiler's clock; what is next to them is seconds away


class Clock:
    """The remaining time of a whole run."""

    def __init__(self, seconds=None):
        self.end = time.monotonic() + seconds if seconds else None

    def left_s(self):
        return self.end - time.monotonic() if self.end else float("inf")


CLOCK = Clock()


def set_time(seconds):
    CLOCK.end = Clock(seconds).end


def ran(command, environment=None, seconds=PROGRAM_S):
    """As subprocess.run does it; the program and all that it started are killed when their time is over."""
    limit_s = max(1, min(seconds, CLOCK.left_s()))
    with subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                          env=environment, start_new_session=True) as program:
        try:
            out, error = program.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            os.killpg(program.pid, signal.SIGKILL)
            raise TimeoutError(f"{' '.join(map(str, command))[:300]}: did not end within {limit_s:.0f} s") from None
    return subprocess.CompletedProcess(command, program.returncode, out, error)


def last_line(done):
    """The object of JSON in the last line that a program wrote, or None, and what it said."""
    said = done.stderr[-2000:]
    if done.returncode != 0:
        return None, f"exit status {done.returncode}: {said}"
    try:
        return json.loads(done.stdout.splitlines()[-1]), said
    except (json.JSONDecodeError, IndexError):
        return None, f"no result: {said}"


def rows(mlrun, trace, table):
    """Rows of a table of a trace. Times are CLOCK_MONOTONIC's, as those of the programs."""
    done = ran([mlrun, "show", "--csv", "--absolute", trace, table])
    if done.returncode != 0:
        raise RuntimeError(f"mlrun show {table}: {done.stderr[-2000:]}")
    return list(csv.DictReader(io.StringIO(done.stdout)))


def within(kernels, times, slack_ns=0):
    """Those that began in that stretch of time."""
    return [row for row in kernels if times[0] - slack_ns <= int(row["ts"]) <= times[1] + slack_ns]


def spoilt(kernels, sessions):
    """Number of kernel rows without a valid time, at most one per session: CUPTI spoils at most one kernel each time that a profiler
    gives it a clock, which PyTorch's does in each session. The loss table counts them."""
    return min(sessions, sum(row["clock"] in ("outside", "none", "inverted") for row in kernels))


def real_losses(losses):
    return [row for row in losses if not row["reason"].startswith(OWN_WORK)]


class Report:
    """Checks by name, in a file that is complete after each of them. A check is a name and what makes it: a function that
    returns what was seen, and under "agrees" whether that is as it should be (None: nothing is expected)."""

    def __init__(self, path, facts):
        self.path, self.facts, self.checks = Path(path), facts, {}

    def write(self, is_complete=False):
        fresh = self.path.with_name(self.path.name + ".new")
        fresh.write_text(json.dumps(self.facts | {"is_complete": is_complete, "checks": self.checks}, indent=1) + "\n",
                         encoding="utf-8")
        fresh.replace(self.path)

    def run(self, checks):
        for name, check in checks:
            begin = time.monotonic()
            try:
                seen = check() if CLOCK.left_s() > 0 else {"reason": "no time was left", "agrees": None, "is_left_out": True}
            except Exception:  # pylint: disable=broad-except
                seen = {"reason": traceback.format_exc()[-2000:], "failed_by_exception": True, "agrees": False}
                if CLOCK.left_s() <= 0:  # it says nothing about what was looked at
                    seen = seen | {"agrees": None, "is_left_out": True}
            self.checks[name] = seen | {"seconds": round(time.monotonic() - begin, 1)}
            print(f"{name}: {({True: 'agrees', False: 'DOES NOT AGREE', None: 'seen'})[seen['agrees']]}", file=sys.stderr)
            self.write()

    def agrees(self):
        return not any(check["agrees"] is False for check in self.checks.values())
