# SPDX-License-Identifier: Apache-2.0
"""When two processes use one GPU at once, each has its own work, though their correlation ids are the same, and the
GPU's busy time is counted once."""

import cupti_case
from gpu_case import report
from lib import case

LAUNCHES = 500


def union(rows):
    busy, until = 0, 0
    for begin, end in sorted((row["ts"], row["ts"] + row["dur"]) for row in rows):
        busy += max(0, end - max(begin, until))
        until = max(until, end)
    return busy


def check(this):
    script = f"{cupti_case.APP} return {LAUNCHES} & {cupti_case.APP} thread {LAUNCHES} & wait"
    trace = this.trace("/bin/sh", "-c", script, options=["--cupti", "--lossless"],
                       env=cupti_case.mock_environment(this, 13))
    this.equal("GPUs", [row["name"] for row in trace.rows("gpu")], ["Mock H200"])
    this.equal("processes that recorded", trace.run["gpu_work"]["processes"], 2)
    threads = {row["thread_id"]: row["proc_id"] for row in trace.rows("thread")}
    calls = {(row["proc_id"], row["correlation_id"]): row for row in trace.rows("gpu_api")}
    kernels = trace.rows("gpu_kernel")
    by_process = {}
    for row in kernels:
        by_process.setdefault(row["proc_id"], []).append(row["correlation_id"])
        call = calls[row["proc_id"], row["correlation_id"]]
        this.equal("the call's thread", row["thread_id"], call["thread_id"])
        this.true("of the process", row["thread_id"] is None or threads[row["thread_id"]] == row["proc_id"], row)
    this.equal("kernels by process", sorted(map(len, by_process.values())), [LAUNCHES + 1] * 2)
    first, second = by_process.values()
    this.equal("the same correlation ids", sorted(first), sorted(second))
    (device,) = report(this, trace)["gpu_work"]["devices"]
    work = kernels + trace.rows("gpu_memcpy") + trace.rows("gpu_memset")
    this.equal("busy once", device["busy_ns"], union(work))
    this.equal("kernels of both", device["kernels"], 2 * (LAUNCHES + 1))
    this.equal("losses", trace.rows("loss"), [])


if __name__ == "__main__":
    case.run(check)
