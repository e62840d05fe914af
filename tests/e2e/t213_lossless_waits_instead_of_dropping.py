# SPDX-License-Identifier: Apache-2.0
"""With --lossless and the smallest arena, a program faster than the collector waits, and the trace has every numbered
call."""

from lib import case, serials

CALLS = 600000


def check(this):
    data = this.data_file()
    small = ("--lossless", "--buffer", "4M")
    trace = this.trace(this.victim("numbered"), data, CALLS, "_exit", status=7, options=small)
    serials.expect_threads(this, trace.serials(data), [CALLS])
    this.equal("dropped records", trace.dropped(), 0)


if __name__ == "__main__":
    case.run(check)
