# SPDX-License-Identifier: Apache-2.0
"""Two hundred short threads in waves end by return or by pthread_exit; the trace has every call of each."""

from collections import Counter

from lib import case, serials

THREADS, CALLS = 200, 500


def check(this):
    data = this.data_file()
    trace = this.trace(this.victim("threads_die"), data, THREADS, CALLS)
    rows = Counter(row["thread_id"] for row in trace.rows("call") if trace.paths.get(row["file_id"]) == data
                   and row["func"] == "pread")
    this.equal("threads that read", len(rows), THREADS)
    this.equal("calls of each", set(rows.values()), {CALLS})
    for numbers in trace.serials(data).values():  # a thread number that the kernel used again makes the numbers repeat
        serials.expect_all(this, numbers[:CALLS], CALLS)
    this.equal("dropped records", trace.dropped(), 0)


if __name__ == "__main__":
    case.run(check)
