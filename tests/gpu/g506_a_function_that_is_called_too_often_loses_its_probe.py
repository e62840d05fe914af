# SPDX-License-Identifier: Apache-2.0
"""A wait for the GPU that is called thousands of times a second loses its probe, and that is reported; allocations are
still recorded."""

import uprobe_case
from lib import case

POLLS = "[cuda.cuStreamSynchronize(c_void_p(1)) for _ in range(2000)] and 0"
FIRST_BYTE = "ctypes.string_at(ctypes.cast(cuda.cuStreamSynchronize, c_void_p), 1)"


def check(this):
    uprobe_case.need_uprobes()
    with uprobe_case.victim(this) as one:
        untouched = one.do(FIRST_BYTE)
        seen = uprobe_case.Observation(this, "--pid", one.pid)
        this.true("it is probed", one.do(FIRST_BYTE) != untouched)
        uprobe_case.wait_for(lambda: one.do(POLLS) == 0 and one.do(FIRST_BYTE) == untouched, 120)
        addresses = [one.do("alloc(4096)") for _ in range(100)]
        trace = seen.end()
    this.true("some were recorded", trace.rows("gpu_sync"))
    this.true("that it was detached is reported", trace.covers("calls of cuStreamSynchronize"), trace.rows("coverage"))
    this.equal("allocations", [row[3] for row in uprobe_case.memory_rows(trace, one.pid)], addresses)


if __name__ == "__main__":
    case.run(check)
