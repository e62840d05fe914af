# SPDX-License-Identifier: Apache-2.0
"""Calls of one thread that begin or end at the same time, last no time, or cross: the archive nests them, leaves what ends before it enters
what begins then, and what crosses is in a location of its own. Nothing is cut."""

import random

import pyarrow

from lib import case
from lib.exported import export, rows_of, trace_of, with_rows
from lib.otf2_check import read_archive

# (begin, duration) from the first call's begin: equal intervals, one behind the other, no duration at an edge, crossing ones.
TIMES = [(0, 100), (0, 100), (0, 50), (50, 50), (50, 0), (100, 20), (100, 0), (120, 30), (130, 40), (140, 5), (160, 20)]


def planted(times):
    def change(table):
        rows = table.slice(0, len(times)).to_pylist()
        first, thread = min(row["ts"] for row in rows), rows[0]
        for row, (begin, duration) in zip(rows, times, strict=True):
            row.update({key: thread[key] for key in ("proc_id", "image_id", "thread_id", "pid", "tid")})
            row.update(ts=first + begin, dur=duration, func="stat")
        rows.sort(key=lambda row: row["ts"])
        return pyarrow.Table.from_pylist(rows, schema=table.schema)

    return change


def locations(this, trace, name, times):
    changed = this.opened(with_rows(trace, this.path(name), "call", planted(times)))
    calls = rows_of(changed, "call")
    this.equal("calls planted", len(calls), len(times))
    out, _ = export(this, changed, "otf2", f"{name}.otf2")
    archive = read_archive(out)
    this.equal("what is wrong with the archive", archive.wrong, [])
    entered = [(location, time) for location, time, region, _ in archive.entered if region.description == "call"]
    this.equal("begins", sorted(time for _, time in entered), sorted(row["ts"] for row in calls))
    return {location for location, _ in entered}


def check(this):
    trace = trace_of(this)
    this.equal("the thread, and one for what crosses", len(locations(this, trace, "planted", TIMES)), 2)
    chance = random.Random(27)
    locations(this, trace, "random", [(chance.randrange(60), chance.randrange(12)) for _ in range(300)])


if __name__ == "__main__":
    case.run(check)
