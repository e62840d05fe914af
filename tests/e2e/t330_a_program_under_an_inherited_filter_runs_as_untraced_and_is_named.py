# SPDX-License-Identifier: Apache-2.0
"""A program executed under a filter that kills for system calls of the library's start runs as untraced, whether the
library saw the filter and the exec or not. Coverage names the programs whose exec it saw, and the shell of system(),
but not a program whose exec failed or that was recorded."""

from lib import case, serials

CALLS = 1000


def check(this):
    data, numbered = this.data_file(), this.victim("numbered")
    for way, wanted in (("seen", [numbered]), ("unseen", [])):
        trace = this.untraced_and_traced(this.victim("seccomp_exec"), way, numbered, data, CALLS, "exit")
        this.equal("calls of it", len(trace.calls_of("pread", path=data)), 0)
        named = [row["subject"] for row in trace.rows("coverage") if "a seccomp filter" in row["detail"]]
        this.equal("programs that coverage names", named, wanted)
    trace = this.untraced_and_traced(this.victim("seccomp_exec"), "shell", "exit 7")
    named = [row["subject"] for row in trace.rows("coverage") if "confined by seccomp" in row["detail"]]
    this.equal("what coverage says of the shell", named, ["what the shells of system and popen did"])
    retries = "import os, sys\ntry:\n os.execv('/', ['x'])\nexcept OSError:\n os.execv(sys.argv[1], sys.argv[1:])"
    trace = this.untraced_and_traced("/usr/bin/env", "python3", "-c", retries, numbered, data, CALLS, "exit")
    serials.expect_threads(this, trace.serials(data), [CALLS])
    this.equal("rows of coverage about what was executed", trace.covers("was executed and recorded nothing"), [])


if __name__ == "__main__":
    case.run(check)
