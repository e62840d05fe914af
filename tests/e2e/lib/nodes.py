# SPDX-License-Identifier: Apache-2.0
"""Traces as those of several nodes: two network namespaces, and clocks that are apart by a known line."""

import json
import shutil
import subprocess

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

# Columns of a trace that are moments, by TABLES.md.
MOMENTS = {"ts", "end_min", "end_max", "first", "last", "ts_insert", "ts_issue", "ts_done", "ts_wake", "ts_queue", "proof_ts",
           "block_ts", "heap_peak_ts", "mapped_peak_ts"}
NETWORK = "10.128.28."


class Shift:
    """Another clock: its time for a moment of ours."""

    def __init__(self, offset_ns, ppm, zero_ns):
        self.offset_ns, self.ppm, self.zero_ns = offset_ns, ppm, zero_ns

    def moment(self, ns):
        return ns + self.offset_ns + round((ns - self.zero_ns) * self.ppm / 1e6)

    def duration(self, ns):
        return ns + round(ns * self.ppm / 1e6)

    def column(self, values, moments):
        change = self.moment if moments else self.duration
        return pa.array([None if value is None else change(value) for value in values.to_pylist()], values.type)


def read_by_another_clock(trace, shift, boot_id="another boot"):
    """All readings of the node are shifted, in the trace itself: its tables and its run.json."""
    for path in trace.glob("tables/*/*.parquet"):
        table = pq.read_table(path)
        for number, name in enumerate(table.column_names):
            if name in MOMENTS or name == "dur":
                column = shift.column(table.column(number), name in MOMENTS)
                table = table.set_column(number, table.field(number), pa.chunked_array([column]))
        # Row groups stay as they are: `end_min` and `end_max` are those of one.
        pq.write_table(table, path, row_group_size=128 * 1024, compression="zstd")
    edit_run(trace, lambda run: shift_run(run, shift, boot_id))


def shift_run(run, shift, boot_id):
    run["host"]["boot_id"] = boot_id
    for key in ("start_ns", "end_ns"):
        run[key] = shift.moment(run[key])


def edit_run(trace, change):
    path = trace / "run.json"
    run = json.loads(path.read_text())
    change(run)
    path.write_text(json.dumps(run))


def copy_of(trace, to):
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(trace, to)
    return to


class Networks:
    """Two network namespaces with a cable between them. Leaves nothing behind."""

    def __init__(self, name="mlrun28"):
        self.names = [f"{name}a", f"{name}b"]

    def __enter__(self):
        self.remove()
        for name in self.names:
            self.ip("netns", "add", name)
        a, b = self.names
        self.ip("link", "add", "veth0", "netns", a, "type", "veth", "peer", "name", "veth0", "netns", b)
        for number, name in enumerate(self.names, 1):
            self.ip("-n", name, "addr", "add", f"{NETWORK}{number}/24", "dev", "veth0")
            for link in ("lo", "veth0"):
                self.ip("-n", name, "link", "set", link, "up")
        return self

    def __exit__(self, *_):
        self.remove()

    def remove(self):
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], check=False, stderr=subprocess.DEVNULL)

    def ip(self, *words):
        subprocess.run(["ip", *words], check=True)

    def inside(self, number, *command):
        return ["ip", "netns", "exec", self.names[number], *map(str, command)]


def merge(this, *traces, out, options=(), status=0):
    done = this.run(this.mlrun, "merge", *traces, "-o", out, *options, timeout=900)
    this.equal("exit status of the merge", done.returncode, status, said=done.stderr)
    return done


def merged(out):
    return json.loads((out / "run.json").read_text())["merged"]


def streams(trace, node=None):
    """Bytes of each TCP stream by position, from the tables alone: {(own, other): [(first, last, begin, end)]} of the calls
    that sent, and of those that received."""
    files = pq.read_table(trace / "tables" / "file").to_pylist()
    if node is not None:
        files = [row for row in files if row["node_id"] == node]
    ends = {row["file_id"]: (row["own_address"], row["address"]) for row in files
            if row["address"] and row["address"].startswith(NETWORK)}
    calls = pq.read_table(trace / "tables" / "call", columns=["ts", "dur", "func", "file_id", "ret"])
    calls = calls.filter(pc.is_in(calls["file_id"], value_set=pa.array(list(ends), pa.int64())))
    sent, received = {}, {}
    for row in sorted(calls.to_pylist(), key=lambda row: row["ts"]):
        to = {"write": sent, "writev": sent, "send": sent, "sendto": sent, "sendmsg": sent, "read": received, "readv": received,
              "recv": received, "recvfrom": received, "recvmsg": received}.get(row["func"])
        if to is None or row["ret"] <= 0:
            continue
        stream = to.setdefault(ends[row["file_id"]], [])
        first = stream[-1][1] if stream else 0
        stream.append((first, first + row["ret"], row["ts"], row["ts"] + row["dur"]))
    return sent, received


def earliest_arrivals(out):
    """Of a merged trace: for each byte stream between nodes, how long after its sending call began the receiving call of each message
    ended, least first. Below 0: it ran backwards."""
    delays = []
    nodes = [row["node_id"] for row in pq.read_table(out / "tables" / "node").to_pylist()]
    by_node = {node: streams(out, node) for node in nodes}
    for sender in nodes:
        for receiver in nodes:
            if sender == receiver:
                continue
            for (own, other), got in by_node[receiver][1].items():
                for _, last, _, end in got:
                    for first, until, begin, _ in by_node[sender][0].get((other, own), []):
                        if first < last <= until:
                            delays.append(end - begin)
    return sorted(delays)
