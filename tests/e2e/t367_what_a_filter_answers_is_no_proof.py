# SPDX-License-Identifier: Apache-2.0
"""A seccomp filter of the program's own answers success and ENOENT in the kernel's place, also for pointers that lead nowhere: the
program lives, and the names that can be read are recorded."""

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
