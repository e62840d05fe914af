# SPDX-License-Identifier: Apache-2.0
"""A thread that only computes has a row in `thread`: from its creation to its last post or its join. pthread_create has the
new thread in arg2, and a join the thread that it waited for."""

from lib import case


def check(this):
    trace = this.trace(this.victim("silent_threads"))
    reported = {int(line.split()[1]): line.split()[0] for line in trace.stdout.splitlines()}
    threads = {row["tid"]: row for row in trace.rows("thread")}
    calls = trace.rows("call")
    main = next(tid for tid, name in reported.items() if name == "main")
    silent = [tid for tid, name in reported.items() if name == "silent"]
    this.equal("silent threads", len(silent), 3)
    made = {row["arg2"]: row for row in calls if row["func"] == "pthread_create"}
    joins = {row["poster_thread_id"]: row for row in calls if row["func"] == "pthread_join" and row["tid"] == main}
    for tid in silent:
        this.equal("calls of its own", [row["func"] for row in calls if row["tid"] == tid], [])
        this.true("it has a row", tid in threads, (tid, threads))
        this.true("its creation has its number", tid in made, made)
        row, join = threads[tid], joins.get(threads[tid]["thread_id"])
        this.true("it was waited for", join is not None, joins)
        this.equal("it began when it was created", row["first"], made[tid]["ts"])
        this.true("and was there until it was joined", row["last"] >= join["ts"] + join["dur"] - 1_000_000, (row, join))
    this.equal("one row each", len(trace.rows("thread")), len(reported))


if __name__ == "__main__":
    case.run(check)
