# SPDX-License-Identifier: Apache-2.0
"""Calls of one thread that begin or end at one moment, last no time, or cross: the archive nests them, leaves what ends before it enters what
begins then, and what crosses is in a location of its own. Nothing is cut."""

import pyarrow

from lib import case
from lib.exported import export, rows_of, trace_of, with_rows
from lib.otf2_check import read_archive

# (begin, duration) from the first call's begin: equal intervals, one behind the other, no duration at an edge, crossing ones.
TIMES = [(0, 100), (0, 100), (0, 50), (50, 50), (50, 0), (100, 20), (100, 0), (120, 30), (130, 40), (140, 5), (160, 20)]


def planted(table):
    rows = table.slice(0, len(TIMES)).to_pylist()
    first = min(row["ts"] for row in rows)
    thread = rows[0]
    for row, (begin, duration) in zip(rows, TIMES, strict=True):
        row.update({key: thread[key] for key in ("proc_id", "image_id", "thread_id", "pid", "tid")})
        row.update(ts=first + begin, dur=duration)
    rows.sort(key=lambda row: row["ts"])
    return pyarrow.Table.from_pylist(rows, schema=table.schema)


def check(this):
    trace = this.opened(with_rows(trace_of(this), this.path("planted"), "call", planted))
    calls = rows_of(trace, "call")
    this.equal("calls planted", len(calls), len(TIMES))
    out, _ = export(this, trace, "otf2", "archive")
    archive = read_archive(out)
    this.equal("what is wrong with the archive", archive.wrong, [])
    this.equal("regions", archive.rows["call"], len(TIMES))
    entered = [(location, time) for location, time, region, _ in archive.entered if region.description == "call"]
    this.equal("begins", sorted(time for _, time in entered), sorted(row["ts"] for row in calls))
    this.equal("locations with calls: the thread, and one for what crosses", len({location for location, _ in entered}), 2)


if __name__ == "__main__":
    case.run(check)
