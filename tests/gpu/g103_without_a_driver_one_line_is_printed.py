# SPDX-License-Identifier: Apache-2.0
"""Without a driver, or with one that fails to start, the command runs and one line says why nothing is sampled. Without
--sample there is no line, and with a required sample mlrun refuses before the command starts."""

import json
import os
import subprocess

from gpu_case import fake_driver, need_no_driver
from lib import case


def check_container(this):
    """Like a container that has the driver without NVML; in a mount namespace."""
    if os.getuid() != 0 or not os.path.isdir("/proc/driver") or subprocess.run(["unshare", "-m", "true"], check=False).returncode:
        return
    enter = 'mount -t tmpfs none /proc/driver && mkdir /proc/driver/nvidia && : > /proc/driver/nvidia/version && exec "$@"'
    done = this.run("unshare", "-m", "sh", "-c", enter, "sh", case.MLRUN, "--sample=require", "-o", this.new_trace(), "true")
    this.equal("exit status in a container", done.returncode, 125, said=done.stderr)
    this.true("what to do", "NVIDIA_DRIVER_CAPABILITIES" in done.stderr and done.stderr.count("\n") == 1, done.stderr)


def check(this):
    need_no_driver()
    check_container(this)
    broken = dict(this.environment) | {"LD_LIBRARY_PATH": str(case.BUILD / "gpu" / "nvml-580"), "FAKE_NVML_INIT": "9"}
    for environment, reason in ((this.environment, "libnvidia-ml.so.1 cannot be loaded"), (broken, "Driver Not Loaded")):
        trace = this.trace("true", options=["--sample=gpu"], env=environment)
        said = [line for line in trace.stderr.splitlines() if reason in line]
        this.equal("lines that say it", len(said), 1, said=trace.stderr)
        this.equal("samples", trace.rows("sample_gpu"), [])

        quiet = this.run(case.MLRUN, "--quiet", "-o", this.new_trace(), "true", env=environment)
        this.equal("said without asking", (quiet.returncode, quiet.stderr), (0, ""))

        made = this.path("made")
        refused = this.run(case.MLRUN, "--sample=require", "-o", this.new_trace(), "touch", made, env=environment)
        this.equal("exit status", refused.returncode, 125, said=refused.stderr)
        this.true("one line", refused.stderr.count("\n") == 1 and reason in refused.stderr, refused.stderr)
        this.true("the command was not run", not made.exists())

    alone = this.new_trace()
    works = fake_driver(this, 580)
    until_samples = 'echo "[$LD_PRELOAD]"; until [ "$(stat -c %s "$FAKE_NVML_SAMPLES" 2>&1)" -ge 3 ] 2>/dev/null; do sleep 0.05; done'
    done = this.run(case.MLRUN, "--preload=off", "--sample=gpu", "--quiet", "-o", alone, "sh", "-c", until_samples, env=works)
    this.equal("samples alone leave the command untouched", (done.returncode, done.stdout), (0, "[]\n"), said=done.stderr)
    totals = json.loads((alone / "run.json").read_text())["totals"]
    this.true("and are there", totals["gpu_samples"] >= 4 and totals["calls"] == 0, totals)
    wrong = this.run(case.MLRUN, "--sample=disks", "true")
    this.equal("a sampler that is not there", (wrong.returncode, wrong.stderr.count("\n")), (125, 1), said=wrong.stderr)


if __name__ == "__main__":
    case.run(check)
