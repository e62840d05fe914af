# SPDX-License-Identifier: Apache-2.0
"""The driver's own samples, which are finer than mlrun's, are recorded once each at their own times, though each query
returns the whole ring; what the driver does not sample is reported once per GPU."""

from itertools import pairwise

from gpu_case import sampled
from lib import case

MS = 1_000_000
STEP = {"power_mw": 20 * MS, "sm_percent": 50 * MS, "mem_percent": 50 * MS}
VALUES = {"power_mw": 100_000, "sm_percent": 101, "mem_percent": 101}  # number of the sample, up to that


def realtime_offset(trace):
    start = trace.run["clock"]["start"]
    return start["realtime_ns"] - start["monotonic_ns"]


def check_kind(this, trace, rows, what, samples):
    """A row for each step of the fake's clock, its value the number of the step."""
    offset = realtime_offset(trace)
    numbers = [(row["ts"] + offset + STEP[what] // 2) // STEP[what] for row in rows]
    this.equal(f"{what}: one after another", {after - before for before, after in pairwise(numbers)}, {1})
    for row, number in zip(rows, numbers):
        this.equal(f"{what}: value of that time", row["value"], number % VALUES[what])
        this.true(f"{what}: at that time", abs(row["ts"] + offset - number * STEP[what]) < 5 * MS, (row, number))
    slack = STEP[what] + 50 * MS  # what a sample of mlrun's took until it asked for these
    this.true(f"{what}: from mlrun's first sample on", abs(rows[0]["ts"] - samples[0]["ts"]) <= slack, (rows[0], samples[0]))
    this.true(f"{what}: to mlrun's last sample", abs(rows[-1]["ts"] - samples[-1]["ts"]) <= slack, (rows[-1], samples[-1]))


def check_driver(this, driver):
    trace = sampled(this, driver, samples=8, options=["--sample-hz=10"])
    samples = {gpu: [row for row in trace.rows("sample_gpu") if row["gpu_id"] == gpu] for gpu in (1, 2)}
    rows = trace.rows("sample_gpu_driver")
    kinds = {(row["gpu_id"], row["what"]) for row in rows}
    this.equal(f"kinds, driver {driver}", kinds, {(1, "power_mw"), (1, "sm_percent"), (1, "mem_percent"), (2, "power_mw"),
                                                  (2, "sm_percent")})
    for gpu, what in kinds:
        check_kind(this, trace, [row for row in rows if (row["gpu_id"], row["what"]) == (gpu, what)], what, samples[gpu])
    finer = [row for row in rows if (row["gpu_id"], row["what"]) == (1, "power_mw")]
    this.true("finer than mlrun's samples", len(finer) > 3 * len(samples[1]), (len(finer), len(samples[1])))
    this.equal("counted", trace.run["totals"]["gpu_driver_samples"], len(rows))
    this.equal("what there is not is said once", sorted(row["detail"] for row in trace.covers("samples of the driver")),
               ["the driver does not sample these of GPU 0: SM clock",
                "the driver does not sample these of GPU 1: use of its memory, SM clock"])


def check(this):
    for driver in (440, 470, 535, 580):
        check_driver(this, driver)


if __name__ == "__main__":
    case.run(check)
