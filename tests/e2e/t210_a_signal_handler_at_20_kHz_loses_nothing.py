# SPDX-License-Identifier: Apache-2.0
"""A signal handler that records at 20 kHz interrupts a thread that records; the trace has all calls of both, once."""

from lib import case, serials

CALLS = 300000


def check(this):
    data = this.data_file()
    trace = this.trace(this.victim("handler_storm"), data, CALLS)
    serials.expect_threads(this, trace.serials(data), [CALLS])
    handled = int(trace.stdout)
    this.true("the timer interrupted the program many times", handled > 1000, handled)
    serials.expect_threads(this, trace.serials(data, func="lseek"), [handled])
    this.equal("dropped records", trace.dropped(), 0)


if __name__ == "__main__":
    case.run(check)
