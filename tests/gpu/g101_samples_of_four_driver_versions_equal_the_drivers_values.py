# SPDX-License-Identifier: Apache-2.0
"""With mock libraries of four driver versions, each value that the driver reports is in its table and column, and every
other value is null."""

from itertools import pairwise

from gpu_case import report, sampled, sandbox_has_children_file
from lib import case

MIB = 1 << 20
# GPU i: value of the first GPU, and the increment for each further one.
EVERY_DRIVER = {
    "sm_percent": (60, 1), "mem_percent": (20, 1), "enc_percent": (1, 1), "dec_percent": (5, 1), "power_mw": (300000, 1000),
    "temperature_c": (50, 1), "memory_temperature_c": (61, 1), "memory_clock_mhz": (2600, 1), "sm_clock_mhz": (1980, 1),
    "bar1_used_bytes": (3 * MIB, 0), "ecc_corrected": (0, 1), "ecc_uncorrected": (10, 1), "pcie_replays": (2, 1),
    "performance_state": (0, 1), "fb_free_bytes": (70 << 30, 1 << 30),
}
IN_THE_INTERVAL = {
    "energy_mj": 500, "power_violation_ns": 7000, "thermal_violation_ns": 0, "pcie_rx_bytes": 2000, "pcie_tx_bytes": 1000,
    "nvlink_tx_bytes": 3 * 1024, "nvlink_rx_bytes": 5 * 1024,
}
LATER = {"jpg_percent": (7, 1), "ofa_percent": (9, 1), "protected_used_bytes": (11 * MIB, MIB)}
GPM = {"graphics_ppm": 1, "sm_active_ppm": 2, "sm_occupancy_ppm": 3, "dram_ppm": 10}


SAMPLES, HZ = 45, 20


def check_rate(this, trace, rows):
    """Samples are due at a steady rate; those that the machine had no time for are counted."""
    sampler = trace.run["gpu_sampler"]
    this.equal("samples", len(rows), sampler["samples"])
    due = sampler["samples"] + sampler["late_samples"]
    this.true("all that were due by the last one", due >= (rows[-1]["ts"] - rows[0]["ts"]) / 1e9 * HZ, (due, rows))
    # The very last one comes when the command has ended.
    this.true("none too early", len(rows) - 2 <= (rows[-2]["ts"] - trace.run["start_ns"]) / 1e9 * HZ, rows)


def check_gpu(this, rows, gpu, driver):
    for name, (first, more) in (EVERY_DRIVER | (LATER if driver >= 535 else dict.fromkeys(LATER, (None, 0)))).items():
        wanted = None if first is None else first + more * gpu
        this.equal(f"{name} of GPU {gpu}", {row[name] for row in rows}, {wanted})
    for name, step in IN_THE_INTERVAL.items():
        this.equal(f"{name} of GPU {gpu}", [row[name] for row in rows], [None] + [step] * (len(rows) - 1))
    this.equal("dur of the first sample", rows[0]["dur"], None)
    this.equal("dur", [row["dur"] for row in rows[1:]],
               [after["ts"] - before["ts"] for before, after in pairwise(rows)])
    reserved = 0 if driver >= 535 else 512 * MIB
    this.equal("memory", {row["fb_used_bytes"] for row in rows}, {(1000 + gpu) * MIB + reserved})
    this.equal("reasons", {row["throttle"] for row in rows}, {"idle" if gpu else "sw_power_cap"})
    this.equal("fan", {row["fan_percent"] for row in rows}, {None if gpu else 33})
    for name, number in GPM.items():
        wanted = round((number + gpu / 100) * 10000) if driver >= 535 else None
        this.equal(f"{name} of GPU {gpu}", [row[name] for row in rows], [None] + [wanted] * (len(rows) - 1))
    this.equal("tensor", {row["tensor_ppm"] for row in rows}, {None})


def check_processes(this, trace, gpu, driver):
    rows = [row for row in trace.rows("sample_gpu_process") if row["gpu_id"] == gpu + 1]
    pid = int(trace.stdout)
    command = next(row for row in trace.rows("process") if row["pid"] == pid)
    this.true(f"samples of the process on GPU {gpu}", len(rows) >= SAMPLES - 2, len(rows))
    this.equal("driver_pid", {row["driver_pid"] for row in rows}, {pid})
    found = [row for row in rows if row["pid"] == pid and row["pid_source"] == "same" and row["proc_id"] == command["proc_id"]]
    this.equal("samples at which the process is known", len(found), len(rows))
    # The first sample may come between the lists that the process enters, the last one between those that it leaves.
    inner = rows[1:-1]
    this.equal("type", {row["type"] for row in inner}, {"M+C" if gpu else "C+G"})
    this.equal("memory", {row["fb_used_bytes"] for row in inner}, {(200 + gpu) * MIB})
    this.equal("protected memory", {row["fb_protected_bytes"] for row in inner}, {77 if driver >= 535 else None})
    sampled_rows = [row for row in rows if row["driver_samples"] > 0]
    # The newest sample seen is kept per GPU: GPU 1, whose samples are late, loses none to GPU 0.
    this.true("rows with samples of the driver", len(sampled_rows) >= 5, rows)
    this.true("all of its samples", sum(row["driver_samples"] for row in rows) >= 9, rows)
    expected = (30 + gpu, 10 + gpu, 2, 3) + ((4, 5) if driver >= 580 else (None, None))
    this.equal("use", {tuple(row[f"{name}_percent"] for name in ("sm", "mem", "enc", "dec", "jpg", "ofa"))
                       for row in sampled_rows}, {expected})


def check(this):
    if not sandbox_has_children_file():
        raise case.Skip("the kernel has no /proc/PID/task/TID/children")
    for driver in (440, 470, 535, 580):
        trace = sampled(this, driver, samples=SAMPLES, options=[f"--sample-hz={HZ}"])
        this.equal("devices", [(row["kind"], row["uuid"], row["pci"], row["nvml_index"], row["driver"], row["memory_bytes"])
                               for row in trace.rows("gpu")],
                   [("gpu", f"GPU-000{i}-0", f"0001:{0x17 + i:02x}:02.0", i,
                     f"{driver}.01", 80 << 30) for i in (0, 1)])
        samples = trace.rows("sample_gpu")
        for gpu in (0, 1):
            rows = [row for row in samples if row["gpu_id"] == gpu + 1]
            check_rate(this, trace, rows)
            check_gpu(this, rows, gpu, driver)
            check_processes(this, trace, gpu, driver)
        first = report(this, trace)["gpus"][0]
        this.equal("busy in the report", first["busy"], 0.6)
        this.equal("energy in the report", first["energy_mj"], 500 * (first["samples"] - 1))
        this.equal("memory in the report", first["memory_peak_bytes"], samples[0]["fb_used_bytes"])
        shown = this.run(case.MLRUN, "report", "--full", trace.folder).stdout
        this.true("the summary has the GPUs", "GPUS" in shown and "0 Fake 0" in shown, shown)


if __name__ == "__main__":
    case.run(check)
