# SPDX-License-Identifier: Apache-2.0
"""`[memory]` events of PyTorch's profiler become counters and, on a GPU, rows of torch_memory; memory timelines become counters. The truth for a timeline is
PyTorch's own sum by category."""

import gzip
import json

from lib import case
from lib.imported import imported


def memory(time, size, address, device_type=1, device=0, **more):
    return {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 9, "tid": 9, "ts": time,
            "args": {"Device Type": device_type, "Device Id": device, "Bytes": size, "Addr": address, **more}}


def check_events(this):
    events = [memory(1, 512, 1000, **{"Total Allocated": 512, "Total Reserved": 2048, "Ev Idx": 4}), memory(2, 256, 2000), memory(3, -512, 1000),
              memory(4, 64, 3000, device_type=0, device=-1, **{"Total Allocated": 64}), {"ph": "i", "name": "[memory]", "pid": 9, "tid": 9, "ts": 5, "args": {"Bytes": 4}}]
    path = this.path("memory.json")
    path.write_text(json.dumps(events), encoding="ascii")
    trace = imported(this, path)
    this.equal("blocks", trace.rows("torch_memory", "operation, address, bytes, device, stream, held_bytes", "ORDER BY ts"),
               [("allocation", 1000, 512, 0, None, 512), ("allocation", 2000, 256, 0, None, 768), ("release", 1000, 512, 0, None, 256)])
    this.equal("totals", trace.rows("counter", "name, series, value", "ORDER BY ALL"),
               [("memory cpu", "allocated", 64.0), ("memory cuda:0", "allocated", 512.0), ("memory cuda:0", "reserved", 2048.0)])
    this.equal("of the processor", trace.count("mark"), 2)
    this.equal("the rest", [json.loads(args) for args, in trace.rows("import_event", "args")], [{"Ev Idx": 4}])
    shown = this.run(case.MLRUN, "report", trace.folder)
    this.equal("report", shown.returncode, 0, said=shown.stderr)


def check_timelines(this):
    start = 1_696_966_048_083_248_105
    changes = [[-1, 1, 100, 0], [-1, 1, 50, 7], [start, 2, 30, 3], [start + 5, 3, -30, 3], [start + 5, 3, 30, 4], [start + 9, 4, -30, 4]]
    path = this.path("memory.raw.json.gz")
    path.write_bytes(gzip.compress(json.dumps(changes).encode()))
    trace = imported(this, path)
    this.equal("changes", trace.events(), len(changes))
    this.equal("left out", trace.left_out(), {})
    last = trace.rows("counter", "series, arg_max(value, ts)", "GROUP BY series ORDER BY series")
    this.equal("sizes at the end", last, [("activation", 0.0), ("parameter", 100.0), ("temporary", 0.0), ("unknown", 50.0)])
    this.equal("times", trace.rows("counter", "min(ts), max(ts)"), [(start, start + 9)])
    times = [start // 1000, start // 1000 + 1]
    path = this.path("memory.json")
    path.write_text(json.dumps([times, [[0, 1, 2, 3, 4, 5, 6, 7, 8], [0, 10, 0, 0, 0, 0, 0, 0, 0]]]), encoding="ascii")
    trace = imported(this, path)
    this.equal("sums", trace.rows("counter", "ts // 1000, value", "WHERE series = 'parameter' ORDER BY ts"), [(times[0], 1.0), (times[1], 10.0)])
    this.equal("moments", trace.events(), 2)


def check(this):
    check_events(this)
    check_timelines(this)


if __name__ == "__main__":
    case.run(check)
