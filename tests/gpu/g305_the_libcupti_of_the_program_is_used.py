# SPDX-License-Identifier: Apache-2.0
"""With several libcupti, mlrun uses the one that the program has loaded, else the one that is named, else the newest
that the driver accepts; without any the trace says so."""

import os
import shutil

import cupti_case
from lib import case

LAUNCHES = 20


def library_of(trace):
    libraries = trace.run["gpu_work"]["libraries"]
    return [(library["file"], library["processes"]) for library in libraries]


def check_beside(this, cudart, cupti):
    """The one that belongs to the program's libcudart, where wheels and toolkits have it; it is not on the linker's path."""
    folder = this.folder
    for name, made in ((cudart, "cudart/libcudart.so.13"), (cupti, "13/libcupti.so.13")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(cupti_case.PLACE / made, folder / name)
    trace = cupti_case.traced(this, "return", LAUNCHES, majors=(), library=folder / cudart)
    used = [(os.path.realpath(file), processes) for file, processes in library_of(trace)]
    this.equal("beside " + cudart, used, [(os.path.realpath(folder / cupti), 1)])
    cupti_case.complete(this, trace, LAUNCHES)


def check(this):
    files = {major: str(cupti_case.PLACE / str(major) / f"libcupti.so.{major}") for major in (12, 13)}
    loaded = cupti_case.traced(this, "return", LAUNCHES, majors=(13,), library=files[12])
    this.equal("the one that is loaded", library_of(loaded), [(files[12], 1)])
    for driver, wanted in ((13, 13), (12, 12)):
        found = cupti_case.traced(this, "return", LAUNCHES, majors=(12, 13), driver=driver)
        this.equal(f"with a driver of CUDA {driver}", library_of(found), [(files[wanted], 1)])
        cupti_case.complete(this, found, LAUNCHES)
    environment = cupti_case.mock_environment(this) | {"MLRUN_CUPTI": files[12]}
    named = this.trace(cupti_case.APP, "return", LAUNCHES, options=["--cupti"], env=environment)
    this.equal("the one that is named", library_of(named), [(files[12], 1)])
    newer = cupti_case.traced(this, "return", LAUNCHES, majors=(13,), driver=12)
    reported = [row["detail"] for row in newer.rows("coverage") if row["subject"] == "GPU work"]
    check_beside(this, "together/libcudart.so.13", "together/libcupti.so.13")
    check_beside(this, "wheel/nvidia/cuda_runtime/lib/libcudart.so.13", "wheel/nvidia/cuda_cupti/lib/libcupti.so.13")
    check_beside(this, "toolkit/lib64/libcudart.so.13", "toolkit/extras/CUPTI/lib64/libcupti.so.13")
    this.true("none that the driver takes", len(reported) == 1 and library_of(newer) != [(files[13], 1)], reported)


if __name__ == "__main__":
    case.run(check)
