# SPDX-License-Identifier: Apache-2.0
"""While another thread's calls of realloc take long, each page fault inside a block still belongs to that block: a call that began before others and ended
after them has its block from its end on."""

from lib import accesses, case


def check(this):
    trace = accesses.check_reused(this, "beside", "2")
    long_calls = [row for row in trace.rows("alloc") if row["op"] == "realloc" and (row["dur"] or 0) > 100_000]
    this.true("long calls beside them", len(long_calls) > 10, len(long_calls))


if __name__ == "__main__":
    case.run(check)
