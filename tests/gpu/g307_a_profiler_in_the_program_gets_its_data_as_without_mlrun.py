# SPDX-License-Identifier: Apache-2.0
"""A profiler in the program that uses CUPTI gets the same data as without mlrun, in each of its sessions; the trace
continues between them, and has the gaps."""

import re

import cupti_case
from lib import case

LAUNCHES, SESSIONS = 100, 3
SLACK_NS = 50_000_000  # a reading of two clocks may be interrupted; a session and the next work are a second apart


def saw(text):
    return re.findall("^saw .*$", text, re.MULTILINE)


def times(trace):
    """From and to of the profiler's sessions; a trace's time is the monotonic clock's."""
    return [tuple(map(int, words)) for words in re.findall(r"from (\d+) began (\d+) to (\d+)", trace.stdout)]


def gaps(trace):
    found = [(row["first"], row["last"]) for row in trace.rows("loss") if row["reason"] == "another client had CUPTI"]
    return sorted(found)


def check_sessions(this, library):
    plain = this.run(cupti_case.APP, "profile", LAUNCHES, library, env=cupti_case.mock_environment(this, 13))
    this.equal("what the profiler sees without mlrun", saw(plain.stdout), [f"saw {LAUNCHES + 1} {LAUNCHES + 4} 0"] * SESSIONS)
    trace = cupti_case.traced(this, "profile", LAUNCHES, library=library)
    this.equal("what the profiler sees", saw(trace.stdout), saw(plain.stdout))
    kernels = trace.rows("gpu_kernel")
    this.equal("kernels before, between and after", len(kernels), (SESSIONS + 1) * (LAUNCHES + 1))
    found, sessions = gaps(trace), times(trace)
    this.equal("gaps", len(found), SESSIONS)
    for (first, last), (start, began, end) in zip(found, sessions, strict=True):
        this.true("the gap begins when the profiler does", start <= first <= began, (first, start, began))
        this.true("the gap ends after the profiler", end <= last, (last, end))
        inside = [row for row in kernels if first + SLACK_NS < row["ts"] < last - SLACK_NS]
        this.equal("kernels in the gap", inside, [])
    this.equal("clocks", [sum(row["clock"] == clock for row in kernels) for clock in ("monotonic", "other tool")],
               [LAUNCHES + 1, SESSIONS * (LAUNCHES + 1)])
    for end_of_gap, next_gap in zip([last for _, last in found], [first for first, _ in found[1:]] + [trace.run["end_ns"]],
                                    strict=True):
        between = [row for row in kernels if end_of_gap - SLACK_NS <= row["ts"] <= next_gap + SLACK_NS]
        this.equal("kernels between gaps, in converted time", len(between), LAUNCHES + 1)
    calls = {row["correlation_id"]: row["ts"] for row in trace.rows("gpu_api")}
    for row in kernels:
        slack = SLACK_NS if row["clock"] == "other tool" else 0
        this.true("a kernel starts in its call or later", row["ts"] >= calls[row["correlation_id"]] - slack, row)
    this.equal("other losses", [row for row in trace.rows("loss") if row["reason"] != "another client had CUPTI"], [])


def check_kept_buffers(this, library):
    """As long as CUPTI has a buffer of the profiler's, it is the profiler's."""
    plain = this.run(cupti_case.APP, "keep", LAUNCHES, library, env=cupti_case.mock_environment(this, 13, KEEPS=1))
    trace = cupti_case.traced(this, "keep", LAUNCHES, library=library, KEEPS=1)
    this.equal("what the profiler sees", saw(trace.stdout), saw(plain.stdout))
    this.equal("kernels before it", len(trace.rows("gpu_kernel")), LAUNCHES + 1)
    this.equal("gaps", len(gaps(trace)), 1)
    this.true("to the end", gaps(trace)[0][1] > times(trace)[0][2] + 3_000_000_000, (gaps(trace), times(trace)))


def check_left(this, library):
    """A profiler that never fetches still gets its records, and mlrun gets CUPTI."""
    trace = cupti_case.traced(this, "leave", LAUNCHES, library=library)
    this.equal("what the profiler sees", saw(trace.stdout), ["saw 0 0 0", f"saw {LAUNCHES + 1} {LAUNCHES + 4} 0"])
    this.equal("kernels before, between and after", len(trace.rows("gpu_kernel")), 3 * (LAUNCHES + 1))
    found, sessions = gaps(trace), times(trace)
    this.equal("gaps", len(found), 2)
    for (first, last), (start, began, end) in zip(found, sessions, strict=True):
        this.true("the gap lies around the session", start <= first <= began and end <= last, (first, last, start, began, end))


def check_finalize(this, library):
    plain = this.run(cupti_case.APP, "finalize", LAUNCHES, library, env=cupti_case.mock_environment(this, 13))
    trace = cupti_case.traced(this, "finalize", LAUNCHES, library=library)
    this.equal("what the profiler sees", saw(trace.stdout), saw(plain.stdout))
    this.equal("kernels before it", len(trace.rows("gpu_kernel")), LAUNCHES + 1)
    last = max(row["ts"] + row["dur"] for row in trace.rows("gpu_kernel"))
    this.equal("gaps", len(gaps(trace)), 1)
    this.true("one, behind what was recorded", last <= gaps(trace)[0][0] < times(trace)[1][2] <= gaps(trace)[0][1], gaps(trace))


def check(this):
    library = cupti_case.PLACE / "libmock_profiler_13.so"
    check_sessions(this, library)
    check_kept_buffers(this, library)
    check_left(this, library)
    check_finalize(this, library)


if __name__ == "__main__":
    case.run(check)
