# SPDX-License-Identifier: Apache-2.0
"""A signal handler on the smallest signal stack opens, reads, writes, allocates and executes as untraced, and all of it
is recorded."""

from lib import case

SIGNALS = 2000


def check(this):
    data = this.data_file()
    trace = this.untraced_and_traced(this.victim("small_signal_stack"), data, SIGNALS)
    read = [call.offset for call in trace.calls_of("pread", path=data)]
    this.equal("reads of the handlers", read, list(range(SIGNALS)))
    this.equal("writes of the handlers", len(trace.calls_of("write", path="/dev/null")), SIGNALS)
    blocks = [row["size"] for row in trace.rows("alloc") if row["op"] == "malloc" and row["size"] == 3000]
    this.equal("their allocations", len(blocks), SIGNALS)


if __name__ == "__main__":
    case.run(check)
