# SPDX-License-Identifier: Apache-2.0
"""A 32-bit program runs without a message of its ld.so, as the command itself and under a shell; coverage names it."""

import os

from lib import case


def check(this):
    program, data = this.victim("numbered_32"), this.data_file()
    if not os.path.exists(program):
        raise case.Skip("needs a compiler for 32-bit programs (gcc-multilib)")
    trace = this.untraced_and_traced("/bin/sh", "-c", '"$0" "$1" 10 exit; exit 3', program, data)
    this.equal("calls of the 32-bit program", len(trace.calls_of("pread", path=data)), 0)
    this.true("coverage names it", trace.covers("numbered_32"), trace.rows("coverage"))
    alone = this.run(*this.command(program, data, 10, "exit", out=this.new_trace()))
    this.equal("status of the 32-bit program alone", alone.returncode, 7)
    this.true("mlrun says that nothing was recorded", alone.stdout == "" and "recorded nothing" in alone.stderr, alone)
    this.true("ld.so says nothing", "ld.so" not in alone.stderr, alone.stderr)


if __name__ == "__main__":
    case.run(check)
