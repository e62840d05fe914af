# SPDX-License-Identifier: Apache-2.0
"""A statically linked program runs without a message of ld.so; the trace has its parent and names the program as not
seen."""

import os
import shutil
import sys

from lib import case

NAMED, BEYOND = 1000, 10
SPAWNS = "import os, sys\nfor name in os.listdir(sys.argv[1]): os.waitpid(os.posix_spawn(f'{sys.argv[1]}/{name}', [name], {}), 0)"


def expect_counted_beyond(this, static):
    """With very many such programs, the first thousand are named and the others counted."""
    folder = this.path("programs")
    folder.mkdir()
    shutil.copy(static, folder / "static0")  # the build may lie on another file system
    for i in range(1, NAMED + BEYOND):
        os.link(folder / "static0", folder / f"static{i}")
    trace = this.trace(sys.executable, "-c", SPAWNS, folder)
    reported = {row["subject"] for row in trace.rows("coverage") if row["subject"].startswith(str(folder))}
    this.equal("programs named", len(reported), NAMED)
    this.equal("executions of others", [row["kernel"] for row in trace.covers("beyond those named")], [BEYOND])


def check(this):
    static = this.victim("numbered_static")
    data = this.data_file()
    trace = this.untraced_and_traced("/bin/sh", "-c", '"$0" "$1" 10 exit; exit 3', static, data)
    this.equal("calls of the static program", len(trace.calls_of("pread", path=data)), 0)
    this.true("coverage names it", trace.covers("numbered_static"), trace.rows("coverage"))
    alone = this.run(*this.command(static, data, 10, "exit", out=this.new_trace()))
    expect_counted_beyond(this, static)
    this.equal("status of the static program alone", alone.returncode, 7)
    this.true("mlrun says that nothing was recorded", alone.stdout == "" and "recorded nothing" in alone.stderr, alone)


if __name__ == "__main__":
    case.run(check)
