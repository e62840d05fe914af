# SPDX-License-Identifier: Apache-2.0
"""With slow Python in the loader's worker, the GPU's idle time that is blamed on its processor time has the line of
Python: exactly where a stack sample of the worker lies in the piece, and nowhere else."""

import json
import sys

from lib import case, training
from lib.python_stacks import PythonStacks

import cupti_case
from mock_kernels import MOCK_KERNELS

KERNEL_NS, STEPS, SLOW_S = 500_000, 8, 0.3

PROGRAM = MOCK_KERNELS + """
import sys, time
import torch
from torch.utils.data import DataLoader, Dataset

steps, slow_s, kernel_ns = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])

class Slow(Dataset):
    def __len__(self):
        return steps
    def __getitem__(self, number):
        end = time.monotonic() + slow_s
        while time.monotonic() < end:  # slow
            number + number  # slow
        return torch.zeros(1)

for batch in DataLoader(Slow(), batch_size=1, num_workers=1, prefetch_factor=2):
    launch(b"_Z5trainv", kernel_ns)
"""


def has_sample_in(row, piece):
    """Of a row of several samples the moments of the first and of the last are known."""
    begin, end = piece["ts"], piece["ts"] + piece["dur"]
    first, last = row["ts"], row["ts"] + row["dur"]
    if begin <= first < end or begin <= last < end:
        return True
    return first < begin and last >= end and row["samples"] > 1 and piece["dur"] >= 2 * (row["dur"] // (row["samples"] - 1))


def samples_within(rows, piece):
    return [row for row in rows if row["thread_id"] == piece["thread_id"] and has_sample_in(row, piece)]


def check(this):
    training.need_torch()
    program = this.path("program.py")
    program.write_text(PROGRAM, encoding="utf-8")
    slow = {number for number, line in enumerate(PROGRAM.splitlines(), 1) if line.endswith("# slow")}
    trace = this.trace(sys.executable, program, STEPS, SLOW_S, KERNEL_NS,
                       options=["--cupti", "--lossless", "--python-stacks=50"],
                       env=cupti_case.mock_environment(this, 13))
    stacks = PythonStacks(trace)
    main = {row["proc_id"] for row in trace.rows("gpu_kernel")}
    [worker] = {row["proc_id"] for row in trace.rows("process")} - main
    named_ns = whole_ns = 0
    for piece in trace.rows("gpu_idle"):
        samples = samples_within(stacks.rows, piece) if piece["label"] == "cpu" else []
        this.equal("pieces with a stack sample have a line", piece["python_line"] is not None, bool(samples))
        if not samples:
            this.equal("no stack", piece["stack_id"], None)
            continue
        proof = [row for row in samples if row["stack_id"] == piece["stack_id"]]
        this.true("it is that of a sample in the piece", proof and proof[0]["python_line"] == piece["python_line"], piece)
        if piece["proc_id"] != worker:
            continue
        whole_ns += piece["dur"]
        _, function, line = stacks.steps(proof[0])[0]
        named_ns += piece["dur"] if function == "Slow.__getitem__" and line in slow else 0
    this.true("there are pieces of the worker", whole_ns > 0.2 * STEPS * SLOW_S * 1e9, whole_ns)
    this.true("nearly all are in the slow lines", named_ns > 0.9 * whole_ns, (named_ns, whole_ns))
    [top] = [row for row in trace.rows("summary_gpu_idle") if row["proc_id"] == worker and row["label"] == "cpu"
             and row["python_ns"] > whole_ns / 4]
    this.true("the sums have it", "Slow.__getitem__" in top["python_line"], top)
    said = this.run(case.MLRUN, "report", "--full", trace.folder).stdout
    this.true("the summary says so", "Slow.__getitem__" in said.split("GPU IDLE", 1)[1].split("\n\n", 1)[0], said)
    report = json.loads(this.run(case.MLRUN, "report", "--json", trace.folder).stdout)
    this.true("and for machines", any((row["python_line"] or "").endswith("Slow.__getitem__")
                                      for row in report["gpu_idle"]), report["gpu_idle"])


if __name__ == "__main__":
    case.run(check)
