# SPDX-License-Identifier: Apache-2.0
"""A recursion that overflows the stack inside recorded calls is caught as untraced, and a thread on the smallest stack
can make every call; their calls are recorded."""

from lib import case


def check(this):
    data = this.data_file()
    trace = this.untraced_and_traced(this.victim("deep"), data)
    this.true("calls at each level", len(trace.calls_of("pread", path=data)) > 15000)
    small = [call.func for call in trace.calls_of("open", "write", "read", "close", path="/dev/null")]
    this.equal("calls on the small stack", small, ["open", "write", "read", "close"])


if __name__ == "__main__":
    case.run(check)
