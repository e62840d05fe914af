# SPDX-License-Identifier: Apache-2.0
"""After `env -i` or an exec with its own environment, the program is recorded and sees no added variables but mlrun's.
A program with too many variables for a changed copy is named as not seen, and so are the shells of system(), which libc
starts itself."""

import sys

from lib import case, serials

CALLS, ENTRIES = 1000, 5000


def expect_large_is_named(this, data):
    """A program whose environment is too large to be changed runs untraced, and coverage says so."""
    script = f"import os, sys\nos.execve(sys.argv[1], sys.argv[1:], {{f'V{{i}}': '' for i in range({ENTRIES})}})"
    trace = this.untraced_and_traced(sys.executable, "-c", script, this.victim("numbered"), data, CALLS, "exit")
    this.equal("calls of the program with the large environment", trace.calls_of("pread", path=data), [])
    named = [row for row in trace.covers("too large to be changed") if row["subject"].endswith("numbered")]
    this.equal("rows of coverage about it", len(named), 1, said=str(trace.rows("coverage")))


def expect_shells_are_named(this, data):
    """For a program that removes our library from its own environment, and for one that does not."""
    script = "import os, sys\nif sys.argv[1] == 'drop':\n del os.environ['LD_PRELOAD']\nos.system(sys.argv[2])"
    for what, shells in (("keep", 0), ("drop", 1)):
        trace = this.trace(sys.executable, "-c", script, what, f"{this.victim('numbered')} {data} {CALLS} exit")
        this.equal(f"{what}: calls below the shell", len(trace.calls_of("pread", path=data)), 0 if shells else CALLS)
        named = [row["kernel"] for row in trace.covers("from its environment")]
        this.equal(f"{what}: shells in coverage", named, [shells] if shells else [])


def check(this):
    data = this.data_file()
    trace = this.trace("env", "-i", this.victim("numbered"), data, CALLS, "exit", status=7)
    serials.expect_threads(this, trace.serials(data), [CALLS])
    seen = this.run(*this.command("env", "-i", "A=1", "/usr/bin/env", out=this.new_trace())).stdout.split("\n")
    names = {line.split("=")[0] for line in seen if line}
    expect_large_is_named(this, data)
    expect_shells_are_named(this, data)
    this.true("variables", {"A"} <= names <= {"A", "LD_PRELOAD", "MLRUN_SESSION"}, names)


if __name__ == "__main__":
    case.run(check)
