# SPDX-License-Identifier: Apache-2.0
"""Every table of the trace is in the database, row by row; Heimdallr's queries on runs, allocs and access run on it, and blocks live from their
allocation to their free."""

import sqlite3

from lib import case
from lib.exported import every_row_is_told_of, export, rows_of, trace_of

LIST = "SELECT id, prog, mode, MIN(run) FROM runs GROUP BY prog, mode"
STATISTICS = """SELECT prog, mode, count(*), group_concat(utime_ns, ';'), group_concat(stime_ns, ';'), group_concat(wtime_ns, ';')
  FROM runs GROUP BY prog, mode ORDER BY prog, mode"""
BLOCKS = """SELECT DISTINCT MAX(base & ~(?2 - 1), COALESCE(?3 & ~(?2 - 1), 0x8000000000000000)) AS block_from,
    MIN(((base & ~(?2 - 1)) + size) & ~(?2 - 1), COALESCE(?4 & ~(?2 - 1), 0x7fffffffffffffff)) AS block_to
  FROM allocs WHERE run_id = ?1 AND block_from <= block_to
  UNION SELECT DISTINCT MAX(addr & ~(?2 - 1), COALESCE(?3 & ~(?2 - 1), 0x8000000000000000)) AS block_from,
    MIN(addr & ~(?2 - 1), COALESCE(?4 & ~(?2 - 1), 0x7fffffffffffffff)) AS block_to
  FROM access WHERE run_id = ?1 AND block_from <= block_to ORDER BY block_from ASC, block_to ASC"""
ACCESSES = """SELECT at_ns - (at_ns % ?3) AS span, addr & ~(?2 - 1) AS block, is_write, COUNT(*) AS accesses FROM access
  WHERE run_id = ?1 GROUP BY span, block, is_write ORDER BY span ASC, block ASC, is_write ASC"""


def lives(trace):
    """{(process, address, begin): end} by a walk over the table."""
    events = []
    for row in rows_of(trace, "alloc"):
        if row["op"] == "free":
            events.append((row["ts"], 0, row, row["addr"]))
            continue
        if row["old_addr"]:
            events.append((row["ts"], 0, row, row["old_addr"]))
        events.append((row["ts"] + (row["dur"] or 0), 1, row, row["addr"]))
    open_blocks, found = {}, {}
    for at, is_begin, row, address in sorted(events, key=lambda event: event[:2]):
        begin = open_blocks.pop((row["proc_id"], address), None)
        if begin is not None:
            found[row["proc_id"], address, begin] = at
        if is_begin:
            open_blocks[row["proc_id"], address] = at
    return found | {(*key, begin): None for key, begin in open_blocks.items()}


def check(this):
    trace = trace_of(this)
    out, printed = export(this, trace, "sqlite", "trace.sqlite")
    every_row_is_told_of(this, trace, printed)
    database = sqlite3.connect(out)
    this.equal("integrity", database.execute("PRAGMA integrity_check").fetchone(), ("ok",))
    for folder in sorted((trace.folder / "tables").iterdir()):
        cursor = database.execute(f'SELECT * FROM "{folder.name}"')
        names = [column[0] for column in cursor.description]
        stored = [tuple(int(value) if isinstance(value, bool) else value for value in row.values()) for row in rows_of(trace, folder.name)]
        this.equal(f"rows of {folder.name}", cursor.fetchall(), stored)
        this.true(f"columns of {folder.name}", not stored or names == list(rows_of(trace, folder.name)[0]), names)
    for process in rows_of(trace, "process"):
        for query, values in ((LIST, ()), (STATISTICS, ()), (BLOCKS, (process["proc_id"], 4096, None, None)), (ACCESSES, (process["proc_id"], 4096, 1000000))):
            database.execute(query, values).fetchall()
    this.equal("runs", database.execute("SELECT count(*) FROM runs").fetchone()[0], len(rows_of(trace, "process")))
    blocks = database.execute("SELECT run_id, base, from_ns, to_ns FROM allocs").fetchall()
    wanted = lives(trace)
    offset = trace.run["start_ns"]
    this.equal("blocks", {(run, base, begin + offset): end if end is None else end + offset for run, base, begin, end in blocks}, wanted)


if __name__ == "__main__":
    case.run(check)
