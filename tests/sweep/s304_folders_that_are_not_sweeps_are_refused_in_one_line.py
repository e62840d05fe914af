# SPDX-License-Identifier: Apache-2.0
"""The verbs that read sweeps name what a folder is instead of a sweep, a sweep of a newer version, and mistyped words: one line, status
125. Their help has examples. A sweep in a folder that cannot be written is read."""

import json
import sqlite3
from contextlib import closing

import kit
from kit import case

PLAN = 'repetitions = 1\nworkloads = "true"\n[[configuration]]\nname = "dry"\ndry = true\n'


def refused(this, *words, has):
    done = this.run(case.MLRUN, *words)
    this.equal(f"{' '.join(map(str, words))}: status", done.returncode, 125, said=done.stderr)
    this.true(f"{has} is said in one line", has in done.stderr and done.stderr.count("\n") == 1 and not done.stdout, done.stderr)


def check(this):
    sweep = kit.Sweep(this, PLAN)
    sweep.run()
    nothing = this.path("nothing")
    nothing.mkdir()
    verbs = [("sweep", "list"), ("sweep", "stat"), ("sweep", "compare"), ("sweep", "history"), ("compare", sweep.out)]
    for verb in verbs:
        refused(this, *verb, this.path("missing"), has="missing does not exist")
        refused(this, *verb, sweep.plan, has="out.toml is no folder")
        refused(this, *verb, nothing, has="nothing holds no sweep")
        help_page = this.run(case.MLRUN, *verb[:2] if verb[0] == "sweep" else verb[:1], "--help")
        this.true(f"help of {verb[0]}", help_page.returncode == 0 and "Examples:" in help_page.stdout, help_page.stdout)
    refused(this, "report", sweep.out, has="is a sweep: see mlrun sweep stat")
    refused(this, "show", sweep.out, "call", has="its traces are in")
    refused(this, "sweep", "stat", sweep.out, "--figure", "wlal_s", has="did you mean wall_s?")
    refused(this, "sweep", "history", sweep.out, "--configuration", "dyr", has="did you mean dry?")
    refused(this, "sweep", "list", sweep.out, "--format", "csv", has="csv")
    refused(this, "sweep", "compare", sweep.out, has="one configuration")
    refused(this, "compare", f"{sweep.out}:dyr", sweep.out, has="did you mean dry?")
    refused(this, "compare", sweep.out, sweep.out, "--margin", "3", has="--margin: '3' has no unit")

    past = json.loads(this.run(case.MLRUN, "sweep", "history", this.folder, "--json").stdout)
    this.equal("sweeps of a folder", [point["folder"] for one in past["series"] for point in one["points"]], [str(sweep.out)])

    with closing(sqlite3.connect(sweep.out / "sweep.sqlite")) as database:
        database.executescript("PRAGMA ignore_check_constraints = 1; UPDATE run SET state = 'lost'")
    for verb in verbs[:3]:
        refused(this, *verb, sweep.out, has='is damaged: unknown state of a run: "lost"')
    refused(this, "sweep", "--resume", sweep.out, has="is damaged")
    with closing(sqlite3.connect(sweep.out / "sweep.sqlite")) as database:
        database.execute("PRAGMA user_version = 1000")
    for verb in verbs:
        refused(this, *verb, sweep.out, has="newer")
    (sweep.out / "sweep.sqlite").write_bytes(b"no database at all, only some bytes" * 100)
    for verb in verbs:
        refused(this, *verb, sweep.out, has="sweep.sqlite")


if __name__ == "__main__":
    case.run(check)
