# SPDX-License-Identifier: Apache-2.0
"""SECCOMP_MODE_STRICT makes the time stamp counter fault: the program runs as untraced, the trace has the calls before,
and coverage says that the rest was not seen."""

from lib import case

CALLS = 1000


def check(this):
    data = this.data_file()
    trace = this.untraced_and_traced(this.victim("seccomp_strict"), data, CALLS)
    reads = trace.calls_of("read", path=data)
    this.true("the reads before strict mode", CALLS <= len(reads) <= 2 * CALLS, len(reads))
    this.true("coverage or loss names it", trace.covers("seccomp") or
              [row for row in trace.rows("loss") if "clock" in row["reason"] or "seccomp" in row["reason"]],
              trace.rows("coverage") + trace.rows("loss"))


if __name__ == "__main__":
    case.run(check)
