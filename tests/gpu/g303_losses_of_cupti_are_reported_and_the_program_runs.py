# SPDX-License-Identifier: Apache-2.0
"""When CUPTI refuses, drops records or returns unreadable ones, the program runs as without mlrun, and the trace says
what is missing."""

import cupti_case
from lib import case

LAUNCHES = 50
MEMSET, CONCURRENT_KERNEL = 2, 10  # enum cupti_kind
REFUSALS = {39: "another tool", 35: "CAP_SYS_ADMIN", 15: "update the driver", 40: "virtual GPU", 41: "confidential computing",
            42: "mining", 999: "nvidia-smi"}


def check(this):
    for code, words in REFUSALS.items():
        trace = cupti_case.traced(this, "return", LAUNCHES, SUBSCRIBE=code)
        reported = [row["detail"] for row in trace.rows("coverage") if row["subject"] == "GPU work"]
        this.true(f"why there is nothing ({code})", len(reported) == 1 and words in reported[0] and str(code) in reported[0], reported)
        this.equal("kernels", trace.rows("gpu_kernel"), [])
        this.true("mlrun says so", "--cupti recorded nothing" in trace.stderr, trace.stderr)
    required = cupti_case.traced(this, "return", LAUNCHES, SUBSCRIBE=39, options=["--cupti=require"], status=125)
    this.equal("kernels", required.rows("gpu_kernel"), [])

    part = cupti_case.traced(this, "return", LAUNCHES, REFUSED_KIND=MEMSET)
    reported = [row["detail"] for row in part.rows("coverage") if row["subject"] == "part of the GPU work"]
    this.true("coverage of the refused kind",
              len(reported) == 1 and reported[0].startswith("no permission") and reported[0].endswith("(MEMSET: 35)"), reported)
    this.equal("kernels and memsets beside it", (len(part.rows("gpu_kernel")), part.rows("gpu_memset")), (LAUNCHES + 1, []))
    needed = cupti_case.traced(this, "return", LAUNCHES, REFUSED_KIND=CONCURRENT_KERNEL)
    reported = [row["detail"] for row in needed.rows("coverage") if row["subject"] == "GPU work"]
    this.true("without kernels there is no recording", len(reported) == 1 and "CONCURRENT_KERNEL: 35" in reported[0], reported)

    dropped = cupti_case.traced(this, "return", LAUNCHES, DROPPED=12)
    this.equal("dropped", [(row["reason"], row["count"]) for row in dropped.rows("loss") if row["unit"] == "records"],
               [("dropped by CUPTI for want of room", 12)])
    cupti_case.complete(this, dropped, LAUNCHES)

    unknown = cupti_case.traced(this, "return", LAUNCHES, UNKNOWN=1)
    unread = [row for row in unknown.rows("loss") if row["reason"] == "in buffers that could not be read"]
    this.true("bytes behind the record that cannot be read", len(unread) == 1 and unread[0]["count"] > 0, unread)


if __name__ == "__main__":
    case.run(check)
