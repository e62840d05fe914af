# SPDX-License-Identifier: Apache-2.0
"""With two versions of libcupti in the process, the program's profiler uses its own, whichever of them mlrun uses, and
gets the same data as without mlrun; mlrun leaves the GPU to it meanwhile, and records again afterwards."""

import re

import cupti_case
from lib import case

LAUNCHES, SESSIONS = 50, 3


def saw(text):
    return re.findall("^saw .*$", text, re.MULTILINE)


def check_one(this, tool, driver, shared):
    """Profiler of that version; `shared`: the versions that are loaded before it with RTLD_GLOBAL."""
    said = f"profiler of {tool}, driver of {driver}, loaded before {shared}"
    folder = cupti_case.PLACE
    profiler = folder / f"libmock_profiler_{tool}.so"
    files = {major: str(folder / str(major) / f"libcupti.so.{major}") for major in (12, 13)}
    loaded = [files[major] for major in shared]
    environment = cupti_case.mock_environment(this, 12, 13, driver=driver)
    plain = this.run(cupti_case.APP, "profile", LAUNCHES, profiler, *loaded, env=environment)
    this.equal("without mlrun: " + said, saw(plain.stdout), [f"saw {LAUNCHES + 1} {LAUNCHES + 4} 0"] * SESSIONS)
    trace = cupti_case.traced(this, "profile", LAUNCHES, majors=(12, 13), library=profiler, shared=loaded, driver=driver)
    this.equal("with mlrun: " + said, saw(trace.stdout), saw(plain.stdout))
    used = [library["file"] for library in trace.run["gpu_work"]["libraries"]]
    this.equal("mlrun's: " + said, used, [files[driver]])
    kernels = trace.rows("gpu_kernel")
    this.equal("kernels before, between and after: " + said, len(kernels), (SESSIONS + 1) * (LAUNCHES + 1))
    gaps = [row for row in trace.rows("loss") if row["reason"] == "another client had CUPTI"]
    this.equal("gaps: " + said, len(gaps), SESSIONS)
    clock = "other tool" if tool == driver else "monotonic"
    this.equal("clock of the last: " + said, kernels[-1]["clock"], clock)


def check(this):
    check_one(this, tool=12, driver=13, shared=(13,))
    check_one(this, tool=13, driver=12, shared=(12,))
    check_one(this, tool=12, driver=13, shared=(13, 12))


if __name__ == "__main__":
    case.run(check)
