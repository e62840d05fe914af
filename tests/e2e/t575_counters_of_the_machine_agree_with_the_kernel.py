# SPDX-License-Identifier: Apache-2.0
"""Samples of processors, disks, interfaces, memory and processes follow each other without a gap, and their sums lie
between what the kernel's own counters grew by inside and around the run; a process that has slept for a short time has
all of its resource use, and doctor and the trace say how bandwidth of memory is read."""

import json
import os
import sys
from pathlib import Path

from lib import case

TICK_NS = 10**9 // os.sysconf("SC_CLK_TCK")
CPU = ("user_ns", "nice_ns", "system_ns", "idle_ns", "iowait_ns", "irq_ns", "softirq_ns", "steal_ns", "guest_ns", "guest_nice_ns")
DISK = ("reads", "reads_merged", "read_bytes", "read_ns", "writes", "writes_merged", "written_bytes", "write_ns", None, "busy_ns",
        "queue_ns", "discards", "discards_merged", "discarded_bytes", "discard_ns", "flushes", "flush_ns")
NET = ("rx_bytes", "rx_packets", "rx_errors", "rx_dropped", "rx_fifo", "rx_frame", "rx_compressed", "rx_multicast",
       "tx_bytes", "tx_packets", "tx_errors", "tx_dropped")
VMSTAT = {"pgfault": "faults", "pgmajfault": "major_faults", "thp_fault_alloc": "thp_faults", "pgmigrate_success": "migrated"}
NODE = ("numa_hit", "numa_miss", "numa_foreign", "interleave_hit", "local_node", "other_node")
PROGRAM = """
import os, resource, socket, sys, time
sys.path.insert(0, sys.argv[1])
import t575_counters_of_the_machine_agree_with_the_kernel as here, json
time.sleep(0.4)
first = here.kernel()
listener = socket.create_server(("127.0.0.1", 0))
sender = socket.create_connection(listener.getsockname())
receiver = listener.accept()[0]
used = []
for _ in range(2):
    begin, end = os.pipe(), None
    if os.fork() == 0:
        until = time.monotonic() + 0.6
        while time.monotonic() < until:
            sum(range(1000))
        bytearray(32 << 20)
        used = resource.getrusage(resource.RUSAGE_SELF)
        time.sleep(0.5)
        os.write(begin[1], json.dumps([os.getpid(), used.ru_utime, used.ru_stime, used.ru_minflt, used.ru_nvcsw]).encode())
        os._exit(0)
    used.append(begin[0])
for i in range(20):
    sender.sendall(bytes(200_000))
    got = 0
    while got < 200_000:
        got += len(receiver.recv(1 << 20))
with open(sys.argv[2], "wb") as file:
    file.write(os.urandom(8 << 20))
    os.fsync(file.fileno())
children = [json.loads(os.read(one, 4096)) for one in used]
second = here.kernel()
for _ in used:
    os.wait()
time.sleep(0.4)
print(json.dumps([first, second, children]))
"""


def numbers(path, skip):
    for line in Path(path).read_text().splitlines():
        words = line.replace(":", " ").split()
        yield words, [int(word) for word in words[skip:] if word.isdigit()]


def kernel():
    """What the kernel has counted: by (table, key, column)."""
    seen = {}
    for words, ticks in numbers("/proc/stat", 1):
        if words[0].startswith("cpu") and words[0] != "cpu":
            ticks[0], ticks[1] = ticks[0] - ticks[8], ticks[1] - ticks[9]
            seen.update({f"cpu {words[0][3:]} {name}": value * TICK_NS for name, value in zip(CPU, ticks)})
    for words, values in numbers("/proc/diskstats", 3) if Path("/proc/diskstats").exists() else ():
        if any(values) and not Path(f"/sys/dev/block/{words[0]}:{words[1]}/partition").exists():
            for name, value in zip(DISK, values):
                unit = 512 if name and name.endswith("_bytes") else 10**6 if name and name.endswith("_ns") else 1
                if name:
                    seen[f"disk {words[2]} {name}"] = value * unit
    for words, values in numbers("/proc/net/dev", 1):
        if len(values) == 16:
            seen.update({f"net {words[0]} {name}": value for name, value in zip(NET, values)})
    for words, values in numbers("/proc/vmstat", 1):
        if words[0] in VMSTAT:
            seen[f"memory None {VMSTAT[words[0]]}"] = values[0]
    for node in Path("/sys/devices/system/node").glob("node[0-9]*"):
        for words, values in numbers(node / "numastat", 1):
            if words[0] in NODE:
                seen[f"memory {node.name[4:]} {words[0]}"] = values[0]
    return seen


def check(this):
    before = kernel()
    out = this.new_trace()
    done = this.run(case.MLRUN, "--sample=cpu,disk,net,memory,process", "-o", out, sys.executable, "-c", PROGRAM,
                    Path(__file__).parent, this.path("written"))
    after = kernel()
    this.equal("exit status", done.returncode, 0, said=done.stderr)
    first, second, children = json.loads(done.stdout.splitlines()[0])
    trace = this.opened(out)
    keys = {"cpu": "cpu", "disk": "device", "net": "interface", "memory": "node"}
    sums, ends = {}, {}
    for table, key in keys.items():
        rows = trace.rows(f"sample_{table}")
        this.true(f"{table}: samples", rows, done.stderr)
        for row in rows:
            begin = ends.get((table, row[key]), row["ts"])
            this.equal(f"{table}: no gap", row["ts"], begin)
            ends[table, row[key]] = row["ts"] + row["dur"]
            for name, value in row.items():
                if isinstance(value, int):
                    sums[f"{table} {row[key]} {name}"] = sums.get(f"{table} {row[key]} {name}", 0) + value
    compared = 0
    for name in second:
        if name not in sums or name not in before or name not in first:
            continue
        inside, outside = second[name] - first[name], after[name] - before[name]
        # Corrections of idle time and counters of several processors that are read one after the other.
        slack = 2 * TICK_NS if name.startswith("cpu") else outside // 50 if name.startswith("memory") else 0
        this.true(f"{name}: inside, sampled, outside", inside - slack <= sums[name] <= outside + slack, (inside, sums[name], outside))
        compared += 1
    this.true("all tables were compared", compared > 60 and any(name.startswith("net lo") for name in second), compared)
    this.true("what was sent", sums["net lo rx_bytes"] >= 4_000_000, sums["net lo rx_bytes"])
    check_processes(this, trace, children)
    check_reports(this, trace, done)


def check_processes(this, trace, children):
    rows = trace.rows("sample_process")
    for pid, utime, stime, minflt, nvcsw in children:
        mine = [row for row in rows if row["pid"] == pid]
        whole = [row for row in mine if row["tid"] is None]
        [tid] = {row["tid"] for row in mine} - {None}
        this.equal("one thread", tid, pid)
        this.true("it is in the trace", all(row["proc_id"] for row in mine), mine)
        for one, next_one in zip(whole, whole[1:]):
            this.equal("no gap", one["ts"] + one["dur"], next_one["ts"])
        total = {name: sum(row[name] or 0 for row in whole) for name in ("utime_ns", "stime_ns", "minflt", "written_chars")}
        this.true("processor", abs(total["utime_ns"] + total["stime_ns"] - (utime + stime) * 1e9) <= 4 * TICK_NS, (total, utime, stime))
        # What the interpreter touches at its end comes after its own count.
        this.true("page faults", minflt <= total["minflt"] <= minflt + 1000, (total, minflt))
        this.true("32 MiB were resident", max(row["rss_bytes"] or 0 for row in whole) > 8 << 20, whole)
        switches = sum(row["voluntary_switches"] or 0 for row in mine if row["tid"])
        this.true("switches", nvcsw <= switches <= nvcsw + 20, (switches, nvcsw))


def check_reports(this, trace, done):
    about = trace.run["machine_sampler"]
    this.equal("no problem", (about["problem"], about["rows_dropped"]), ("", 0))
    this.true("ten a second", about["samples"] + about["left_out"] + about["late_samples"] >= 10, about)
    ways = [line["text"] for line in about["remarks"] if line["text"].startswith("bandwidth of memory")]
    this.true("how bandwidth is read, and why not otherwise", 1 <= len(ways) <= 4, about)
    this.true("doctor says the same", "bandwidth of memory" in " ".join(this.run(case.MLRUN, "doctor").stdout.split()))
    text = this.run(case.MLRUN, "report", "--full", trace.folder).stdout
    this.true("the summary has a block", "MACHINE (sampled)" in text and "processors" in text, text)
    machine = json.loads(this.run(case.MLRUN, "report", "--json", trace.folder).stdout)["machine"]
    this.true("processors, memory, interface", {"cpu", "memory", "net"} <= {one["what"] for one in machine}, machine)


if __name__ == "__main__":
    case.run(check)
