# SPDX-License-Identifier: Apache-2.0
"""Threads that make no recorded call have a row of `thread`, and their samples add up to what the kernel says that they
used: time on a processor and in the run queue exactly, clock ticks within their grain, page faults."""

import os

from lib import case

BURN_MS = (150, 400, 700)
TICK_NS = 10**9 // os.sysconf("SC_CLK_TCK")  # the begin of a thread is counted in these
GRAIN_NS = 3 * 10**9 // os.sysconf("SC_CLK_TCK")


def check(this):
    file = this.path("cold.bin")
    file.write_bytes(os.urandom(1 << 20))
    with open(file, "rb") as written:
        os.fsync(written.fileno())
    trace = this.trace(this.victim("computes"), file, *BURN_MS)
    truth = {int(tid): list(map(int, rest)) for tid, *rest in (line.split() for line in trace.stdout.splitlines())}
    this.equal("threads", len(truth), len(BURN_MS) + 1)
    threads = {row["tid"]: row for row in trace.rows("thread")}
    samples = trace.rows("sample_thread")
    calling = {row["thread_id"] for row in trace.rows("call")}
    for (tid, (cpu_ns, majflt, run_ns, runq_ns)), wanted_ms in zip(truth.items(), (0, *BURN_MS), strict=True):
        row = threads[tid]
        this.true("its name", row["comm"] == "computes", row)
        this.true("it made no call", row["thread_id"] not in calling)
        mine = [sample for sample in samples if sample["tid"] == tid]
        this.true("its samples know it", all(sample["thread_id"] == row["thread_id"] for sample in mine), mine)
        for before, after in zip(mine, mine[1:]):
            this.equal("no gap", before["ts"] + before["dur"], after["ts"])
        total = {name: sum(sample[name] or 0 for sample in mine) for name in ("run_ns", "runq_ns", "utime_ns", "stime_ns", "majflt")}
        if run_ns:  # else this kernel does not count
            this.equal("time on a processor and in the run queue", (total["run_ns"], total["runq_ns"]), (run_ns, runq_ns))
            this.true("no less than by its own clock", run_ns >= cpu_ns >= wanted_ms * 10**6, (run_ns, cpu_ns))
        this.true("clock ticks", abs(total["utime_ns"] + total["stime_ns"] - cpu_ns) <= GRAIN_NS, (total, cpu_ns))
        this.equal("page faults that read", total["majflt"], majflt)
        this.equal("it waits at the end", mine[-1]["state"], "S")
        this.true("first and last", row["first"] <= mine[0]["ts"] + TICK_NS and mine[-1]["ts"] + mine[-1]["dur"] <= row["last"], (row, mine))
    print("page faults:", next(iter(truth.values()))[1])


if __name__ == "__main__":
    case.run(check)
