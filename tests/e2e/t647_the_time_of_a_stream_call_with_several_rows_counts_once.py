# SPDX-License-Identifier: Apache-2.0
"""When a call on a stream has several rows, one of them has its time: the rows of a thread do not overlap, and their
sum does not exceed its run time. Covers streams that are sought and read, sought and written, flushed all at once,
closed and opened again."""

import shutil

from lib import case, random_calls

def check(this):
    file = this.path("file")
    shutil.copy(this.data_file(), file)
    trace = this.trace(this.victim("seeks_streams"), file, this.path("other"), this.path("third"), options=("--lossless",))
    rows = [random_calls.Row(call.func, call.path, call.offset, call.ret, call.ts_ns, call.end_ns - call.ts_ns, call.err)
            for call in trace.calls]
    this.true("rows", len(rows) > 20000, len(rows))
    this.equal("rows that begin before the one before ended", random_calls.overlaps(rows)[:3], [])
    span = max(row.ts + row.dur for row in rows) - min(row.ts for row in rows)
    this.true("time of all rows", sum(row.dur for row in rows) <= span)


if __name__ == "__main__":
    case.run(check)
