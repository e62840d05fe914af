# SPDX-License-Identifier: Apache-2.0
"""If a thread has its own descriptor table and opens another file under a number that other threads use, calls have no
file rather than a wrong one, and `loss` counts them; calls of a single-threaded program keep their file. Relative names
are right with a working directory per thread, and a thread that enters a mount namespace is at its root."""

from lib import case

REASON = "descriptors that no table holds"


def counted(trace):
    return sum(row["count"] for row in trace.rows("loss") if row["reason"] == REASON)


def check(this):
    victim = this.victim("own_descriptors")
    for way in ("unshare", "close_range", "unshare_by_number"):
        trace = this.untraced_and_traced(victim, way)
        files = {row.path for row in trace.calls_of("read") if row.requested == 16}
        this.equal(f"files read after {way}", files, {""})
        this.true(f"calls in loss after {way}", counted(trace) >= 2, trace.rows("loss"))
    trace = this.untraced_and_traced(victim, "alone")
    files = {row.path for row in trace.calls_of("read") if row.requested == 16}
    this.equal("files read by a thread that is alone", files, {str(this.path("mine"))})
    this.equal("calls in loss", counted(trace), 0)
    this.path("below").mkdir()
    trace = this.untraced_and_traced(victim, this.path("below"), "unshare_directory")
    opened = sorted(row.path for row in trace.calls_of("open") if row.path and row.path.endswith("/data"))
    this.equal("files opened as 'data'", opened, sorted([str(this.path("data")), str(this.path("below/data"))]))
    if this.run(victim, "setns").returncode == 77:
        return  # not permitted to this user
    trace = this.untraced_and_traced(victim, "setns")
    opened = [row.path for row in trace.calls_of("open") if row.path and row.path.endswith(("/data", "proc/version"))]
    this.equal("files opened before and after", opened, [str(this.path("data")), "/proc/version"])


if __name__ == "__main__":
    case.run(check)
