# SPDX-License-Identifier: Apache-2.0
"""Without CUDA nothing of CUPTI is loaded, programs run as without mlrun, and mlrun says that there was no GPU work."""

import re
import sys

import cupti_case
from lib import case


def check_linkage(this):
    """The library goes into processes and containers of any distribution since glibc 2.28."""
    library = case.BUILD / "lib" / "libmlrun_cupti.so"
    dynamic = this.run("readelf", "-dVW", library).stdout
    this.equal("libraries it needs", re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic), ["libc.so.6"])
    versions = {int(minor) for minor in re.findall(r"GLIBC_2\.(\d+)", dynamic)}
    this.true("no symbol newer than glibc 2.28", versions and max(versions) <= 28, versions)


# As if the driver did not look at the variable that names mlrun's library.
LOADED = """
import ctypes, sys, time
ctypes.CDLL(sys.argv[1])
end = time.monotonic() + 3
while time.monotonic() < end:
    open("/dev/null").close()
    time.sleep(0.02)
"""


def check_driver_that_starts_nothing(this):
    marker = case.BUILD / "gpu" / "marker" / "libcuda.so.1"
    trace = this.trace(sys.executable, "-c", LOADED, marker, options=["--cupti"])
    reported = [row["detail"] for row in trace.rows("coverage") if row["subject"] == "GPU work"]
    this.true("coverage says so", len(reported) == 1 and str(marker) in reported[0] and "CUDA_INJECTION64_PATH" in reported[0], reported)


def check(this):
    check_linkage(this)
    check_driver_that_starts_nothing(this)
    show = "cat /proc/self/maps | grep -c libcupti; exit 3"
    trace = this.trace("/bin/sh", "-c", show, options=["--cupti"], status=3)
    this.equal("libcupti in a program without CUDA", trace.stdout, "0\n")
    this.equal("kernels", trace.rows("gpu_kernel"), [])
    this.true("mlrun says so", "--cupti recorded nothing" in trace.stderr, trace.stderr)
    look = "import ctypes; program = ctypes.CDLL(None); print(hasattr(program, 'cudaMalloc'), hasattr(program, 'mlrun_producer'))"
    looked = this.trace(sys.executable, "-c", look, options=["--cupti", "--stacks"])
    this.equal("whether a program without CUDA finds our cudaMalloc, and anything of ours", looked.stdout, "False True\n")
    cleared = this.trace("/usr/bin/env", "-i", f"LD_LIBRARY_PATH={cupti_case.PLACE / 'cuda'}:{cupti_case.PLACE / '13'}",
                         cupti_case.APP, "return", 10, options=["--cupti"])
    this.equal("kernels of a program whose environment was cleared", len(cleared.rows("gpu_kernel")), 11)
    own = this.run(case.MLRUN, "--cupti=require", "-o", this.new_trace(), "/bin/true",
                   env=dict(this.environment) | {"CUDA_INJECTION64_PATH": "/somebody/else.so"})
    this.equal("status with another tool's injection", own.returncode, 125)
    this.true("which one is printed", "/somebody/else.so" in own.stderr, own.stderr)
    foreign = this.trace("/bin/sh", "-c", "CUDA_INJECTION64_PATH=/somebody/else.so /bin/echo with; /bin/echo without",
                         options=["--cupti"])
    reported = [(row["proc_id"], row["detail"]) for row in foreign.rows("coverage") if row["subject"] == "GPU work"]
    echoes = [row["proc_id"] for row in foreign.rows("process") if row["command"] == "/bin/echo with"]
    this.equal("programs with another tool's injection", len(reported), 1)
    named = [reported[0][0]] == echoes and "/somebody/else.so" in reported[0][1]
    this.true("which program, which library", named, (reported, echoes))
    wrong = this.run(case.MLRUN, "--cupti=maybe", "/bin/true")
    this.equal("status of a wrong word", wrong.returncode, 125)


if __name__ == "__main__":
    case.run(check)
