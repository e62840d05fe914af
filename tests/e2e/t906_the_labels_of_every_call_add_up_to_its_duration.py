# SPDX-License-Identifier: Apache-2.0
"""With --kprobes each nanosecond of a call has one label: they add up for every row, and reads past the page cache
wait for the device."""

import subprocess

from lib import case
from lib.kernel_side import need_block_device, need_kernel_side

LABELS = ("own_ns", "runq_ns", "vfs_ns", "queue_ns", "device_ns", "remote_ns", "wait_ns")
SIZE, PIECE = 1 << 20, 16 << 10


def check(this):
    need_kernel_side()
    need_block_device(this.folder)
    data = this.data_file(SIZE)
    subprocess.run(["sync", data], check=True)
    copy = f"dd if={data} of=/dev/null bs={PIECE}"
    trace = this.trace("sh", "-c", f"{copy} iflag=direct; {copy}", options=("--kprobes",))
    rows = trace.rows("call")
    known = [row for row in rows if row["own_ns"] is not None]
    this.true("the split of most calls is known", len(known) > len(rows) // 2, (len(known), len(rows)))
    for row in known:
        labels = [row[label] for label in LABELS]
        this.true("adds up", sum(labels) == row["dur"] and min(labels) >= 0, row)
        this.true("shared is a part of the device's", 0 <= row["device_shared_ns"] <= row["device_ns"], row)
    direct = [row for row in known if row["func"] == "read" and row["requested"] == PIECE][:SIZE // PIECE]
    # Some kernels leave out an event of a completion now and then.
    this.true("direct reads wait for the device", sum(row["device_ns"] for row in direct) > 0, direct[:3])
    this.true("the shell waits for its children", sum(row["wait_ns"] for row in known) > 0)
    sums = trace.rows("summary_split")
    this.true("the run, processes and files", {"run", "process", "file"} <= {row["scope"] for row in sums}, sums)
    for row in sums:
        this.equal("sums add up", sum(row[label] for label in LABELS), row["time_ns"])


if __name__ == "__main__":
    case.run(check)
