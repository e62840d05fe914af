# SPDX-License-Identifier: Apache-2.0
"""The figures of a real sweep are replaced by made ones whose truth is known: interval and verdict of `compare` are those of SciPy, figures
that are all the same are equal however many there are, and what is infinite, negative or 0 has no false number."""

import json
import math
import shutil
import sqlite3
from contextlib import closing

import kit
import numpy as np
from kit import case
from scipy import stats

PLAN = """repetitions = 20
workloads = ["true"]
[[configuration]]
name = "a"
dry = true
[[configuration]]
name = "b"
dry = true
environment = {X = "1"}
"""
LEVEL, MARGIN = 0.95, 0.03


class Made:
    def __init__(self, this):
        self.this = this
        self.base = kit.Sweep(this, PLAN)
        self.base.run("--quiet")

    def sweep(self, name, figure="wall_s", created=None, **values):
        """A sweep whose first runs of a configuration have these values; the others failed."""
        folder = self.this.path(name)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        shutil.copy(self.base.out / "sweep.sqlite", folder)
        with closing(sqlite3.connect(folder / "sweep.sqlite")) as database:
            for configuration, numbers in values.items():
                ids = [one for (one,) in database.execute("SELECT id FROM run WHERE configuration = ? ORDER BY block", [configuration])]
                database.executemany("INSERT OR REPLACE INTO figure VALUES (?, ?, ?)",
                                     [(one, figure, float(number)) for one, number in zip(ids, numbers)])
                database.executemany("UPDATE run SET state = 'failed' WHERE id = ?", [(one,) for one in ids[len(numbers):]])
            if created is not None:
                database.execute("UPDATE sweep SET created_realtime_ns = ?", [created])
            database.commit()
        return folder

    def said(self, *words):
        done = self.this.run(case.MLRUN, *words)
        self.this.equal(f"exit status of {words}", done.returncode, 0, said=done.stderr)
        return done.stdout

    def compared(self, *words, figure="wall_s"):
        (row,) = (row for row in json.loads(self.said(*words, "--json"))["rows"] if row["figure"] == figure)
        return row


def verdict_of_scipy(test, low, high):
    """`test(shift)`: of b against a, by logarithms, with b moved by `shift`."""
    if test(0, "two-sided") <= 1 - LEVEL and not low <= 0 <= high:
        return "differs"
    outside = max(test(-math.log1p(-MARGIN), "greater"), test(-math.log1p(MARGIN), "less"))
    return "equal" if outside <= 1 - LEVEL else "cannot_tell"


def check_against_scipy(this, made):
    chance = np.random.default_rng(20_261_126)
    for number in range(30):
        runs, effect, spread = int(chance.integers(3, 21)), float(chance.choice([0, 0.02, 0.05])), float(chance.choice([0.002, 0.03]))
        a, b = (10 * np.exp(chance.normal(0, spread, runs)) for _ in range(2))
        b = np.round(b * (1 + effect), int(chance.integers(1, 9)))  # ties
        log_a, log_b = np.log(a), np.log(b)
        if number % 2 == 0:
            row = made.compared("sweep", "compare", made.sweep("paired", a=a, b=b))
            test = lambda shift, side: stats.ttest_rel(log_b + shift, log_a, alternative=side).pvalue
            interval = stats.ttest_rel(log_b, log_a).confidence_interval(LEVEL)
        else:
            row = made.compared("compare", f"{made.sweep('left', a=a)}:a", f"{made.sweep('right', b=b[:-1])}:b") if runs > 3 else None
            if row is None:
                continue
            test = lambda shift, side: stats.ttest_ind(log_b[:-1] + shift, log_a, equal_var=False, alternative=side).pvalue
            interval = stats.ttest_ind(log_b[:-1], log_a, equal_var=False).confidence_interval(LEVEL)
        low, high = np.expm1([interval.low, interval.high])
        this.true(f"interval {number}", np.allclose([row["low"], row["high"]], [low, high], rtol=1e-6, atol=1e-9), (row, low, high))
        this.equal(f"verdict {number}", row["verdict"], verdict_of_scipy(test, low, high), said=str(row))


def check_odd_figures(this, made):
    for n_a, n_b in ((3, 20), (7, 20), (8, 10), (7, 13)):
        sides = f"{made.sweep('left', a=[0.1] * n_a)}:a", f"{made.sweep('right', b=[0.1] * n_b)}:b"
        row = made.compared("compare", *sides)
        this.equal(f"{n_a} and {n_b} runs of 0.1 s", (row["verdict"], row["difference"], row["low"], row["high"]), ("equal", 0, 0, 0))
    text = made.said("sweep", "compare", made.sweep("tiny", a=[1] * 5, b=[1.00001] * 5), "--figure", "wall")
    this.true("a difference below what is shown", "differs by less than 0.005 % (" in text, text)
    for values in ([math.inf] * 5, [-1, -2, -3, -4, -5], [0] * 5, [1e308] * 5, [5e-324] * 5, [math.inf, 1, 2, 3, 4]):
        folder = made.sweep("odd", a=values, b=[1, 2, 3, 4, 5])
        for words in (("sweep", "stat"), ("sweep", "compare"), ("sweep", "list"), ("sweep", "history")):
            text = made.said(*words, folder) + json.dumps(json.loads(made.said(*words, folder, "--json")), allow_nan=False)
            this.true(f"{words} of {values}", not any(word in text for word in ("nan", "inf ", "inf%")), text)


def check_history(this, made):
    folders = [made.sweep(f"past{number}", figure="major_faults", created=number + 1, a=[0] * 5 if number < 12 else [7] * 5) for number in range(24)]
    text = made.said("sweep", "history", *folders, "--figure", "major_faults", "--configuration", "a")
    this.true("a level that was 0", "0 to 7, from 0" in text and "inf" not in text, text)


def check(this):
    made = Made(this)
    check_against_scipy(this, made)
    check_odd_figures(this, made)
    check_history(this, made)


if __name__ == "__main__":
    case.run(check)
