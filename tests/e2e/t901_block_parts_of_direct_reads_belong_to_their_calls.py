# SPDX-License-Identifier: Apache-2.0
"""dd past the page cache: every byte is in a block part of the very call, whose time contains it; a neighbour who does
the same is not in the trace."""

import subprocess

from lib import case
from lib.kernel_side import need_block_device, need_kernel_side

SIZE, PIECE = 1 << 20, 64 << 10
CLOCK_NS, CLOCK_WORST_NS = 2_000, 20_000  # between the clock of the calls and the kernel's; where that one is being put right
FLAG_METADATA_WRITE = 8192  # of the system's own threads


def check(this):
    need_kernel_side()
    device = need_block_device(this.folder)
    data = this.data_file(SIZE)
    subprocess.run(["sync", data], check=True)
    direct = ("iflag=direct", f"bs={PIECE}", "of=/dev/null")
    with subprocess.Popen(["sh", "-c", f"while :; do dd if={data} {' '.join(direct)} 2>/dev/null; done"]) as neighbour:
        try:
            trace = this.trace("dd", f"if={data}", *direct, options=("--kprobes",))
        finally:
            neighbour.kill()
    calls = {row["call_id"]: row for row in trace.rows("call")}
    parts = [row for row in trace.rows("block_part") if row["op"] == "read" and row["call_id"]]
    data_parts = [part for part in parts if calls[part["call_id"]]["requested"] == PIECE]
    # Some kernels leave out an event of a completion now and then: then the trace says so.
    lost = sum(row["count"] for row in trace.rows("loss") if row["unit"] == "block parts")
    got = sum(part["bytes"] for part in data_parts)
    this.true("bytes of all parts", SIZE - lost * PIECE <= got <= SIZE, (got, lost))
    pids = {call.pid for call in trace.calls}
    this.equal("nobody else's", {part["pid"] for part in trace.rows("block_part") if not part["flags"] & FLAG_METADATA_WRITE} - pids, set())
    this.equal("the device of the file", {part["fs_dev"] for part in data_parts}, {device & 0xffffffff})
    # What the trace says of its own clock: a machine whose time is being set right runs at several rates in one run.
    clock_ns = min(max(CLOCK_NS, trace.run["clock"]["error_ns"]), CLOCK_WORST_NS)
    for part in data_parts:
        call = calls[part["call_id"]]
        done, end = part["ts"] + part["dur"], call["ts"] + call["dur"]
        this.true("in order", part["ts"] <= part["ts_issue"] <= done, part)
        this.true("the part lies within its call", call["ts"] - clock_ns <= part["ts"] and done <= end + clock_ns,
                  (call, part, trace.run["clock"]))
    requests = {row["req_id"] for row in trace.rows("block")}
    this.true("every part's request is there", {part["req_id"] for part in data_parts} <= requests)
    summary = trace.run["kernel_side"]["own_devices"]
    this.true("the summary counts as many bytes", sum(entry["read_bytes"] for entry in summary) >= got, summary)


if __name__ == "__main__":
    case.run(check)
