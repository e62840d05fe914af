# SPDX-License-Identifier: Apache-2.0
"""Waits of 20 us and more are rows with the duration that strace reports; shorter ones have no rows, and none is I/O
time."""

import json
import sys

from lib import case, family

# func -> how often, and what a wait lasts at least, in ns (the victim's own figures)
WAITS = {"poll": (1, 3e6), "ppoll": (1, 3e6), "select": (1, 3e6), "pselect": (1, 3e6), "epoll_wait": (1, 3e6),
         "epoll_pwait": (1, 3e6), "sem_timedwait": (1, 2e6), "sem_clockwait": (1, 2e6), "pthread_cond_timedwait": (1, 2e6),
         "pthread_cond_clockwait": (1, 2e6), "pthread_join": (1, 2e6), "futex": (1, 3e6), "nanosleep": (1, 3e6),
         "usleep": (1, 3e6), "sleep": (1, 1e9), "sigtimedwait": (1, 3e6), "waitpid": (1, 1e6), "wait": (1, 1e6),
         "waitid": (1, 1e6)}
SYSCALLS = ("poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait", "futex", "clock_nanosleep",
            "rt_sigtimedwait", "wait4", "waitid")
TIMEOUTS, TIMEOUT_MS = ("poll", "epoll_wait", "epoll_pwait"), 3   # the others return at once, or when strace lets them
LONG_NS, MUST_BE_SEEN_NS, STRACE_MAY_ADD_NS = 20_000, 2_000_000, 500_000_000
FUNCS = (*WAITS, "clock_nanosleep", "sem_wait")
SLEEPS, SLEEP_NS = 1000, 60_000


def check_rows(this, trace):
    rows = [row for row in trace.calls if row.func in FUNCS]
    main = family.rows_between_marks(this, trace)
    for func, (count, least_ns) in WAITS.items():
        long = [row.end_ns - row.ts_ns for row in main if row.func == func and row.end_ns - row.ts_ns > 1e6
                and (func not in TIMEOUTS or row.arg2 == TIMEOUT_MS)]
        this.equal(f"waits in {func}", len(long), count, said=str(long))
        this.true(f"{func} took its time", min(long) >= least_ns, long)
    short = [row for row in rows if row.end_ns - row.ts_ns < LONG_NS * 0.99]
    this.equal("rows of waits that were none", short, [])
    errors = [row.err for row in main if row.func in ("sem_timedwait", "pthread_cond_clockwait")]
    this.equal("they timed out", errors, [110, 110])


def check_strace(this, trace, log):
    """Each wait in strace's log is within one row of its thread, which is hardly longer."""
    pids = {row.pid for row in family.rows_between_marks(this, trace)}
    seen = 0
    for call in log.syscalls:
        if call.name not in SYSCALLS or call.pid not in pids or call.end_ns is None or "FUTEX_WAKE" in call.text:
            continue
        lasted = call.end_ns - call.start_ns
        if lasted < MUST_BE_SEEN_NS:
            continue
        around = [row for row in trace.calls if row.func in FUNCS and row.tid == call.tid
                  and row.ts_ns <= call.start_ns + LONG_NS and row.end_ns >= call.end_ns - LONG_NS]
        this.equal(f"rows around {call.name} of {lasted / 1e6:.1f} ms", len(around), 1, said=str(call))
        longer = around[0].end_ns - around[0].ts_ns - lasted
        this.true(f"{around[0].func} is as long as its {call.name}", -LONG_NS < longer < STRACE_MAY_ADD_NS, longer)
        seen += 1
    this.true("strace saw the waits", seen >= len(WAITS), seen)


def check_summary(this, trace):
    done = this.run(case.MLRUN, "report", trace.folder, "--json")
    summary = json.loads(done.stdout)
    waited = sum(row.end_ns - row.ts_ns for row in trace.calls if row.func in FUNCS)
    this.equal("time of waits", summary["totals"]["waits"]["time_ns"], waited)
    this.true("I/O time is not among it", summary["totals"]["files"]["time_ns"] < 1e9, summary["totals"]["files"])
    in_text = this.run(case.MLRUN, "report", "--full", trace.folder).stdout
    this.true("the summary says where it waited", "WAITED" in in_text and "main " in in_text, in_text)


def check_short_sleeps(this):
    """Each of many sleeps that are a little longer than what leaves no row. By select, which the kernel measures from the call
    on: time.sleep says until when, and may be held up before it calls."""
    script = f"import select\nfor _ in range({SLEEPS}): select.select([], [], [], {SLEEP_NS / 1e9})"
    trace = this.trace(sys.executable, "-c", script)
    sleeps = trace.calls_of("select")
    this.equal("rows of short sleeps", len(sleeps), SLEEPS)
    this.true("none is shorter than it was to be", min(row.end_ns - row.ts_ns for row in sleeps) >= SLEEP_NS)


def check(this):
    trace, log = family.run_beside_strace(this, this.victim("family_waits"))
    check_rows(this, trace)
    check_strace(this, trace, log)
    check_summary(this, trace)
    plain = this.trace(this.victim("family_waits"))
    check_rows(this, plain)
    polls = plain.calls_of("poll")
    this.true("polls that returned at once leave no rows", len(polls) < 100, len(polls))
    check_short_sleeps(this)


if __name__ == "__main__":
    case.run(check)
