# SPDX-License-Identifier: Apache-2.0
"""Allocations and releases of GPU memory are in their table, and the summary has the peak and what was never
released."""

import cupti_case
from gpu_case import report
from lib import case

BLOCKS, BYTES, KEPT = 40, 4096, 3
KEPT_OF_NAME = 12288


def check_rows(this, trace):
    rows = trace.rows("gpu_memory")
    calls = {row["correlation_id"]: row["func"] for row in trace.rows("gpu_api")}
    this.equal("operations", [sum(row["operation"] == name for row in rows) for name in ("allocation", "release")],
               [BLOCKS + 3, BLOCKS - KEPT + 2])
    this.equal("calls", {(row["operation"], calls[row["correlation_id"]]) for row in rows},
               {("allocation", "cudaMalloc"), ("release", "cudaFree")})
    this.equal("threads", {row["tid"] for row in rows}, {trace.rows("gpu_api")[0]["tid"]})
    first = rows[0]
    this.equal("the first", [first[key] for key in ("memory", "address", "bytes", "async", "pool", "stream", "context", "dur")],
               ["device", 0x7F0000000000, BYTES, False, "none", None, 1, 0])
    pooled = next(row for row in rows if row["pool"] == "local")
    this.equal("of a pool", [pooled[key] for key in ("async", "stream", "pool_address", "pool_bytes", "pool_used_bytes")],
               [True, 7, 0x7E0000000000, 32 << 20, BYTES])
    this.equal("the device", {row["gpu_id"] for row in rows}, {trace.rows("gpu")[0]["gpu_id"]})


def check_summary(this, trace):
    memory = {row["memory"]: row for row in report(this, trace)["gpu_work"]["memory"]}
    device, pinned = memory["device"], memory["pinned"]
    wanted = {"peak_bytes": BLOCKS * BYTES, "allocations": BLOCKS + 2, "allocated_bytes": (BLOCKS + 2) * BYTES,
              "releases": BLOCKS - KEPT + 2, "unmatched_releases": 1, "unseen_releases": 1, "kept": KEPT,
              "kept_bytes": KEPT * BYTES, "not_followed": 0}
    this.equal("of the device", {key: device[key] for key in wanted}, wanted)
    this.equal("of the host", [pinned[key] for key in ("allocations", "releases", "kept_bytes")], [1, 0, 2 * BYTES])
    text = this.run(case.MLRUN, "report", "--full", trace.folder).stdout
    this.true("the summary has a part for it", "GPU MEMORY" in text and "never released" in text, text)


def check_what_is_told_in_part(this):
    trace = cupti_case.traced(this, "parts", 0)
    reported = {row["subject"]: row["detail"] for row in trace.rows("coverage")}
    this.true("pages of managed memory", reported.get("managed memory", "").startswith("1 allocations "), reported)
    this.true("kernels whose names are cut alike", reported.get("names of kernels", "").startswith("1 are cut at 12288 bytes"), reported)
    rows = sorted(trace.names[row["name_id"]] for row in trace.rows("gpu_kernel"))
    whole = ["k" * (KEPT_OF_NAME - 2) + end for end in ("0", "1", "kk", "kk")]
    this.true("they are whole as far as that", rows == whole, [(len(name), name[-3:]) for name in rows])


def check(this):
    check_what_is_told_in_part(this)
    for major in (12, 13):
        trace = cupti_case.traced(this, "memory", BLOCKS, majors=(major,), driver=major)
        check_rows(this, trace)
        check_summary(this, trace)


if __name__ == "__main__":
    case.run(check)
