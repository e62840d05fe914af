# SPDX-License-Identifier: Apache-2.0
"""aio_read, aio_write, lio_listio and aio_return: submissions and completions are rows, the bytes count at completion,
and they equal those that strace sees libc's threads move."""

from lib import case, family

HANDED_IN, TAKEN_OUT = ("aio_read", "aio_write"), ("aio_read_done", "aio_write_done")


def check(this):
    data, out = this.data_file(), this.path("written.bin")
    trace, log = family.run_beside_strace(this, this.victim("family_aio"), data, out)
    rows = [(row.func, row.path, row.offset, row.requested, row.ret, row.err) for row in trace.calls]
    taken = [row for row in rows if row[0] in TAKEN_OUT]
    reads, writes = ("aio_read_done", data, 50, 1000, 1000, 0), ("aio_write_done", str(out), 10, 700, 700, 0)
    this.equal("taken out", taken, [reads, writes, ("aio_read_done", "", 0, 1, -1, 9), reads, writes])
    handed = [row for row in rows if row[0] in HANDED_IN]
    this.equal("handed in", [(func, offset, asked) for func, _, offset, asked, _, _ in handed],
               [("aio_read", 50, 1000), ("aio_write", 10, 700), ("aio_read", 0, 1), ("aio_read", 50, 1000),
                ("aio_write", 10, 700)])
    this.equal("the rest", [row[0] for row in rows if row[0] in ("aio_fsync", "aio_return", "lio_listio")],
               ["lio_listio", "aio_fsync", "aio_return"])
    moved = sorted(call.ret for call in log.syscalls if call.name in ("pread64", "pwrite64") and call.path in (data, str(out)))
    this.equal("bytes that libc's threads moved", moved, sorted(row[4] for row in taken if row[4] > 0))


if __name__ == "__main__":
    case.run(check)
