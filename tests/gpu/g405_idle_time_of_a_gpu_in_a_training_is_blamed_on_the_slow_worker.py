# SPDX-License-Identifier: Apache-2.0
"""The training of tests/workloads with a kernel for each step: at least 95 % of the GPU's idle time is blamed on the
slow loader worker, on its files if its storage is slow, on its processor time if its Python is slow."""

import sys

from lib import case, training

import cupti_case
from idle_case import check_sums, gaps_of, length
from mock_kernels import MOCK_KERNELS

WORKERS, OF_ALL = 3, 0.95
# A worker is slow for that long whatever else the machine does; what else there is between two kernels grows with that, so a share
# that is missed is asked again with a slower worker.
SLOW_S = (1, 2, 4, 8)

# What the training computes on the processor between a batch and the optimizer's step is the GPU's work here: a kernel that ends
# with it. The first process that is forked is the loader's worker 0.
PROGRAM = MOCK_KERNELS + """
import os, runpy, sys, time
folder, way, slow_s, pid_file, *arguments = sys.argv[1:]
sys.path.insert(0, folder)
import torch
from torch.optim.optimizer import register_optimizer_step_post_hook
import kits
import unet

began_ns, forks, is_slow = 0, 0, False

def begin(module, inputs):
    global began_ns
    if isinstance(module, unet.UNet3d) and module.training:
        began_ns = time.monotonic_ns()

def finish(*step):
    launch(b"_Z5trainv", time.monotonic_ns() - began_ns, has_ended=1)

def count():
    global forks
    forks += 1

def be_slow():
    global is_slow
    if forks != 1:
        return
    with open(pid_file, "w") as own:
        own.write(str(os.getpid()))
    if way == "file":
        os.environ["SLOW_READS_MS"] = str(int(float(slow_s) * 1000))
    is_slow = way == "cpu"

corner = kits.Crops._corner
def slow_corner(crops, labels):
    end = time.monotonic() + float(slow_s)
    while is_slow and time.monotonic() < end:
        pass
    return corner(crops, labels)

kits.Crops._corner = slow_corner
torch.nn.modules.module.register_module_forward_pre_hook(begin)
register_optimizer_step_post_hook(finish)
os.register_at_fork(before=count, after_in_child=be_slow)
sys.argv = ["train.py", *arguments]
runpy.run_path(os.path.join(folder, "train.py"), run_name="__main__")
"""


def traced(this, way, slow_s):
    """The trace, and the slow worker's pid."""
    program, pid_file = this.path("program.py"), this.path(f"pid-{way}-{slow_s}")
    program.write_text(PROGRAM, encoding="utf-8")
    options = ["--data", training.data_set(this), "--quick", "--epochs", 1, "--batch-size", 1, "--workers", WORKERS]
    environment = cupti_case.mock_environment(this, 13) | {"LD_PRELOAD": str(case.BUILD / "gpu" / "slow_reads.so"),
                                                           "SLOW_READS": "_x.npy"}
    trace = this.trace(sys.executable, program, training.WORKLOADS, way, slow_s, pid_file, *options,
                       options=["--cupti", "--lossless"], env=environment)
    return trace, int(pid_file.read_text(encoding="utf-8"))


def blamed(trace, worker, way):
    if way == "cpu":
        return [row for row in trace.rows("gpu_idle") if row["proc_id"] == worker and row["label"] == "cpu"]
    return [row for row in trace.rows("gpu_idle") if row["proc_id"] == worker and row["label"] in ("file", "waiting")
            and trace.paths.get(row["file_id"], "").endswith("_x.npy")]


def check_run(this, way, slow_s):
    """The part of all idle time that is blamed on the slow worker, and the trace."""
    trace, pid = traced(this, way, slow_s)
    check_sums(this, trace)
    [worker] = {row["proc_id"] for row in trace.rows("process") if row["pid"] == pid}
    kernels = trace.rows("gpu_kernel")
    whole, got = length(gaps_of(trace)), sum(row["dur"] for row in blamed(trace, worker, way))
    # The first of its batches comes before the first kernel. While it is slow the others' batches are computed with.
    slow_steps = -(-len(kernels) // WORKERS) - 1
    took = max(row["ts"] + row["dur"] for row in kernels) - min(row["ts"] + row["dur"] for row in kernels)
    this.true(f"it is slow ({way})", took > 0.9 * slow_steps * slow_s * 1e9 and slow_steps > 1, (took, slow_steps))
    # If the machine computes so slowly that nothing waits for the slow worker, the result means nothing: a slower worker is tried.
    return got / whole if whole > 0.3 * took else 0, trace


def check(this):
    training.need_torch()
    for way in ("file", "cpu"):
        shares = []
        for slow_s in SLOW_S:
            share, trace = check_run(this, way, slow_s)
            shares.append(share)
            if share >= OF_ALL:
                break
        this.true(f"of all idle time ({way})", shares[-1] >= OF_ALL, shares)
        said = this.run(case.MLRUN, "report", "--full", trace.folder).stdout
        this.true("the summary says so", "DataLoader worker" in said.split("GPU IDLE", 1)[1].split("\n\n", 1)[0], said)
        print(f"{way}: {shares[-1]:.1%} of the idle time is blamed on the slow worker")


if __name__ == "__main__":
    case.run(check)
