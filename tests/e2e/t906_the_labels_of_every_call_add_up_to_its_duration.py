# SPDX-License-Identifier: Apache-2.0
"""With --kprobes each nanosecond of a call has one label: the labels add up in every row, as in every trace with kernel
data that a test opens, and reads past the page cache wait for the device. The check detects wrong labels."""

import subprocess

from lib import case
from lib import labels
from lib.kernel_side import need_block_device, need_kernel_side

SIZE, PIECE = 1 << 20, 16 << 10


def check(this):
    need_kernel_side()
    need_block_device(this.folder)
    data = this.data_file(SIZE)
    subprocess.run(["sync", data], check=True)
    copy = f"dd if={data} of=/dev/null bs={PIECE}"
    trace = this.trace("sh", "-c", f"{copy} iflag=direct; {copy}", options=("--kprobes",))
    rows = trace.rows("call")
    this.true("labels are recorded", labels.are_recorded(trace), trace.run["kernel_side"]["signals"])
    this.equal("adds up", labels.faults(trace), [])
    known = [row for row in rows if row["own_ns"] is not None]
    this.true("nothing was lost that a split takes", len(known) == len(rows) or labels.gaps(trace), (len(known), len(rows)))
    direct = [row for row in known if row["func"] == "read" and row["requested"] == PIECE][:SIZE // PIECE]
    # Some kernels leave out an event of a completion now and then.
    this.true("direct reads wait for the device", sum(row["device_ns"] for row in direct) > 0, direct[:3])
    this.true("the shell waits for its children", sum(row["wait_ns"] for row in known) > 0)
    sums = trace.rows("summary_split")
    this.true("the run, processes and files", {"run", "process", "file"} <= {row["scope"] for row in sums}, sums)
    finds_what_is_wrong(this, known[0])


def finds_what_is_wrong(this, row):
    begin, end = row["ts"], row["ts"] + row["dur"]
    split = {label: row[label] for label in (*labels.LABELS, "device_shared_ns")}
    unknown = row | dict.fromkeys(split)
    changes = (({}, [], False), ({"own_ns": row["own_ns"] + 1}, [], True),
               ({"own_ns": row["own_ns"] + 1, "wait_ns": row["wait_ns"] - 1}, [], row["wait_ns"] == 0),
               ({"wait_ns": None}, [], True), ({"device_shared_ns": row["device_ns"] + 1}, [], True),
               (unknown, [], True), (unknown, [(end + 1, end + 2), (0, begin - 1)], True), (unknown, [(end, end + 2)], False))
    for change, lost, is_wrong in changes:
        found = labels.wrong(row | change, labels.LABELS, row["dur"], lost)
        this.equal(f"finds {change} with losses at {lost}", found is not None, is_wrong, found)


if __name__ == "__main__":
    case.run(check)
