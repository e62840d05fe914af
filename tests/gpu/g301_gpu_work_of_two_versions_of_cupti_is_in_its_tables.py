# SPDX-License-Identifier: Apache-2.0
"""CUDA calls, kernels, copies, memsets and synchronisations are in their tables with the right values, with CUPTI 12
and 13."""

import cupti_case
from gpu_case import report
from lib import case

LAUNCHES, MANY = 500, 1_000_000


def check_kernels(this, trace):
    names = trace.names
    calls = {row["correlation_id"]: row for row in trace.rows("gpu_api")}
    main = trace.rows("gpu_api")[0]
    counts = {}
    for kernel in trace.rows("gpu_kernel"):
        call = calls[kernel["correlation_id"]]
        counts[names[kernel["name_id"]]] = counts.get(names[kernel["name_id"]], 0) + 1
        this.true("the kernel starts in its call or later", kernel["ts"] >= call["ts"], (kernel, call))
        this.equal("the thread is the call's", (kernel["tid"], kernel["thread_id"]), (main["tid"], main["thread_id"]))
        this.equal("shape", [kernel[key] for key in ("grid_x", "grid_y", "block_x", "block_z", "registers", "stream",
                                                     "dynamic_shared_bytes", "dur", "clock")],
                   [64, 1, 256, 1, 32, 7, 1024, 1000, "monotonic"])
    this.equal("kernels by name", counts, {"void first<4>(float*, int)": LAUNCHES // 2, "second(float*)": LAUNCHES // 2,
                                           "triton_kernel": 1})


def check_rest(this, trace):
    copy, clear, wait = (trace.rows(table)[0] for table in ("gpu_memcpy", "gpu_memset", "gpu_sync"))
    this.equal("copy", [copy[key] for key in ("kind", "source", "target", "bytes", "async")],
               ["HtoD", "pinned", "device", 4096, True])
    this.equal("memset", [clear[key] for key in ("memory", "bytes", "value")], ["device", 4096, 7])
    this.equal("synchronisation", [wait[key] for key in ("kind", "stream", "event")], ["stream synchronize", 7, None])
    this.equal("device", [(row["gpu_id"], row["name"], row["uuid"]) for row in trace.rows("gpu")],
               [(copy["gpu_id"], "Mock H200", "GPU-00112233-4455-6677-8899-aabbccddeeff")])
    this.equal("losses", trace.rows("loss"), [])
    this.equal("coverage", trace.rows("coverage"), [])


def check_summary(this, trace, version):
    work = report(this, trace)["gpu_work"]
    device = work["devices"][0]
    this.equal("devices", [(device["name"], device["kernels"], device["copies"], device["bytes_in"], device["memsets"])],
               [("Mock H200", LAUNCHES + 1, 1, 4096, 1)])
    this.equal("time of kernels", device["kernel_ns"], (LAUNCHES + 1) * 1000)
    this.true("busy no longer than all work", 0 < device["busy_ns"] <= device["kernel_ns"] + device["copy_ns"], device)
    this.equal("the most common kernel", work["kernels"][0]["count"], LAUNCHES // 2)
    this.equal("version", trace.run["gpu_work"]["libraries"][0]["api_version"], version)
    text = this.run(case.MLRUN, "report", "--full", trace.folder).stdout
    this.true("the summary has a line for the GPU", "GPU WORK" in text and "Mock H200" in text, text)


def check_gpu_work_alone(this):
    """What --preload=off leaves out is not recorded by the library that GPU work is recorded through."""
    alone = cupti_case.traced(this, "return", LAUNCHES, options=["--preload=off"])
    cupti_case.complete(this, alone, LAUNCHES)
    this.equal("file calls and allocations", [alone.run["totals"][key] for key in ("calls", "allocs")], [0, 0])
    this.equal("rows", [len(alone.rows(table)) for table in ("call", "alloc", "mark")], [0, 0, 0])


def check_devices_that_were_there_before(this):
    """CUPTI emits device records when CUDA starts. If mlrun enables its kinds too late for that, it asks CUPTI for the devices."""
    trace = cupti_case.traced(this, "return", LAUNCHES, DEVICES="late")
    gpus = [row["gpu_id"] for row in trace.rows("gpu")]
    this.equal("GPUs", [row["name"] for row in trace.rows("gpu")], ["Mock H200"])
    this.equal("GPUs of kernels", sorted({row["gpu_id"] for row in trace.rows("gpu_kernel")}, key=str), gpus)
    cupti_case.complete(this, trace, LAUNCHES)
    nameless = cupti_case.traced(this, "return", LAUNCHES, DEVICES="never")
    this.equal("GPUs of kernels that CUPTI does not name", {row["gpu_id"] for row in nameless.rows("gpu_kernel")}, {None})
    this.true("coverage says so", any(row["subject"] == "GPUs" for row in nameless.rows("coverage")), nameless.rows("coverage"))


def check_what_cupti_is_given(this):
    """CUPTI gets one clock and one pair of callbacks; the subscription that detects other clients is released."""
    trace = cupti_case.traced(this, "return", LAUNCHES, TELLS=1)
    this.true("what CUPTI was given", "clocks 1 callbacks 1 subscriptions 1 given back 1 all syncs 0\n" in trace.stderr, trace.stderr)


def check_many(this):
    """A million launches, three million records, with the default buffer."""
    trace = cupti_case.traced(this, "return", MANY)
    rows, nested = trace.run["gpu_work"]["rows"], trace.run["gpu_work"]["nested_calls"]
    # Also where the merge cuts the time into parts between the end of a call of the driver and that of the call around it.
    this.equal("calls, and those of the driver inside others", [rows["api"], nested], [MANY + 4, MANY])
    this.equal("work without its call", trace.run["gpu_work"]["without_call"], 0)
    this.equal("rows", [rows[kind] for kind in ("kernel", "memcpy", "memset", "sync")], [MANY + 1, 1, 1, 1])
    this.equal("losses", trace.rows("loss"), [])


def check(this):
    for major, version in ((12, 19), (13, 130000)):
        trace = cupti_case.traced(this, "return", LAUNCHES, majors=(major,), driver=major)
        cupti_case.complete(this, trace, LAUNCHES)
        check_kernels(this, trace)
        check_rest(this, trace)
        check_summary(this, trace, version)
    check_gpu_work_alone(this)
    check_devices_that_were_there_before(this)
    check_what_cupti_is_given(this)
    check_many(this)


if __name__ == "__main__":
    case.run(check)
