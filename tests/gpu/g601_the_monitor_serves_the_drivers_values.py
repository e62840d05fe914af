# SPDX-License-Identifier: Apache-2.0
"""mlrun monitor --listen with mock libraries of four driver versions: Prometheus' own parsers read both formats, and
each value of GPUs and of their processes equals the driver's; a value that the driver does not report has no sample."""

import socket
import time

from gpu_case import sandbox_has_children_file
from lib import case
from monitor_case import OPEN, monitor, value

MIB, GIB = 1 << 20, 1 << 30
# Of GPU 0, and what GPU 1 has more.
GAUGES = {
    "mlrun_gpu_up": (1, 0), "mlrun_gpu_memory_total_bytes": (80 * GIB, 0), "mlrun_gpu_memory_free_bytes": (70 * GIB, GIB),
    "mlrun_gpu_bar1_used_bytes": (3 * MIB, 0), "mlrun_gpu_utilization_ratio": (0.6, 0.01),
    "mlrun_gpu_memory_utilization_ratio": (0.2, 0.01), "mlrun_gpu_power_watts": (300, 1), "mlrun_gpu_performance_state": (0, 1),
    "mlrun_gpu_pcie_replays_total": (2, 1),
}
LABELLED = {
    ("mlrun_gpu_temperature_celsius", "sensor"): {"gpu": (50, 1), "memory": (61, 1)},
    ("mlrun_gpu_clock_hertz", "clock"): {"sm": (1980e6, 1e6), "memory": (2600e6, 1e6)},
    ("mlrun_gpu_ecc_errors_total", "kind"): {"corrected": (0, 1), "uncorrected": (10, 1)},
}
ENGINES = {"encoder": (0.01, 0.01), "decoder": (0.05, 0.01), "jpeg": (0.07, 0.01), "optical_flow": (0.09, 0.01)}
# What a question adds to each counter; the first sample has nothing to compare with.
STEPS = {
    "mlrun_gpu_energy_joules_total": 0.5, "mlrun_gpu_pcie_received_bytes_total": 2000, "mlrun_gpu_pcie_sent_bytes_total": 1000,
    "mlrun_gpu_nvlink_received_bytes_total": 5 * 1024, "mlrun_gpu_nvlink_sent_bytes_total": 3 * 1024,
}
GPM = {"graphics_active": 1, "sm_active": 2, "sm_occupancy": 3, "dram_active": 10}
HOST = {"hostname": socket.gethostname()}


def near(this, what, got, wanted):
    this.true(what, abs(got - wanted) <= 1e-9 * max(1, abs(wanted)), (got, wanted))


def check_gpu(this, families, gpu, driver):
    labels = {"gpu": f"GPU-000{gpu}-0", "index": str(gpu)} | HOST
    for name, (first, more) in GAUGES.items():
        near(this, name, value(families, name, **labels), first + gpu * more)
    for (name, label), values in LABELLED.items():
        for kind, (first, more) in values.items():
            near(this, f"{name} {kind}", value(families, name, **labels, **{label: kind}), first + gpu * more)
    engines = {sample.labels["engine"]: sample.value for sample in families["mlrun_gpu_engine_utilization_ratio"].samples
               if labels.items() <= sample.labels.items()}
    reported = {name: wanted for name, wanted in ENGINES.items() if driver >= 535 or name in ("encoder", "decoder")}
    this.equal("engines", {name: round(got, 9) for name, got in engines.items()},
               {name: round(first + gpu * more, 9) for name, (first, more) in reported.items()})
    reserved = 0 if driver >= 535 else 512 * MIB
    this.equal("memory", value(families, "mlrun_gpu_memory_used_bytes", **labels), (1000 + gpu) * MIB + reserved)
    for name, percent in GPM.items():
        this.equal(f"{name} is served", f"mlrun_gpu_{name}_ratio" in families, driver >= 535)
        if driver >= 535:
            near(this, name, value(families, f"mlrun_gpu_{name}_ratio", **labels), (percent + gpu / 100) / 100)
    this.true("tensor cores, which the GPU does not report", "mlrun_gpu_tensor_active_ratio" not in families)
    seen = value(families, "mlrun_gpu_last_seen_timestamp_seconds", **labels)
    this.true("last seen a moment ago", -1 < time.time() - seen < 30, seen)


def samples_of(families, what):
    samples = families["mlrun_monitor_sample_duration_seconds"].samples
    return next(sample.value for sample in samples if sample.name.endswith(what))


def steps_of(families, gpu):
    return {round(value(families, name, index=gpu) / step, 6) for name, step in STEPS.items()}


def scrape(running):
    """A sample may end between the scrape of its values and of the count; the next scrape has both."""
    families = running.families(OPEN)
    if steps_of(families, "0") == {samples_of(families, "_count") - 1}:
        return families
    time.sleep(0.5)
    return running.families(OPEN)


def check_counters(this, families):
    """Each is a whole number of steps, the same for all: one for each sample after the first."""
    count = samples_of(families, "_count")
    this.true("samples took time", 0 < samples_of(families, "_sum") < count)
    for gpu in ("0", "1"):
        this.equal(f"steps of GPU {gpu}", steps_of(families, gpu), {count - 1})
        held = value(families, "mlrun_gpu_held_back_seconds_total", index=gpu, by="power")
        near(this, "held back by the power limit", held, 7e-6 * (count - 1))


def check_process(this, families, gpu, driver):
    labels = {"gpu": f"GPU-000{gpu}-0", "comm": "trainer"}
    found = next(s.labels for s in families["mlrun_gpu_process_active"].samples if labels.items() <= s.labels.items())
    this.equal("labels", set(found), {"gpu", "index", "hostname", "pid", "driver_pid", "comm"})
    this.true("its pid", found["pid"].isdigit() and found["driver_pid"] == "", found)
    this.equal("active", value(families, "mlrun_gpu_process_active", **labels), 1)
    this.equal("memory", value(families, "mlrun_gpu_process_memory_used_bytes", **labels), (200 + gpu) * MIB)
    near(this, "SM", value(families, "mlrun_gpu_process_sm_utilization_ratio", **labels), 0.3 + gpu / 100)
    near(this, "memory's time", value(families, "mlrun_gpu_process_memory_utilization_ratio", **labels), 0.1 + gpu / 100)
    engines = {s.labels["engine"]: s.value for s in families["mlrun_gpu_process_engine_utilization_ratio"].samples
               if labels.items() <= s.labels.items()}
    wanted = {"encoder": 0.02, "decoder": 0.03} | ({"jpeg": 0.04, "optical_flow": 0.05} if driver >= 580 else {})
    this.equal("engines of the process", engines, wanted)


def check_own(this, families):
    this.equal("driver", value(families, "mlrun_monitor_driver_up"), 1)
    this.true("processor time", 0 < value(families, "process_cpu_seconds_total") < 30)
    this.true("memory", MIB < value(families, "process_resident_memory_bytes") < GIB)
    this.true("start", 0 <= time.time() - value(families, "process_start_time_seconds") < 300)


def check(this):
    if not sandbox_has_children_file():
        raise case.Skip("the kernel has no /proc/PID/task/TID/children")
    for driver in (440, 470, 535, 580):
        with monitor(this, "--quiet", "--interval=1s", driver=driver, users=["trainer"]) as running:
            running.wait_until_sampled()
            families = scrape(running)
            for gpu in (0, 1):
                check_gpu(this, families, gpu, driver)
                check_process(this, families, gpu, driver)
            check_counters(this, families)
            check_own(this, families)
            info = {s.labels["driver"] for s in families["mlrun_gpu"].samples}
            this.equal("driver's version", info, {f"{driver}.01"})
            plain = running.families("text/plain")
            this.equal("families of the plain text", {name.removesuffix("_info") for name in plain}, set(families))
            this.equal("health", running.get("/healthz")[::2], (200, "ok\n"))
            this.equal("exit status after Ctrl-C", running.end(), 0, said=running.said())
            this.equal("a table that was not asked for", running.stdout.read_text(), "")


if __name__ == "__main__":
    case.run(check)
