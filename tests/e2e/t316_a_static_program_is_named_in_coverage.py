# SPDX-License-Identifier: Apache-2.0
"""A statically linked program runs without a word from ld.so; the trace records its parent and names it as not seen."""

from lib import case


def check(this):
    static = this.victim("numbered_static")
    data = this.data_file()
    trace = this.untraced_and_traced("/bin/sh", "-c", '"$0" "$1" 10 exit; exit 3', static, data)
    this.equal("calls of the static program", len(trace.calls_of("pread", path=data)), 0)
    this.true("coverage names it", trace.covers("numbered_static"), trace.rows("coverage"))
    alone = this.run(*this.command(static, data, 10, "exit", out=this.new_trace()))
    this.equal("status of the static program alone", alone.returncode, 7)
    this.true("mlrun says that nothing was recorded", alone.stdout == "" and "recorded nothing" in alone.stderr, alone)


if __name__ == "__main__":
    case.run(check)
