# SPDX-License-Identifier: Apache-2.0
"""Runs mlrun --sample on a program that lives for a number of samples, with a mock NVML of known values."""

import ctypes
import json
import os
import sys

from lib import case

# Maps libcuda, which marks a process that uses a GPU, prints its pid, and ends after a number of samples.
WATCHED = """
import ctypes, os, sys, time
marker, samples, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
ctypes.CDLL(marker)
sys.stdout.write(open("/proc/self/status").read().split("Pid:")[1].split()[0])
def seen():
    return os.path.getsize(samples) if os.path.exists(samples) else 0
end = seen() + count
while seen() < end:
    time.sleep(0.01)
"""


def fake_driver(this, driver, **settings):
    """The environment in which `driver` is the driver, and the file that grows with each sample of the first GPU."""
    samples = this.path(f"samples{this.traces}")
    environment = dict(this.environment) | {f"FAKE_NVML_{key}": str(value) for key, value in settings.items()}
    return environment | {"LD_LIBRARY_PATH": str(case.BUILD / "gpu" / f"nvml-{driver}"), "FAKE_NVML_SAMPLES": str(samples)}


def sampled(this, driver, *, samples, options=(), **settings):
    """The trace of a run of so many samples."""
    environment = fake_driver(this, driver, **settings)
    marker = case.BUILD / "gpu" / "marker" / "libcuda.so.1"
    return this.trace(sys.executable, "-c", WATCHED, marker, environment["FAKE_NVML_SAMPLES"], samples,
                      options=["--sample=gpu", *options], env=environment)


def need_no_driver():
    """A machine with a driver of its own is for other tests."""
    try:
        ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return
    raise case.Skip("there is an NVIDIA driver here")


def need_nvtx_program(name="marks"):
    """Its headers come with a Python package (tests/setup/packages.sh)."""
    program = case.BUILD / "gpu" / "victims" / name
    if not program.exists():
        raise case.Skip("the package nvidia-nvtx was not there when this was built")
    return program


def report(this, trace):
    done = this.run(case.MLRUN, "report", "--json", trace.folder)
    this.equal("exit status of report", done.returncode, 0, said=done.stderr)
    return json.loads(done.stdout)


def sandbox_has_children_file():
    return os.path.exists("/proc/self/task/self/children") or os.path.exists(f"/proc/self/task/{os.getpid()}/children")
