# SPDX-License-Identifier: Apache-2.0
"""Of later repetitions the tables of events are deleted: their report is what it was, a deleted table is named as such, and the
first repetition, or with --all each, has all tables."""

import kit
from kit import case
from lib.trace import Trace

PLAN = 'repetitions = 2\nworkloads = ["cat /etc/passwd"]\n[[configuration]]\nname = "full"\n'


def check(this):
    sweep = kit.Sweep(this, PLAN)
    sweep.run()
    first, second = (sweep.folder(f"catetcpasswd.full.{block}") for block in (1, 2))
    this.true("events of the first", len(Trace(first).rows("call")) > 0)
    this.true("events of the second", not any((second / "tables" / "call").iterdir()))
    for folder in (first, second):
        report = this.run(case.MLRUN, "report", folder)
        this.equal("exit status of the report", report.returncode, 0, said=report.stderr)
        this.true("the report names the file", "/etc/passwd" in report.stdout, report.stdout)
    shown = this.run(case.MLRUN, "show", second, "call")
    this.equal("exit status of a deleted table", shown.returncode, 125, said=shown.stderr)
    tables = this.run(case.MLRUN, "show", second)
    this.true("tables that are there", " call " not in tables.stdout and "\nprocess " in tables.stdout, tables.stdout)
    this.true("it says who deleted it", "--all" in shown.stderr and "damaged" not in shown.stderr, shown.stderr)
    every = kit.Sweep(this, PLAN, "every")
    every.run("--all")
    every.run()
    for block in (1, 2):
        this.true("events with --all", any((every.folder(f"catetcpasswd.full.{block}") / "tables" / "call").iterdir()))


if __name__ == "__main__":
    case.run(check)
