# SPDX-License-Identifier: Apache-2.0
"""A driver that takes 300 ms to answer: there are fewer samples, and skipped ones are counted. With a driver that never
answers, the collector keeps running, which a program waiting for room in a small buffer depends on, and the run
ends."""

from gpu_case import fake_driver, sampled
from lib import case

FOREVER_MS = 1_000_000_000


def check(this):
    trace = sampled(this, 580, samples=4, GPUS=1, SLOW_MS=300)
    sampler, rows = trace.run["gpu_sampler"], trace.rows("sample_gpu")
    this.equal("samples", len(rows), sampler["samples"])
    this.true("two are due while one is answered", sampler["late_samples"] >= 2 * sampler["samples"] - 2, sampler)
    this.true("each takes its time", all(row["dur"] is None or row["dur"] >= 300_000_000 for row in rows), rows)

    stuck = this.trace("dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=300000",
                       options=["--sample=gpu", "--lossless", "--buffer=4M"],
                       env=fake_driver(this, 580, GPUS=1, SLOW_MS=FOREVER_MS))
    this.equal("rows of a driver that answers no more", stuck.rows("sample_gpu"), [])
    this.true("all calls", stuck.run["totals"]["calls"] >= 600_000, stuck.run["totals"])
    this.equal("lost", stuck.dropped(), 0)


if __name__ == "__main__":
    case.run(check)
