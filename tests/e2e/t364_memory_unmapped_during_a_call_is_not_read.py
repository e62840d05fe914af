# SPDX-License-Identifier: Apache-2.0
"""Another thread unmaps the name of a pipe whose open blocks, or the vector of a blocking read or write; a handler
unmaps the name passed to stat: the call ends as untraced, and the program survives."""

import os

from lib import case


def check(this):
    fifo = this.path("fifo")
    os.mkfifo(fifo)
    trace = this.untraced_and_traced(this.victim("goes_away"), fifo)
    waited = [call for call in trace.calls_of("open", "readv", "writev") if call.end_ns - call.ts_ns > 10_000_000]
    this.equal("calls that waited", [call.func for call in waited], ["open", "readv", "writev"])
    this.equal("what they did", [call.ret >= 0 for call in waited], [True] * 3)


if __name__ == "__main__":
    case.run(check)
