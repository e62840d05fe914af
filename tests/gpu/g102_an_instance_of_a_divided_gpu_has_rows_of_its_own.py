# SPDX-License-Identifier: Apache-2.0
"""The two instances (MIG) of a divided GPU are devices with their own memory and means; a process on one has the
instance's number."""

from gpu_case import sampled
from lib import case


def check(this):
    trace = sampled(this, 580, samples=4, MIG=1)
    devices = {row["uuid"]: row for row in trace.rows("gpu")}
    this.equal("devices", list(devices), ["GPU-0000-0", "GPU-0001-0", "MIG-0001-1", "MIG-0001-2"])
    whole = devices["GPU-0001-0"]["gpu_id"]
    for number in (1, 2):
        instance = devices[f"MIG-0001-{number}"]
        this.equal("instance", (instance["kind"], instance["parent_id"], instance["gpu_instance"], instance["compute_instance"]),
                   ("mig", whole, number, 0))
        rows = [row for row in trace.rows("sample_gpu") if row["gpu_id"] == instance["gpu_id"]]
        this.equal("memory", {row["fb_used_bytes"] for row in rows}, {(100 + number) << 20})
        this.equal("busy by the driver's window", {row["sm_percent"] for row in rows}, {None})
        this.equal("busy by the GPU's own means", {row["sm_active_ppm"] for row in rows[1:]},
                   {round((2 + (10 + number) / 100) * 10000)})
    on_it = {(row["gpu_instance"], row["compute_instance"]) for row in trace.rows("sample_gpu_process")
             if row["gpu_id"] == whole and row["type"]}
    this.equal("instance of the process", on_it, {(2, 0)})


if __name__ == "__main__":
    case.run(check)
