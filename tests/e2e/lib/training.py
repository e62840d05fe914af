# SPDX-License-Identifier: Apache-2.0
"""The training of tests/workloads on a small data set that all cases of a build share."""

import fcntl
import importlib.util
import sys

from lib import case

WORKLOADS = case.SOURCE / "tests" / "workloads"
TRAIN = WORKLOADS / "train.py"
CASES = 8


def need_torch():
    if not importlib.util.find_spec("torch"):
        raise case.Skip("needs PyTorch")


def data_set(this):
    """Folder of CASES pairs of small volumes."""
    folder = case.BUILD / "e2e" / "kits"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(folder.with_suffix(".lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = this.run(sys.executable, WORKLOADS / "make_kits.py", "--out", folder, "--cases", CASES, "--size", 24)
    this.equal("exit status of make_kits.py", made.returncode, 0, said=made.stderr)
    return folder


def command(folder, *options):
    return [sys.executable, str(TRAIN), "--data", str(folder), "--quick", *map(str, options)]


def torchrun(folder, *options, ranks):
    return [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", str(ranks), str(TRAIN),
            "--data", str(folder), "--quick", *map(str, options)]


def expect_workers_read(this, truth, totals, folder, workers, epochs):
    """`totals` of strace: as many children of the training process as were asked for read training cases, and the trace
    has what they read under their own pids."""
    evaluated = f"{folder}/case_{5:05d}_"
    readers = {pid for pid, path, operation in totals if operation == "read" and "/case_" in path
               and not path.startswith(evaluated)}
    main = min(readers)  # it reads each file's shape first, and evaluates
    this.equal("processes that read training cases besides the main one", len(readers - {main}), workers * epochs)
    parents = {truth.log.processes[pid].parent for pid in readers - {main}}
    this.equal("their parent", parents, {main})
    rows = [row for row in truth.trace.calls if row.path.startswith(f"{folder}/case_")]
    this.equal("pids in the trace", {row.pid for row in rows if not row.path.startswith(evaluated)}, readers)
    roles = {row["pid"]: row["role"] for row in truth.trace.rows("process") if row["pid"] in readers}
    this.equal("roles of the workers", {roles[pid] for pid in readers - {main}}, {"DataLoader worker"})
