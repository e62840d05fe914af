# SPDX-License-Identifier: Apache-2.0
"""The checks of `run` that need PyTorch, with a mock PyTorch (fakes/torch): the programs run, and each check has both
of its sides and agrees; where the profiler omits a kernel, the checks that compare with it do not agree."""

import json
import os
import sys
from pathlib import Path

import cupti_case
from lib import case

HERE = Path(__file__).parent
COMPARED = {"kernels_as_torch_profiler_counts", "gap_of_torch_profiler", "between_sessions_of_torch_profiler"}
# Nothing is expected of these, here or on a GPU.
TOLD = {"cost_of_a_launch", "buffers_near_the_gpu", "expandable_segments", "cufile_in_compatibility_mode", "static_probes_of_pytorch"}


def checks(this, name, only, **more):
    """What the report says; its exit status is that of its checks."""
    environment = cupti_case.mock_environment(this, 13, OVERHEAD=1) | more
    environment["LD_LIBRARY_PATH"] += f":{case.BUILD}/gpu/nvml-580:{cupti_case.PLACE / 'runtime'}"
    environment |= {"PYTHONPATH": str(HERE / "fakes"), "FAKE_TORCH_PROFILER": str(cupti_case.PLACE / "libmock_profiler_13.so"),
                    "FAKE_TORCH_RUNTIME": str(cupti_case.PLACE / "liballocator_13.so")}
    out = this.path(f"{name}.json")
    done = this.run(sys.executable, "-B", HERE / "run", case.BUILD, "--only", only, "--out", out, env=environment, timeout=600)
    this.true("it began", done.returncode in (0, 1), done.stderr)
    report = json.loads(out.read_text(encoding="utf-8"))
    seen = report["checks"]
    this.equal("complete", report["is_complete"], True)
    this.equal("exit status", done.returncode, 1 if any(at["agrees"] is False for at in seen.values()) else 0)
    return seen


def check(this):
    seen = checks(this, "report", "work,features")
    this.equal("checks", len(seen), 17)
    for name, reported in seen.items():
        this.true(name, reported["agrees"] is (None if name in TOLD else True) and not reported.get("failed_by_exception"), reported)
    starts = seen["kernels_begin_in_their_calls"]["launches"]
    this.true("as many kernels as show one in ten thousand", starts["joined"] >= 100_000, starts)
    wrong = checks(this, "forgetful", "work,features", FAKE_TORCH_FORGETS="1")
    this.equal("a profiler that forgets", {name for name, reported in wrong.items() if reported["agrees"] is False}, COMPARED)
    this.true("nothing is left in the sources", not os.path.exists(HERE / "fakes" / "torch" / "__pycache__"))


if __name__ == "__main__":
    case.run(check)
