# SPDX-License-Identifier: Apache-2.0
"""A statically linked program runs without a word from ld.so; the trace records its parent and names it as not seen."""

from lib import case


def check(this):
    static = this.victim("numbered_static")
    data = this.data_file()
    trace = this.untraced_and_traced("/bin/sh", "-c", '"$0" "$1" 10 exit; exit 3', static, data)
    this.equal("calls of the static program", len(trace.calls_of("pread", path=data)), 0)
    this.true("coverage names it", trace.covers("numbered_static"), trace.rows("coverage"))
    this.untraced_and_traced(static, data, 10, "exit")


if __name__ == "__main__":
    case.run(check)
