# SPDX-License-Identifier: Apache-2.0
"""A PyTorch training on the CPU that annotates its steps by the package nvtx and by mlrun's module: each step is a
mark, and its parts are within it, also those in a loader's worker."""

import importlib.util
import os
import sys

from lib import case

TRAINING = """
import sys
sys.path.insert(0, sys.argv[1])
import mlrun_mark, nvtx, torch

class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 32
    def __getitem__(self, i):
        with mlrun_mark.range(f"item"):
            return torch.full((8,), float(i))

if __name__ == "__main__":
    model = torch.nn.Linear(8, 1)
    for batch in torch.utils.data.DataLoader(Data(), batch_size=4, num_workers=2):
        with nvtx.annotate("step", domain="training"):
            with nvtx.annotate("forward", domain="training"):
                loss = model(batch).sum()
            with nvtx.annotate("backward", domain="training"):
                loss.backward()
    nvtx.mark("done")
"""


def check(this):
    for package in ("torch", "nvtx"):
        if importlib.util.find_spec(package) is None:
            raise case.Skip(f"needs the Python package {package}")
    script = this.path("training.py")
    script.write_text(TRAINING)
    python = case.SOURCE / "runner" / "python"
    trace = this.trace(sys.executable, script, python, env=this.environment | {"OMP_NUM_THREADS": "1"})
    found = {}
    for row in sorted(trace.rows("mark"), key=lambda row: row["ts"]):
        found.setdefault(trace.names[row["name_id"]], []).append(row)
    this.equal("marks", {name: len(rows) for name, rows in found.items()},
               {"item": 32, "step": 8, "forward": 8, "backward": 8, "done": 1})
    this.equal("domain", {row["domain"] for row in found["step"]}, {"nvtx:training"})
    for step, forward, backward in zip(found["step"], found["forward"], found["backward"], strict=True):
        this.true("parts of a step in their order", step["ts"] <= forward["ts"] < forward["ts"] + forward["dur"]
                  <= backward["ts"] < backward["ts"] + backward["dur"] <= step["ts"] + step["dur"], step)
    this.equal("processes that made items", len({row["proc_id"] for row in found["item"]}), 2)
    this.true("they are not the one that trains", found["step"][0]["proc_id"] not in
              {row["proc_id"] for row in found["item"]})
    untraced = this.run(sys.executable, script, python)
    this.equal("without mlrun", (untraced.returncode, untraced.stdout), (0, ""), said=untraced.stderr)
    this.true("a handler of the user's stays", self_chosen_handler(this))


def self_chosen_handler(this):
    """An NVTX_INJECTION64_PATH that is already set reaches the command."""
    other = os.fspath(case.BUILD / "gpu" / "libempty_nvtx.so")
    done = this.run(*this.command("sh", "-c", "echo $NVTX_INJECTION64_PATH", out=this.new_trace()),
                    env=this.environment | {"NVTX_INJECTION64_PATH": other})
    return done.stdout == other + "\n"


if __name__ == "__main__":
    case.run(check)
