# SPDX-License-Identifier: Apache-2.0
"""Each row of a table of events is a region, a metric or a sample of the archive; all other rows are listed. PyPI's otf2 reads it, regions are
nested, I/O operations begin and end on open handles, and move the bytes of the table."""

from collections import Counter

from lib import case
from lib.exported import events_of, every_row_is_told_of, export, rows_of, trace_of
from lib.otf2_check import read_archive

MODES = {"read": "READ", "pread": "READ", "fread": "READ", "fgets": "READ", "getline": "READ",
         "write": "WRITE", "pwrite": "WRITE", "fwrite": "WRITE", "fputs": "WRITE", "fprintf": "WRITE", "fflush": "WRITE"}


def bytes_by_file(trace):
    paths = {row["file_id"]: row["path"] for row in rows_of(trace, "file")}
    moved = Counter()
    for row in rows_of(trace, "call"):
        mode = MODES.get(row["func"])
        if mode and row["err"] == 0 and row["file_id"]:
            moved[paths[row["file_id"]], mode] += row["ret"]
    return moved


def check(this):
    trace = trace_of(this)
    out, printed = export(this, trace, "otf2", "archive")
    every_row_is_told_of(this, trace, printed)
    archive = read_archive(out)
    this.equal("what is wrong with the archive", archive.wrong[:5], [])
    for table in ("call", "alloc", "blame"):
        this.equal(f"regions of {table}", archive.rows[table], len(rows_of(trace, table)))
    for table in ("sample_cpu", "sample_disk", "sample_thread", "alloc_small"):
        this.equal(f"metrics of {table}", archive.metrics[table], len(rows_of(trace, table)))
    this.equal("samples of stacks", archive.events["CallingContextSample"], len(rows_of(trace, "python_stack")))
    tables = archive.rows.keys() | archive.metrics.keys() | {"python_stack"}
    this.equal("events", sum(archive.events.values()), events_of(printed, tables))
    moved = bytes_by_file(trace)
    this.equal("bytes", {key: archive.transferred[key] for key in moved}, dict(moved))
    # The attributes are the row's columns.
    calls = {row["call_id"]: row for row in rows_of(trace, "call")}
    columns = ("call_id", "fd", "offset", "requested", "ret", "err", "ofd_id")
    found = []
    for _, _, region, attributes in archive.entered:
        if region.description == "call":
            by_name = {key.name: value for key, value in attributes.items()}
            found.append(tuple(by_name.get(column) for column in columns))
    wanted = [tuple(row[column] for column in columns) for row in calls.values()]
    this.equal("columns of calls", sorted(found, key=str), sorted(wanted, key=str))


if __name__ == "__main__":
    case.run(check)
