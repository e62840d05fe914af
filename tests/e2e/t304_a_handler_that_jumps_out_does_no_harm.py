# SPDX-License-Identifier: Apache-2.0
"""After a hundred siglongjmps out of a signal handler in the middle of recorded calls, the program runs on as untraced
and the trace has all calls after the jumps."""

from lib import case


def check(this):
    data = this.data_file()
    trace = this.untraced_and_traced(this.victim("jumps_out"), data, 100)
    last = [call.offset for call in trace.calls_of("pread", path=data) if call.requested == 1]
    this.equal("calls after the jumps", last, list(range(1000)))


if __name__ == "__main__":
    case.run(check)
