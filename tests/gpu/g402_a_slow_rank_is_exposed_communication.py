# SPDX-License-Identifier: Apache-2.0
"""A kernel of NCCL that runs alone, for another rank is late, is no work: the gap around it is communication, and what
comes before and after belongs to the thread that launches."""

import sys

from lib import case

import cupti_case
from mock_kernels import MOCK_KERNELS

STEPS, COMPUTE_NS, TALK_NS = 10, 200_000, 40_000_000

PROGRAM = MOCK_KERNELS + """
import sys, time
steps, compute_ns, talk_ns = map(int, sys.argv[1:])

def run(name, length_ns):
    time.sleep(1.2 * length_ns / 1e9)
    launch(name, length_ns, has_ended=1)
for step in range(steps):
    run(b"_Z7computev", compute_ns)
    run(b"_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE", talk_ns)
run(b"_Z7computev", compute_ns)
"""


def check(this):
    trace = this.trace(sys.executable, "-c", PROGRAM, STEPS, COMPUTE_NS, TALK_NS, options=["--cupti", "--lossless"],
                       env=cupti_case.mock_environment(this, 13))
    rows = trace.rows("gpu_idle")
    this.equal("gaps: those between the computations", len({row["gap_id"] for row in rows}), STEPS)
    talks = [row for row in rows if row["label"] == "communication"]
    this.equal("communication: as long as the kernels", [row["dur"] for row in talks], [TALK_NS] * STEPS)
    this.equal("nobody of this rank is to blame for it", {row["thread_id"] for row in talks}, {None})
    [main] = {row["thread_id"] for row in trace.rows("gpu_kernel")}
    this.equal("the rest is the launching thread's", {row["thread_id"] for row in rows if row not in talks}, {main})
    said = this.run(case.MLRUN, "report", trace.folder).stdout
    this.true("the summary says so", "communication" in said, said)


if __name__ == "__main__":
    case.run(check)
