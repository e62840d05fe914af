# SPDX-License-Identifier: Apache-2.0
"""A program that is executed under a filter which refuses what mapping the buffer takes runs as ever, and coverage names it; one
whose execution failed, or that was recorded, is not named."""

from lib import case, serials

CALLS = 1000


def check(this):
    data = this.data_file()
    trace = this.untraced_and_traced(this.victim("seccomp_exec"), this.victim("numbered"), data, CALLS, "exit")
    this.equal("calls of it", len(trace.calls_of("pread", path=data)), 0)
    named = [row["subject"] for row in trace.rows("coverage")]
    this.equal("programs that coverage names", named, [str(this.victim("numbered"))])
    retries = "import os, sys\ntry:\n os.execv('/', ['x'])\nexcept OSError:\n os.execv(sys.argv[1], sys.argv[1:])"
    trace = this.untraced_and_traced("/usr/bin/env", "python3", "-c", retries, this.victim("numbered"), data, CALLS, "exit")
    serials.expect_threads(this, trace.serials(data), [CALLS])
    this.equal("rows of coverage about what was executed", trace.covers("was executed and recorded nothing"), [])


if __name__ == "__main__":
    case.run(check)
