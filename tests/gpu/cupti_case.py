# SPDX-License-Identifier: Apache-2.0
"""Runs mlrun --cupti on a program with the mock CUDA and CUPTI."""

from checking import HELD
from lib import case

# The end of a process waits at most a fifth of a second (cupti/README.md). If the machine stalls longer, records are missing and the
# trace says so; retries tell this apart from a defect.
FETCH_TRIES = 6
PLACE = case.BUILD / "gpu" / "cupti"
APP = PLACE / "cuda_app"
KERNELS = {"void first<4>(float*, int)", "second(float*)", "triton_kernel"}


def mock_environment(this, *majors, driver=13, **settings):
    """An environment with mocks of these versions of CUPTI, and of a driver of that version."""
    folders = [PLACE / "cuda", *(PLACE / str(major) for major in majors)]
    found = {f"MOCK_CUPTI_{key}": str(value) for key, value in settings.items()}
    return dict(this.environment) | found | {"LD_LIBRARY_PATH": ":".join(map(str, folders)),
                                             "MOCK_CUDA_VERSION": str(driver * 1000)}


def traced(this, end, launches, *, majors=(13,), options=(), status=0, library=None, shared=(), driver=13, **settings):
    environment = mock_environment(this, *majors, driver=driver, **settings)
    words = [APP, end, launches] + ([library] if library else []) + list(shared)
    return this.trace(*words, options=["--cupti", "--lossless", *options], status=status, env=environment)


def fetched(this, end, launches, **more):
    """As traced(); returns the first trace of some tries in which everything was fetched. A stalled machine spoils some tries, a
    library that does not fetch spoils all."""
    for _ in range(FETCH_TRIES):
        trace = traced(this, end, launches, **more)
        if not any(row["reason"] == HELD for row in trace.rows("loss")):
            return trace
    raise AssertionError(f"{end}: what CUPTI held was missing in each of {FETCH_TRIES} traces")


def is_held(check):
    """Of a check of `run`."""
    return any(row["reason"] == HELD for row in check.get("losses", ()))


def complete(this, trace, launches):
    """Every call and every piece of work of the program is in its table, once."""
    calls = {}
    for row in trace.rows("gpu_api"):
        calls[row["func"]] = calls.get(row["func"], 0) + 1
    this.equal("calls", calls, {name: count for name, count in (
        ("cudaLaunchKernel", launches), ("cudaMemcpyAsync", 1), ("cudaMemsetAsync", 1), ("cudaStreamSynchronize", 1),
        ("cuLaunchKernelEx", 1)) if count})
    for table, count in (("gpu_kernel", launches + 1), ("gpu_memcpy", 1), ("gpu_memset", 1), ("gpu_sync", 1)):
        this.equal("rows of " + table, len(trace.rows(table)), count)
    this.equal("calls of the driver inside others", trace.run["gpu_work"]["nested_calls"], launches)
