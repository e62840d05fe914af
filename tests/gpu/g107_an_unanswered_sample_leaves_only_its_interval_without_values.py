# SPDX-License-Identifier: Apache-2.0
"""If a GPU does not answer for a few samples, the counters' differences are missing for these, and return with the
first answer, with the share that lies in its own interval."""

import sys

from gpu_case import fake_driver
from lib import case

COUNTERS = ("energy_mj", "pcie_rx_bytes", "pcie_tx_bytes", "nvlink_rx_bytes", "nvlink_tx_bytes")
# Waits for samples; for some of them the second GPU is lost.
PROGRAM = """
import os, sys, time
samples, lost = sys.argv[1:]
def wait(count):
    seen = lambda: os.path.getsize(samples) if os.path.exists(samples) else 0
    end = seen() + count
    while seen() < end:
        time.sleep(0.002)
wait(3)
open(lost, "w").close()
wait(3)
os.remove(lost)
wait(4)
"""


def check(this):
    lost = this.path("lost")
    environment = fake_driver(this, 580, LOST=lost)
    trace = this.trace(sys.executable, "-c", PROGRAM, environment["FAKE_NVML_SAMPLES"], lost, options=["--sample=gpu"], env=environment)
    second = max(row["gpu_id"] for row in trace.rows("gpu"))
    rows = [row for row in trace.rows("sample_gpu") if row["gpu_id"] == second]
    # A sample in which the GPU is lost or found is answered in part.
    whole = [row["energy_mj"] is not None for row in rows]
    gone = [i for i, row in enumerate(rows) if i > 0 and row["power_mw"] is None and row["energy_mj"] is None]
    this.true("samples without an answer, and after them", gone and gone[-1] + 2 < len(rows), rows)
    first = next(i for i in range(gone[-1], len(rows)) if whole[i])
    this.true("the next sample has differences", first <= gone[-1] + 2, whole)
    after = rows[first + 1]
    for name in COUNTERS:
        known = [row for row in rows[gone[-1] + 1:] if row[name] is not None]
        this.true(f"{name}: its share of what was added, and then all of it", 0 < known[0][name] < after[name], (known[0], after))


if __name__ == "__main__":
    case.run(check)
