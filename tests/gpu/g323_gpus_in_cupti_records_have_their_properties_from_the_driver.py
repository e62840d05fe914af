# SPDX-License-Identifier: Apache-2.0
"""GPUs in CUPTI's records get their address, index, driver version and parent GPU from the driver, which is queried
once in a run without sampling; a driver that hangs or is missing is not waited for."""

import time

import cupti_case
from lib import case

LAUNCHES = 50
# UUID formats of the mock CUPTI: of GPU N, and of its instance.
WHOLE, INSTANCE = ("%s-%02u112233-4455-6677-8899-aabbccddee" + end for end in ("ff%.0u", "%02u"))
MANY_LAUNCHES_S, HELD_UP_S = 3, 4
# Which functions there are, and for each of two GPUs name, UUID, address, memory, whether it is divided or has means.
QUESTIONS_MAX = 20


def traced(this, command, form=WHOLE, **settings):
    calls = this.path(f"calls{this.traces}")
    environment = cupti_case.mock_environment(this, 13)
    environment["LD_LIBRARY_PATH"] += f":{case.BUILD / 'gpu' / 'nvml-580'}"
    environment |= {"FAKE_NVML_UUID": form, "FAKE_NVML_CALLS": str(calls), "FAKE_NVML_SAMPLES": str(calls) + "-samples"}
    trace = this.trace(*command, options=["--cupti", "--sample=off", "--lossless"],
                       env=environment | {key: str(value) for key, value in settings.items()})
    this.true("no sample is taken", not this.path(f"{calls.name}-samples").exists())
    return trace, calls.stat().st_size if calls.exists() else 0


def gpu_of_work(this, trace):
    gpus = {row["gpu_id"]: row for row in trace.rows("gpu")}
    [worked] = {row["gpu_id"] for row in trace.rows("gpu_kernel")}
    this.equal("kernels", len(trace.rows("gpu_kernel")), LAUNCHES + 1)
    return gpus[worked], gpus


def check_whole(this):
    """However long it runs."""
    launch = [cupti_case.APP, "return", LAUNCHES]
    for command in (launch, ["/bin/sh", "-c", f"{' '.join(map(str, launch))}; sleep {MANY_LAUNCHES_S}"]):
        trace, questions = traced(this, command, MOCK_CUPTI_GPU=1)
        gpu, gpus = gpu_of_work(this, trace)
        reported = {key: gpu[key] for key in ("kind", "name", "uuid", "pci", "nvml_index", "driver", "memory_bytes", "parent_id")}
        this.equal("the GPU", reported, {"kind": "gpu", "name": "Fake 1", "uuid": "GPU-01112233-4455-6677-8899-aabbccddeeff",
                                     "pci": "0001:18:02.0", "nvml_index": 1, "driver": "580.01", "memory_bytes": 80 << 30,
                                     "parent_id": None})
        this.equal("idle GPUs are listed too", [row["nvml_index"] for row in gpus.values()], [0, 1])
        this.true("it was asked once", 0 < questions <= QUESTIONS_MAX, questions)
        this.equal("what is said of it", trace.run["gpu_list"], {"gpus": 2, "problem": ""})
        this.true("nothing of samples", "gpu_sampler" not in trace.run and trace.rows("sample_gpu") == [])


def check_instance(this):
    trace, _ = traced(this, [cupti_case.APP, "return", LAUNCHES], form=INSTANCE, MOCK_CUPTI_GPU=1, MOCK_CUPTI_MIG=2, FAKE_NVML_MIG=1)
    gpu, gpus = gpu_of_work(this, trace)
    reported = (gpu["kind"], gpu["uuid"], gpu["gpu_instance"], gpu["compute_instance"], gpu["nvml_index"])
    this.equal("the instance", reported, ("mig", "MIG-01112233-4455-6677-8899-aabbccddee02", 2, 0, 1))
    parent = gpus[gpu["parent_id"]]
    this.equal("its GPU", (parent["kind"], parent["nvml_index"], parent["parent_id"]), ("gpu", 1, None))


def check_no_answer(this):
    """Then the rows have only CUPTI's data."""
    begin = time.monotonic()
    plain = cupti_case.traced(this, "return", LAUNCHES)
    least_s = time.monotonic() - begin
    slow, _ = traced(this, [cupti_case.APP, "return", LAUNCHES], FAKE_NVML_START_MS=60_000)
    this.true("it is not waited for", time.monotonic() - begin - least_s < least_s + HELD_UP_S, least_s)
    stopped, _ = traced(this, [cupti_case.APP, "return", LAUNCHES], FAKE_NVML_INIT=9)
    for trace in (plain, slow, stopped):
        gpu, gpus = gpu_of_work(this, trace)
        this.equal("what CUPTI tells", (len(gpus), gpu["name"], gpu["pci"], gpu["nvml_index"]), (1, "Mock H200", None, None))
    this.true("the reason is recorded", "Driver Not Loaded" in stopped.run["gpu_list"]["problem"], stopped.run["gpu_list"])


def check(this):
    check_whole(this)
    check_instance(this)
    check_no_answer(this)
    trace, questions = traced(this, ["/bin/true"])
    this.equal("without CUDA there are no queries", (questions, trace.rows("gpu"), "gpu_list" in trace.run), (0, [], False))


if __name__ == "__main__":
    case.run(check)
