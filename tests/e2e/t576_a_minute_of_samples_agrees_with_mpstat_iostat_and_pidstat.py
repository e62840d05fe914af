# SPDX-License-Identifier: Apache-2.0
"""A minute of load, sampled by mlrun and shown by mpstat, iostat -x, pidstat, sar -n DEV and numastat at the same time:
the sums of the samples in the tools' interval are what they show, within 2 %. The sampler takes at most its share of a processor. MLRUN_MINUTE=SECONDS: another length."""

import json
import os
import sys
import time

import duckdb

from lib import case

SECONDS = int(os.environ.get("MLRUN_MINUTE", "60"))
WITHIN = 0.02
# Half a per cent is its share. Up to half as much again: a sample is charged after it was taken, and on a busy machine its CPU time includes evicted caches.
SHARE = 0.005 * 1.5
PROGRAM = """
import json, os, re, socket, subprocess, sys, threading, time
seconds, written = int(sys.argv[1]), sys.argv[2]
ends = time.monotonic() + seconds + 2
def compute():
    while time.monotonic() < ends:
        sum(range(20_000))
        time.sleep(0.02)
def write():
    with open(written, "wb", buffering=0) as file:
        while time.monotonic() < ends:
            file.write(os.urandom(1 << 20))
            os.fsync(file.fileno())
            if file.tell() > 64 << 20:
                file.seek(0)
            time.sleep(0.05)
def send():
    listener = socket.create_server(("127.0.0.1", 0))
    sender = socket.create_connection(listener.getsockname())
    receiver = listener.accept()[0]
    while time.monotonic() < ends:
        sender.sendall(bytes(50_000))
        got = 0
        while got < 50_000:
            got += len(receiver.recv(1 << 20))
        time.sleep(0.02)
def touch():
    while time.monotonic() < ends:
        bytearray(4 << 20)
        time.sleep(0.05)
children = []
for work in (compute, compute, write, send, touch, *[touch] * 10):
    pid = os.fork()
    if pid == 0:
        work()
        os._exit(0)
    children.append(pid)
time.sleep(1)
environment = {**os.environ, "LC_ALL": "C", "S_TIME_FORMAT": "ISO"}
environment.pop("LD_PRELOAD", None)
tools = {"mpstat": ["mpstat", "-P", "ALL", "-o", "JSON", str(seconds), "1"],
         "iostat": ["iostat", "-x", "-y", "-o", "JSON", str(seconds), "1"],
         "sar": ["sar", "-n", "DEV", str(seconds), "1"],
         "pidstat": ["pidstat", "-h", "-u", "-r", "-d", "-w", "-p", ",".join(map(str, children)), str(seconds), "1"]}
def numastat():
    return subprocess.run(["numastat"], env=environment, capture_output=True, text=True, check=True).stdout
begin = time.monotonic_ns()
first = numastat()
running = {name: subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for name, command in tools.items()}
said = {name: tool.communicate()[0] for name, tool in running.items()}
last = numastat()
end = time.monotonic_ns()
for pid in children:
    os.waitpid(pid, 0)
print(json.dumps({"begin": begin, "end": end, "children": children, "numastat": [first, last], **said}))
"""


class Minute:
    def __init__(self, this, trace, said):
        self.this, self.tables, self.said = this, trace.folder / "tables", said
        self.compared, self.worst = 0, (0, "")

    def rows(self, table, key, columns, where="true"):
        """By key, the sums of columns per second over the tools' interval; rows at its ends count by their share."""
        begin, end = self.said["begin"], self.said["end"]
        share = f"greatest(least(ts + dur, {end}) - greatest(ts, {begin}), 0)::DOUBLE / dur"
        sums = ", ".join(f"sum({column} * {share})::DOUBLE" for column in columns)
        found = duckdb.sql(f"SELECT {key}, sum(dur * {share})::DOUBLE / 1e9, {sums} FROM '{self.tables}/{table}/*.parquet' "
                           f"WHERE dur > 0 AND {where} GROUP BY {key}").fetchall()
        return {one: dict(zip(columns, (value / seconds for value in values))) for one, seconds, *values in found if seconds > 0}

    def same(self, what, shown, seen, unit):
        """unit: what the tool's rounding, clock ticks and the start of the tools amount to."""
        self.compared += 1
        if abs(shown) > 10 * unit:
            self.worst = max(self.worst, (abs(seen / shown - 1), f"{what}: shown {shown}, seen {seen:.3f}"))
        self.this.true(f"{what}: shown {shown}, seen {seen:.3f}", abs(seen - shown) <= WITHIN * abs(shown) + unit, (shown, seen))


def check_cpu(minute):
    names = {"user_ns": "usr", "nice_ns": "nice", "system_ns": "sys", "iowait_ns": "iowait", "irq_ns": "irq", "softirq_ns": "soft",
             "steal_ns": "steal", "guest_ns": "guest", "guest_nice_ns": "gnice", "idle_ns": "idle"}
    seen = minute.rows("sample_cpu", "cpu", list(names))
    [shown] = json.loads(minute.said["mpstat"])["sysstat"]["hosts"][0]["statistics"]
    for row in shown["cpu-load"]:
        if row["cpu"] != "all":
            own = seen[int(row["cpu"])]
            # Of all that the kernel counted, as mpstat does it: in some virtual machines that is up to 104 % of the time.
            counted = sum(own.values()) - own["guest_ns"] - own["guest_nice_ns"]  # a guest's time is in user and nice too
            for ours, theirs in names.items():
                minute.same(f"processor {row['cpu']}, {theirs}", row[theirs], own[ours] / counted * 100, 20 / SECONDS)


def check_disk(minute):
    columns = ["reads", "reads_merged", "read_bytes", "read_ns", "writes", "writes_merged", "written_bytes", "write_ns", "discards",
               "discarded_bytes", "flushes", "flush_ns", "queue_ns", "busy_ns"]
    seen = minute.rows("sample_disk", "device", columns)
    [shown] = json.loads(minute.said["iostat"])["sysstat"]["hosts"][0]["statistics"]
    compared = 0
    for row in shown["disk"]:
        ours = seen.get(row["disk_device"])
        if ours is None:
            minute.this.equal("a device without rows does nothing", row["r/s"] + row["w/s"], 0)
            continue
        compared += 1
        each = {"r/s": ours["reads"], "rkB/s": ours["read_bytes"] / 1024, "rrqm/s": ours["reads_merged"], "w/s": ours["writes"],
                "wkB/s": ours["written_bytes"] / 1024, "wrqm/s": ours["writes_merged"], "f/s": ours["flushes"] or 0,
                "d/s": ours["discards"] or 0, "dkB/s": (ours["discarded_bytes"] or 0) / 1024, "aqu-sz": ours["queue_ns"] / 1e9,
                "util": ours["busy_ns"] / 1e7,
                "wareq-sz": ours["written_bytes"] / 1024 / ours["writes"] if ours["writes"] else 0}
        # The mean of a few requests is that of those at the starts of the tools.
        for name, spent, count in (("r_await", "read_ns", "reads"), ("w_await", "write_ns", "writes")):
            if ours[count] * SECONDS >= 300:
                each[name] = ours[spent] / 1e6 / ours[count]
        for name, value in each.items():
            # A burst (of a journal, say) within the tenths of a second between the starts of the tools.
            unit = {"aqu-sz": 0.02, "util": 0.5, "r_await": 0.05, "w_await": 0.05, "dkB/s": 4000, "rkB/s": 600, "wkB/s": 600}.get(name, 2)
            minute.same(f"{row['disk_device']} {name}", row[name], value, unit * 60 / SECONDS)
    minute.this.true("a disk was compared", compared)


def check_net(minute):
    columns = {"rx_packets": 1, "tx_packets": 1, "rx_bytes": 1024, "tx_bytes": 1024}
    seen = minute.rows("sample_net", "interface", list(columns))
    lines = [line.split() for line in minute.said["sar"].splitlines() if line.startswith("Average:") and "IFACE" not in line]
    for _, name, *values in lines:
        for (ours, unit), shown in zip(columns.items(), map(float, values)):
            minute.same(f"{name} {ours}", shown, seen[name][ours] / unit, 60 / SECONDS)


def check_nodes(minute):
    seconds = (minute.said["end"] - minute.said["begin"]) / 1e9
    names = ["numa_hit", "numa_miss", "numa_foreign", "interleave_hit", "local_node", "other_node"]
    seen = minute.rows("sample_memory", "node", names, where="node IS NOT NULL")
    (head, *first), (_, *last) = ([line.split() for line in text.splitlines()] for text in minute.said["numastat"])
    nodes = [int(name.removeprefix("node")) for name in head]  # not 0, 1, 2 where a node has no memory
    for before, after in zip(first, last, strict=True):
        for node, low, high in zip(nodes, before[1:], after[1:], strict=True):
            shown = (int(high) - int(low)) / seconds
            minute.same(f"node {node} {before[0]}", shown, seen[node][before[0]], 200)


def check_processes(minute):
    columns = ["utime_ns", "stime_ns", "minflt", "majflt", "read_bytes", "written_bytes", "voluntary_switches", "involuntary_switches"]
    whole = minute.rows("sample_process", "pid", columns[:6], where="tid IS NULL")
    threads = minute.rows("sample_process", "tid", columns[6:], where="tid IS NOT NULL")
    head, *lines = [line.split() for line in minute.said["pidstat"].splitlines() if "PID" in line or line[:1].isdigit()]
    head = head[1:]
    minute.this.equal("processes that pidstat shows", len(lines), len(minute.said["children"]))
    for line in lines:
        shown = dict(zip(head, line))
        pid = int(shown["PID"])
        each = {"%usr": (whole[pid]["utime_ns"] / 1e7, 0.3), "%system": (whole[pid]["stime_ns"] / 1e7, 0.3),
                "minflt/s": (whole[pid]["minflt"], 5), "majflt/s": (whole[pid]["majflt"], 0.1),
                "kB_wr/s": (whole[pid]["written_bytes"] / 1024, 60), "cswch/s": (threads[pid]["voluntary_switches"], 2),
                "nvcswch/s": (threads[pid]["involuntary_switches"], 1)}
        for name, (value, unit) in each.items():
            minute.same(f"{pid} {name}", float(shown[name]), value, unit * 60 / SECONDS)


def check(this):
    for tool in ("mpstat", "iostat", "sar", "pidstat", "numastat"):
        case.need_program(tool)
    out = this.new_trace()
    began = time.monotonic()
    done = this.run(case.MLRUN, "--sample=cpu,disk,net,memory,process", "-o", out, sys.executable, "-c", PROGRAM, SECONDS, this.path("written"))
    this.equal("exit status", done.returncode, 0, said=done.stderr)
    this.true("it took a minute", time.monotonic() - began >= SECONDS)
    trace = this.opened(out)
    minute = Minute(this, trace, json.loads(done.stdout.splitlines()[0]))
    for each in (check_cpu, check_disk, check_net, check_nodes, check_processes):
        each(minute)
    print(f"{minute.compared} numbers compared; the worst of those far above the tools' rounding is {minute.worst[0]:.2%} off: {minute.worst[1]}")
    about = trace.run["machine_sampler"]
    print(f"sampler: {about['cpu_ns'] / about['wall_ns']:.3%} of a processor, {about['samples']} samples, {about['left_out']} left out")
    this.true("the sampler takes its share at most", about["cpu_ns"] <= SHARE * about["wall_ns"], about)


if __name__ == "__main__":
    case.run(check)
