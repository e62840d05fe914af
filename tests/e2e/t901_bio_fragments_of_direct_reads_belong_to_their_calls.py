# SPDX-License-Identifier: Apache-2.0
"""dd past the page cache: every byte is in a bio fragment of the right call, whose time contains it (to 2 us, unless
the trace reports a larger clock error); a neighbour that does the same is not in the trace."""

import subprocess
from collections import Counter

from lib import case
from lib.kernel_side import need_block_device, need_kernel_side

SIZE, PIECE = 1 << 20, 64 << 10
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
    lost = sum(row["count"] for row in trace.rows("loss") if row["unit"] == "bio fragments")
    got = sum(part["bytes"] for part in data_parts)
    this.true("bytes of all parts", SIZE - lost * PIECE <= got <= SIZE, (got, lost))
    pids = {call.pid for call in trace.calls}
    this.equal("of others: none", {part["pid"] for part in trace.rows("block_part") if not part["flags"] & FLAG_METADATA_WRITE} - pids, set())
    this.equal("the device of the file", {part["fs_dev"] for part in data_parts}, {device & 0xffffffff})
    bounds = Counter()
    for part in data_parts:
        call = calls[part["call_id"]]
        done, end = part["ts"] + part["dur"], call["ts"] + call["dur"]
        this.true("in order", part["ts"] <= part["ts_issue"] <= done, part)
        bound = max(trace.clock_bound_ns(call["ts"]), trace.clock_bound_ns(end))
        bounds[bound] += 1
        this.true("the part lies within its call", call["ts"] - bound <= part["ts"] and done <= end + bound,
                  (bound, call, part, trace.run["clock"]))
    print(f"clock {trace.run['clock']['kind']}; parts by the ns that they may lie outside of their call: {dict(sorted(bounds.items()))}")
    requests = {row["req_id"] for row in trace.rows("block")}
    this.true("every part's request is there", {part["req_id"] for part in data_parts} <= requests)
    summary = trace.run["kernel_side"]["own_devices"]
    this.true("the summary counts as many bytes", sum(entry["read_bytes"] for entry in summary) >= got, summary)


if __name__ == "__main__":
    case.run(check)
