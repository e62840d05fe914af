# SPDX-License-Identifier: Apache-2.0
"""Waits on semaphores, conditions and futexes have the thread that posted, as the threads themselves know it: each kind,
one broadcast to many, in a forked child, after cancelled waits and waits that a handler jumped out of; none where
processes share the object. Untraced the program prints as many lines."""

from lib import case, posters

RUNS = {"kinds": 12, "many": 16, "forks": 2, "cancels": 2, "jumps": 1, "handles": 1, "shares": 3}


def check(this):
    for how, lines in RUNS.items():
        plain = this.run(this.victim("posts"), how)
        this.equal(f"lines of {how} untraced", len(plain.stdout.splitlines()), lines, said=plain.stderr)
        trace = this.trace(this.victim("posts"), how)
        this.equal(f"lines of {how}", len(trace.stdout.splitlines()), lines, said=trace.stderr)
        posters.expect(this, trace, trace.stdout)
        this.equal("nothing was lost", trace.dropped(), 0)


if __name__ == "__main__":
    case.run(check)
