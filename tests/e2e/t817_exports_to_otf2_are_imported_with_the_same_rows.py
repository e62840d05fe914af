# SPDX-License-Identifier: Apache-2.0
"""A trace, exported to OTF2 and imported again, has the same rows: regions with their names, times and threads, ends of arrows with all their columns, values
of metrics, samples of stacks; columns of regions are attributes. What the export lists is all that is missing."""

import json
from collections import Counter

from lib import case, recorded
from lib.exported import account, every_row_is_told_of, export, rows_of
from lib.imported import imported

NAMES = {"call": "func", "alloc": "op", "blame": "activity", "slice": "name", "gpu_api": "func", "gpu_sync": "kind", "gpu_memcpy": "kind"}
# The only ones of these traces whose rows are not of a thread alone.
OTHERS = {"gpu_kernel", "gpu_memset", "gpu_memory", "mark", "step", "phase", "gpu_idle", "wait"}


def regions(trace):
    """(name, begin, duration) of each row that becomes a region."""
    names = {row["name_id"]: row["name"] for row in rows_of(trace, "name")}
    found = Counter()
    for table in (*NAMES, *OTHERS):
        for row in rows_of(trace, table):
            name = row[NAMES[table]] if table in NAMES else names[row["name_id"]] if row.get("name_id") is not None else row.get("operation", row.get("label", table))
            found[name, row["ts"], row.get("dur", 0)] += 1
    return found


def arrows(trace):
    return Counter(tuple(row[column] for column in ("ts", "flow_id", "step", "binds", "name", "category", "id_text", "args")) for row in rows_of(trace, "flow"))


def check_attributes(this, trace, again):
    """Columns of a slice."""
    wanted = Counter((row["name"], row["category"], row["args"]) for row in rows_of(trace, "slice"))
    attributes = [(row["name"], json.loads(row["args"])) for row in rows_of(again, "slice") if "slice_id" in (row["args"] or "")]
    this.equal("attributes of slices", Counter((name, one.get("category"), one.get("args")) for name, one in attributes), wanted)


def stacks(trace, tables):
    """(time, functions from the innermost on) of each sample."""
    names = {row["frame_id"]: row["function"] or row["label"] for row in rows_of(trace, "frame")}
    frames = {}
    for row in sorted(rows_of(trace, "stack"), key=lambda row: (row["stack_id"], row["depth"])):
        frames.setdefault(row["stack_id"], []).append(names[row["frame_id"]])
    return Counter((row["ts"], tuple(frames.get(row["stack_id"], ()))) for table in tables for row in rows_of(trace, table))


def check_values(this, trace, again):
    wanted = Counter((f"counter.{column}", row["ts"], row[column]) for row in rows_of(trace, "counter") for column in ("value",))
    found = Counter((row["name"], row["ts"], row["value"]) for row in rows_of(again, "counter"))
    this.equal("values of counters", Counter({key: found[key] for key in wanted}), wanted)
    samples = Counter()
    for table in ("sample_cpu", "sample_disk"):
        for row in rows_of(trace, table):
            samples += Counter((f"{table}.{column}", row["ts"] + row["dur"], float(value)) for column, value in row.items()
                               if column in ("user_ns", "reads", "busy_ns") and value is not None)
    this.equal("values of samples", Counter({key: found[key] for key in samples}), samples)


def check(this):
    for name, trace in recorded.traces(this):
        out, printed = export(this, trace, "otf2", f"{name}.otf2")
        every_row_is_told_of(this, trace, printed)
        again = imported(this, out / "traces.otf2")
        reported = account(printed)
        wanted = regions(trace)
        found = Counter((row["name"], row["ts"], row["dur"]) for row in rows_of(again, "slice"))
        if name == "imported":
            this.equal("ends of arrows", arrows(again), arrows(trace))
            check_attributes(this, trace, again)
        this.equal(f"{name}: regions", found, wanted, said=printed)
        named = {table for table in reported if reported[table][0]} & (NAMES.keys() | OTHERS)
        this.equal(f"{name}: as many as were written", sum(found.values()), sum(reported[table][0] for table in named))
        this.equal(f"{name}: samples of stacks", stacks(again, ("stack_sample",)), stacks(trace, ("python_stack", "stack_sample")))
        check_values(this, trace, again)


if __name__ == "__main__":
    case.run(check)
