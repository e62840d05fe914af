# SPDX-License-Identifier: Apache-2.0
"""Waits of a trace and the threads that ended them, against lines "FUNC WAITER POSTER" of a program (POSTER 0: unknown)."""


def reported(text):
    return [(func, int(waiter), int(poster)) for func, waiter, poster in map(str.split, text.splitlines())]


def waits(trace, least_ns=100_000):
    """[(func, tid, tid of the poster or None)] of the waits that lasted."""
    tids = {row["thread_id"]: row["tid"] for row in trace.rows("thread")}
    return [(row["func"], row["tid"], tids.get(row["poster_thread_id"])) for row in trace.rows("call")
            if row["dur"] >= least_ns and row["err"] == 0]


def expect(this, trace, text):
    """Each line has one wait of that thread with that poster; a thread that waits several times has them in this order."""
    lines = reported(text)
    this.true("the program prints its waits", lines, text)
    seen = waits(trace)
    for func, tid in {(func, waiter) for func, waiter, _ in lines}:
        wanted = [poster or None for name, waiter, poster in lines if (name, waiter) == (func, tid)]
        this.equal(f"posters of {func} in thread {tid}", [poster for name, waiter, poster in seen if (name, waiter) == (func, tid)],
                   wanted, said=text)
