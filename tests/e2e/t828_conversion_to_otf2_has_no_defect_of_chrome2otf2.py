# SPDX-License-Identifier: Apache-2.0
"""What chrome2otf2.py gets wrong: locations twice, arrows as PyTorch and TensorFlow write them, one at a time, or a converter that stops at the end of one; counters but
one, and that one on another location and out of order; points, categories and arguments lost. Each by a small input."""

import json
from collections import Counter

import otf2

from lib import case
from lib.otf2_check import read_archive

AT = {"pid": 7, "tid": 1}


def converted(this, name, events):
    path = this.path(f"{name}.json")
    path.write_text(json.dumps({"traceEvents": events}))
    out = this.path(name)
    done = this.run(case.MLRUN, "convert", path, "-o", out)
    this.equal(f"status of {name}", done.returncode, 0, said=done.stderr)
    archive = read_archive(out)
    this.equal(f"what is wrong with {name}", archive.wrong, [])
    return archive


def work(name="work", ts=10, dur=5, **more):
    return {"ph": "X", "name": name, "cat": "op", "ts": ts, "dur": dur, **AT} | more


def values(archive_folder):
    """{location's name: [(location, time, value)]} in the order of the archive."""
    found = {}
    with otf2.reader.open(str(archive_folder / "traces.otf2")) as read:
        for location, event in read.events:
            if type(event).__name__ == "Metric":
                found.setdefault(location.name, []).append((location._ref, event.time, event.values[0]))
    return found


def check_locations(this):
    archive = converted(this, "locations", [work(), work("other", tid=2), {"ph": "M", "name": "thread_name", **AT, "args": {"name": "main"}}])
    used = Counter(location._ref for location, *_ in archive.entered)
    this.equal("each thread is one location, and has events", (len(archive.locations), sorted(used)), (2, sorted(archive.locations)))


def check_arrows(this):
    """Phases s and f, ends without the other, and two at once."""
    def end(phase, number, ts, **more):
        return {"ph": phase, "id": number, "ts": ts, "cat": "ac2g", "name": "ac2g", **AT} | more
    events = [work(), work("later", ts=20, tid=2), end("s", 1, 11), end("s", 2, 12), end("f", 1, 21, tid=2, bp="e"), end("f", 2, 22, tid=2, bp="e"),
              end("t", 3, 13), end("f", 4, 14), end("s", 5, 15)]
    archive = converted(this, "arrows", events)
    by_tag = {}
    for kind, time, _, _, communicator, tag, _ in archive.messages:
        by_tag.setdefault((communicator, tag), {})[kind] = time
    first = min(time for _, time, *_ in archive.entered)
    this.equal("arrows", sorted((ends["MpiSend"] - first, ends["MpiRecv"] - first) for ends in by_tag.values()), [(1000, 11000), (2000, 12000)])
    this.equal("ends without the other", sum(region.description == "flow" for _, _, region, _ in archive.entered), 3)


def check_counters(this):
    """Every counter, on one location, in order of time among the events, with its values."""
    events = [work(ts=30), work("first", ts=1), *({"ph": "C", "name": "Allocated Bytes", "ts": ts, "pid": 7, "args": {"Allocator Bytes in Use": 100 * ts}} for ts in (40, 2, 20)),
              {"ph": "C", "name": "GPU 0 Utilization", "ts": 5, "pid": 7, "args": {"GPU 0 Utilization": 50.5}},
              {"ph": "i", "name": "[memory]", "s": "t", "ts": 6, **AT, "args": {"Bytes": -512}}]
    archive = converted(this, "counters", events)
    this.equal("metrics", archive.metrics["counter"], 4)
    series = {name: (len({location for location, _, _ in of}), [time for _, time, _ in of], [value for *_, value in of]) for name, of in values(this.path("counters")).items()}
    first = min(time for _, time, *_ in archive.entered)
    [allocated] = [of for name, of in series.items() if "Allocated" in name]
    this.equal("the allocator's", (allocated[0], [time - first for time in allocated[1]], allocated[2]), (1, [1000, 19000, 39000], [200.0, 2000.0, 4000.0]))
    [used] = [of for name, of in series.items() if "Utilization" in name]
    this.equal("the GPU's", used[2], [50.5])
    this.equal("points", [region.name for _, _, region, _ in archive.entered if region.description == "mark"], ["[memory]"])


def check_columns(this):
    """Categories, arguments, and the columns of GPU work, on a location of its stream."""
    kernel = {"ph": "X", "cat": "kernel", "name": "kernel", "ts": 20, "dur": 3, "pid": 0, "tid": 7,
              "args": {"device": 0, "context": 1, "stream": 7, "correlation": 8, "grid": [64, 2, 1], "block": [256, 1, 1]}}
    archive = converted(this, "columns", [work(args={"bytes": 4096}), work("cudaLaunchKernel", cat="cuda_runtime", args={"correlation": 8}), kernel])
    found = {region.name: {key.name: value for key, value in attributes.items()} for _, _, region, attributes in archive.entered}
    this.equal("of a slice", (found["work"]["category"], json.loads(found["work"]["args"])), ("op", {"bytes": 4096}))
    this.equal("of a kernel", [found["kernel"][key] for key in ("correlation_id", "grid_x", "grid_y", "block_x")], [8, 64, 2, 256])
    this.equal("its launch", found["cudaLaunchKernel"]["correlation_id"], 8)
    where = {region.name: location for location, _, region, _ in archive.entered}
    this.equal("its stream", where["kernel"].type, otf2.LocationType.ACCELERATOR_STREAM)


def check(this):
    check_locations(this)
    check_arrows(this)
    check_counters(this)
    check_columns(this)


if __name__ == "__main__":
    case.run(check)
