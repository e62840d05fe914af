# SPDX-License-Identifier: Apache-2.0
"""A trace, exported to Chrome's format and imported again, has the same rows: slices, counters and arrows as they were, if they were imported;
rows of other tables as slices, points and counters of the table's category, with their times, threads and columns. What the export lists is all
that is missing."""

import json
from collections import Counter

from lib import case, recorded
from lib.exported import account, every_row_is_told_of, export, rows_of
from lib.imported import imported

# Columns that say where a row is, not what it is: numbers of this trace, and what its other columns follow from.
PLACES = {"end_min", "end_max", "proc_id", "image_id", "thread_id", "slice_id"}
SAMPLES = ("sample_", "alloc_small")


def threads_of(trace):
    return {row["thread_id"]: row["comm"] for row in rows_of(trace, "thread")}


def rows(trace, table, offset, threads):
    """As tuples of what they say. Ids of tracks that are local name a process by its number."""
    found = Counter()
    for row in rows_of(trace, table):
        said = {key: value for key, value in row.items() if key not in PLACES and value is not None}
        said["ts"] += offset
        said["comm"] = threads.get(row["thread_id"], "")
        if "track" in said:
            said["track"] = said["track"].split("@")[0]
        for key in ("args", "other"):
            if key in said:
                said[key] = json.dumps(json.loads(said[key]), sort_keys=True)
        found[tuple(sorted((key, str(value)) for key, value in said.items() if key not in ("pid", "tid")))] += 1
    return found


def check_imported(this, trace, again, offset):
    """The tables that only imports fill: all columns."""
    for table in ("slice", "flow", "counter"):
        before = rows(trace, table, 0, threads_of(trace))
        after = rows(again, table, offset, threads_of(again))
        # Rows of other tables, and their arrows, come as these.
        kept = Counter({row: count for row, count in after.items() if row in before})
        this.equal(f"rows of {table}", kept, before, said=list(after))


def expected(trace, tables):
    """(category, begin, duration) of each row, by table: what every event has."""
    return Counter((table, row["ts"], row["dur"] if row.get("dur") is not None else -1) for table in tables for row in rows_of(trace, table))


def check_others(this, trace, again, offset, printed):
    """Tables with a place of their own: each row is a slice, a point or a counter."""
    reported = account(printed)
    tables = [table for table in reported if reported[table][0] and table not in ("slice", "flow", "counter") and not table.startswith(SAMPLES)]
    found = Counter((row["category"], row["ts"] + offset, row["dur"]) for row in rows_of(again, "slice") if row["category"] in tables)
    found += Counter((row["domain"], row["ts"] + offset, -1) for row in rows_of(again, "mark") if row["domain"] in tables)
    wanted = expected(trace, tables)
    points = {"python_stack", "stack_sample"}  # of a moment, whatever their columns say
    wanted = Counter((table, ts, -1 if table in points else dur) for table, ts, dur in wanted.elements())
    this.equal("slices and points", found, wanted)
    this.equal("as many as were written", sum(found.values()), sum(reported[table][0] for table in tables))
    counters = sum(reported[table][0] for table in reported if table.startswith(SAMPLES))
    this.true("counters", counters == 0 or len(rows_of(again, "counter")) >= counters, printed)


def check_columns(this, trace, again):
    """The columns of calls are the arguments."""
    args = [json.loads(row["args"]) for row in rows_of(again, "slice") if row["category"] == "call"]
    found = Counter((int(one["call_id"]), int(one["ret"]), one.get("path")) for one in args)
    paths = {row["file_id"]: row["path"] for row in rows_of(trace, "file")}
    this.equal("calls", found, Counter((row["call_id"], row["ret"], paths.get(row["file_id"])) for row in rows_of(trace, "call")))


def check(this):
    for name, trace in recorded.traces(this):
        out, printed = export(this, trace, "chrome", f"{name}.json")
        every_row_is_told_of(this, trace, printed)
        exported = json.loads(out.read_bytes())
        clock = trace.run["clock"]
        offset = exported["baseTimeNanoseconds"] - clock["realtime_offset_start_ns"] if "baseTimeNanoseconds" in exported else 0
        again = imported(this, out)
        this.equal(f"{name}: events that are no rows", again.left_out(), {})
        if name == "imported":
            check_imported(this, trace, again, offset)
        check_others(this, trace, again, offset, printed)
        check_columns(this, trace, again)


if __name__ == "__main__":
    case.run(check)
