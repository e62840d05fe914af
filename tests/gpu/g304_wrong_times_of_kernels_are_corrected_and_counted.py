# SPDX-License-Identifier: Apache-2.0
"""Kernel times that are zero, inverted, of another clock, in the future or open at the end are moved into the run, and
counted by kind of error."""

import cupti_case
from lib import case

LAUNCHES = 100
SLACK_NS = 5_000_000  # of a reading of two clocks
WRONG = {"zero": "none", "inverted": "inverted", "realtime": "realtime", "future": "outside", "unfinished": "no end",
         "wrapped": "wrapped", "wrapped_end": "wrapped"}


def check(this):
    for setting, clock in WRONG.items():
        trace = cupti_case.traced(this, "return", LAUNCHES, CLOCK=setting)
        kernels = trace.rows("gpu_kernel")
        this.equal("clocks of " + setting, {row["clock"] for row in kernels}, {clock})
        this.equal("counted", trace.run["gpu_work"]["clocks"][clock.replace(" ", "_")], LAUNCHES + 1)
        run = trace.run
        for row in kernels:
            inside = run["start_ns"] <= row["ts"] <= row["ts"] + row["dur"] <= run["end_ns"] + 1_000_000
            this.true("in the run: " + setting, inside, (row, run["start_ns"], run["end_ns"]))
        times = [row for row in trace.rows("loss") if row["unit"] == "times"]
        lost = clock in ("none", "outside", "inverted")
        if clock in ("realtime", "wrapped"):
            this.equal("lengths: " + setting, {row["dur"] for row in kernels}, {1000})
            calls = {row["correlation_id"]: row["ts"] for row in trace.rows("gpu_api")}
            early = [row for row in kernels if row["ts"] < calls[row["correlation_id"]] - SLACK_NS]
            this.equal("kernels before their calls: " + setting, early, [])
        this.equal("losses", [row["count"] for row in times], [LAUNCHES + 1] if lost else [])


if __name__ == "__main__":
    case.run(check)
