# SPDX-License-Identifier: Apache-2.0
"""When the program's own seccomp filter returns success or ENOENT instead of the kernel, also for invalid pointers, the
program survives, and the names that can be read are recorded."""

from lib import case


def check(this):
    data = this.data_file()
    trace = this.untraced_and_traced(this.victim("answered"), data)
    rows = [(call.func, call.path, call.ret, call.err) for call in trace.calls_of("chmod", "access", "stat")]
    bad = 14  # EFAULT
    this.equal("names", [(func, path) for func, path, _, _ in rows],
               [("chmod", data), ("chmod", ""), ("access", data), ("access", ""), ("stat", data), ("stat", "")])
    this.equal("the last one's error", rows[-1][3], bad)


if __name__ == "__main__":
    case.run(check)
