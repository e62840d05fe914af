# SPDX-License-Identifier: Apache-2.0
"""A program starts others by vfork, under seccomp filters that kill for any call but those which they make. It has no filter itself: what it executes
afterwards without one is recorded, and rules about its mappings hold."""

from lib import case, serials

CALLS, SIZE = 1000, 8 << 20


def check(this):
    data, numbered = this.data_file(), this.victim("numbered")
    program = (this.victim("seccomp_exec"), "children", numbered, data, CALLS, "exit")
    rule = ("--place", f"mmap size >= {SIZE} -> node 0")
    for options in ((), rule, ("--preload=off", *rule)):
        trace = this.untraced_and_traced(*program, options=options)
        if "--preload=off" not in options:
            serials.expect_threads(this, trace.serials(data), [CALLS])
            named = {row["subject"] for row in trace.rows("coverage") if "a seccomp filter" in row["detail"]}
            this.equal("programs that coverage names", named, {numbered})
        if rule[0] in options:
            matches = sum(each["matches"] for process in trace.run["placement"]["processes"] for each in process["rules"])
            this.equal(f"mappings that were placed, {options}", matches, 4)


if __name__ == "__main__":
    case.run(check)
