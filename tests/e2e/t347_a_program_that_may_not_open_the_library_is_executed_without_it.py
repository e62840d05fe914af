# SPDX-License-Identifier: Apache-2.0
"""Landlock forbids what a file's mode allows: a program executed where the library cannot be opened gets an environment
without it, since the dynamic linker would complain, and coverage names the program."""

from lib import case

PROGRAM = "/usr/bin/true"


def check(this):
    if this.run(this.victim("landlock_exec"), PROGRAM).returncode == 77:
        raise case.Skip("there is no Landlock")
    trace = this.untraced_and_traced(this.victim("landlock_exec"), PROGRAM)
    named = [row["subject"] for row in trace.rows("coverage") if "cannot reach the library" in row["detail"]]
    this.equal("programs that coverage names", named, [PROGRAM])


if __name__ == "__main__":
    case.run(check)
