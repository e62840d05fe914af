# SPDX-License-Identifier: Apache-2.0
"""Idle time of a GPU is blamed on the one of three DataLoader workers whose reads are slow, on that file, as waiting;
with slow Python instead, on that worker's processor time. The pieces of each gap add up to the gap, and gaps match the
kernels' table."""

import os
import re
import subprocess
import sys

from lib import case, kernel_side, training

import cupti_case
from idle_case import check_sums, gaps_of, length
from mock_kernels import MOCK_KERNELS

KERNEL_NS, WORKERS, SLOW_STEPS = 500_000, 3, 12
# Long beside what the loader takes by itself, so that of all idle time 95 % have to be blamed on the worker: a read sleeps and
# Python computes for that long, whatever else the machine does. What the loader takes by itself grows with what else the machine
# does, so a share that is missed is asked again with a slower worker.
SLOW_S, OF_ALL = (0.4, 0.8, 1.6, 3.2), 0.95
# The kernel side separates the processor time of the slow Python (by its thread's own clock) from time in the run queue. The
# first of its batches comes before the first kernel.
COMPUTED = 0.9 * (SLOW_STEPS - 1) / SLOW_STEPS
STEPS = WORKERS * SLOW_STEPS

# A training as far as the loader and the launches go. Every batch is one item of a worker, and launches one kernel. The first worker
# has every third one.
PROGRAM = MOCK_KERNELS + """
import os, sys, time
import torch
from torch.utils.data import DataLoader, Dataset, get_worker_info

way, folder, steps, workers = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
slow_s, kernel_ns = float(sys.argv[5]), int(sys.argv[6])

class Slow(Dataset):
    def __len__(self):
        return steps
    def __getitem__(self, number):
        if get_worker_info().id != 0:
            return torch.zeros(1)
        if number == 0:
            with open(os.path.join(folder, "pid"), "w") as own:
                own.write(str(os.getpid()))
        if way == "file":
            with open(os.path.join(folder, "slow"), "rb", buffering=0) as data:
                data.read(1)
        elif way == "cpu":
            end = time.monotonic() + slow_s
            while time.monotonic() < end:
                pass
            with open(os.path.join(folder, "computed"), "w") as own:
                own.write(str(time.thread_time_ns()))
        return torch.zeros(1)

for batch in DataLoader(Slow(), batch_size=1, num_workers=workers, prefetch_factor=2):
    launch(b"_Z5trainv", kernel_ns)
"""

# Lets each opening of the FIFO read one byte, after a while.
FEEDER = """
import os, sys, time
for _ in range(int(sys.argv[2])):
    time.sleep(float(sys.argv[3]))
    with open(sys.argv[1], "wb", buffering=0) as end:
        time.sleep(float(sys.argv[3]))
        end.write(b"x")
"""


def data_folder(this, way, slow_s, *options):
    return this.path(f"data-{way}-{slow_s}-{len(options)}")


def traced(this, way, slow_s, *more):
    folder = data_folder(this, way, slow_s, *more)
    folder.mkdir()
    program = this.path("program.py")
    program.write_text(PROGRAM, encoding="utf-8")
    os.mkfifo(folder / "slow")
    feeder = None
    if way == "file":
        feeder = subprocess.Popen([sys.executable, "-c", FEEDER, folder / "slow", str(SLOW_STEPS), str(slow_s / 2)])
    try:
        trace = this.trace(sys.executable, program, way, folder, STEPS, WORKERS, slow_s, KERNEL_NS,
                           options=["--cupti", "--lossless", *more], env=cupti_case.mock_environment(this, 13))
        return trace, int((folder / "pid").read_text(encoding="utf-8"))
    finally:
        if feeder:
            feeder.kill()
            feeder.wait()


def check_proofs(this, trace):
    """Each piece names a row of its thread, which overlaps it."""
    rows = {table: {} for table in ("call", "gpu_api", "wait", "gpu_kernel")}
    for table, starts in rows.items():
        for row in (trace.rows(table) if (trace.folder / "tables" / table).exists() else []):
            thread = row["gpu_id"] if table == "gpu_kernel" else row["tid"]
            starts.setdefault((thread, row["ts"]), []).append(row["ts"] + row["dur"])
    for piece in trace.rows("gpu_idle"):
        if piece["proof"] == "none":
            this.true("no row is needed", piece["label"] in ("cpu", "unknown"), piece)
            continue
        thread = piece["gpu_id"] if piece["proof"] == "gpu_kernel" else piece["tid"]
        ends = rows[piece["proof"]].get((thread, piece["proof_ts"]), [])
        is_launch = piece["label"] == "launch"
        this.true("the row is there", any(end > piece["ts"] or is_launch for end in ends), (piece, ends))
        this.true("it began in time", piece["proof_ts"] < piece["ts"] + piece["dur"], piece)


def within(first, second):
    """The intersection of two lists of intervals, each without overlaps in itself."""
    return [(max(a, c), min(b, d)) for a, b in first for c, d in second if max(a, c) < min(b, d)]


def without(first, second):
    """The first list of intervals without the second."""
    left = []
    for start, end in first:
        for a, b in sorted(within([(start, end)], second)):
            if a > start:
                left.append((start, a))
            start = b
        if start < end:
            left.append((start, end))
    return left


def is_slow(trace, row):
    return trace.paths.get(row["file_id"], "").endswith("/slow")


def waited_for(trace, loop, way):
    """Idle time in which the main thread polled while the worker's loop was in its slow calls, or in none at all."""
    calls = trace.rows("call")
    main = {row["tid"] for row in trace.rows("gpu_kernel")}
    polls = [(row["ts"], row["ts"] + row["dur"]) for row in calls if row["tid"] in main and row["func"] == "poll"]
    own = [row for row in calls if row["tid"] == loop and (way == "cpu" or is_slow(trace, row))]
    stretches = [(row["ts"], row["ts"] + row["dur"]) for row in own]
    idle = within(gaps_of(trace), polls)
    return length(within(idle, stretches) if way == "file" else without(idle, stretches))


def blamed(trace, worker, way):
    rows = [row for row in trace.rows("gpu_idle") if row["proc_id"] == worker]
    labels = ("cpu", "run queue") if way == "cpu" else ("waiting",)
    wanted = [row for row in rows if row["label"] in labels and (way == "cpu" or is_slow(trace, row))]
    return sum(row["dur"] for row in wanted)


def check_calls(this, trace, worker):
    """Of a wait the summary names the call that has most of the time."""
    func = {row["call_id"]: row["func"] for row in trace.rows("call")}
    of_calls = {}
    for row in trace.rows("gpu_idle"):
        if row["proc_id"] == worker and row["label"] == "waiting" and is_slow(trace, row):
            of_calls.setdefault((row["thread_id"], row["file_id"]), {}).setdefault(func[row["call_id"]], []).append(row["dur"])
    most = {key: max(sum(times) for times in calls.values()) for key, calls in of_calls.items()}
    reported = [row for row in trace.rows("summary_gpu_idle") if row["label"] == "waiting" and (row["thread_id"], row["file_id"]) in most]
    this.equal("waits on the slow file in the summary", len(reported), len(most))
    for row in reported:
        calls = of_calls[row["thread_id"], row["file_id"]]
        this.equal("the longest call", (row["func_ns"], sum(calls.get(row["func"], [0]))),
                   (most[row["thread_id"], row["file_id"]],) * 2, said=str(calls))


def check_run(this, way, slow_s, *options):
    """The trace; all of its idle time, the part that the loader caused according to the calls, and the part blamed on the worker."""
    trace, loop = traced(this, way, slow_s, *options)
    check_sums(this, trace)
    check_proofs(this, trace)
    [worker] = {row["proc_id"] for row in trace.rows("process") if row["pid"] == loop}
    wanted, got = waited_for(trace, loop, way), blamed(trace, worker, way)
    whole = length(gaps_of(trace))
    this.true(f"the loader is what the GPU waits for ({way})", wanted > 0.3 * whole, (wanted, whole))
    this.true(f"that is blamed on the worker ({way})", 0.9 * wanted <= got <= whole, (got, wanted, whole))
    return trace, whole, wanted, got


def check_computed(this, trace, slow_s, *options):
    reported = sum(row["dur"] for row in trace.rows("gpu_idle") if row["label"] == "cpu")
    computed = int((data_folder(this, "cpu", slow_s, *options) / "computed").read_text(encoding="utf-8"))
    this.true("its processor time is recorded as such", reported >= COMPUTED * computed, (reported, computed))


def check_way(this, way, *options):
    shares = []
    for slow_s in SLOW_S:
        trace, whole, wanted, got = check_run(this, way, slow_s, *options)
        shares.append(got / whole)
        if way == "cpu":
            check_computed(this, trace, slow_s, *options)
        if got >= OF_ALL * whole:
            break
    this.true(f"of all idle time ({way})", shares[-1] >= OF_ALL, shares)
    if options:
        by_waker = sum(row["dur"] for row in trace.rows("gpu_idle") if row["link"] == "waker")
        this.true("wakers are known", by_waker > 0.5 * wanted, (by_waker, wanted))
    said = this.run(case.MLRUN, "report", "--full", trace.folder).stdout
    this.true("the summary says so", "GPU IDLE" in said and "DataLoader worker" in said, said)
    if way == "file":
        this.true("and in which call", re.search(r"DataLoader worker \d+ in \w+ .*waiting", said), said)
        [worker] = {row["proc_id"] for row in trace.rows("gpu_idle") if row["label"] == "waiting" and is_slow(trace, row)}
        check_calls(this, trace, worker)
    print(f"{way} {options}: {got / whole:.1%} of the idle time is blamed on the worker's {way}")


def check(this):
    training.need_torch()
    for way in ("file", "cpu"):
        check_way(this, way)
        if kernel_side.works():
            check_way(this, way, "--kprobes")


if __name__ == "__main__":
    case.run(check)
