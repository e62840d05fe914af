# SPDX-License-Identifier: Apache-2.0
"""A thread cancelled inside read() runs its clean-up handlers, join returns PTHREAD_CANCELED, and the trace has the
interrupted call."""

from lib import case


def check(this):
    trace = this.untraced_and_traced(this.victim("cancelled_read"))
    waiting = [call for call in trace.calls_of("read") if call.err == 125]
    this.equal("calls that say ECANCELED", [(call.ret, call.requested) for call in waiting], [(-1, 1)])
    this.true("it lasted until the cancellation", waiting[0].end_ns - waiting[0].ts_ns > 50_000_000)


if __name__ == "__main__":
    case.run(check)
