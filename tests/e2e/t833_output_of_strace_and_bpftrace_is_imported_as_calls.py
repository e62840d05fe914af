# SPDX-License-Identifier: Apache-2.0
"""strace's own output of a program, halves of calls, the columns of bpftrace's scripts and MLPerf's lines become calls on files, block requests, marks and
phases; a trace of them is one that report reads."""

import re
import subprocess

from lib import case
from lib.imported import imported

UNFINISHED = """1000 1700000052.321000 openat(AT_FDCWD, "/etc/passwd", O_RDONLY) = 3 <0.000010>
1000 1700000052.321100 read(3,  <unfinished ...>
1001 1700000052.321150 getrandom(0x7f, 16, GRND_NONBLOCK) = -1 EAGAIN (Resource temporarily unavailable) <0.000005>
1000 1700000052.321300 <... read resumed> "root:\\"x", 1024) = 312 <0.000200>
1000 1700000052.321400 openat(AT_FDCWD, "/no pe", O_RDONLY) = -1 ENOENT (No such file or directory) <0.000007>
1000 1700000052.321500 +++ exited with 0 +++
no line of strace
"""
READS = """Attaching 4 probes...
TIMESTAMP PID OFFSET RET (B) LAT(ns) FILENAME
5000000 77 0 4096 1500 case_1.npy
6000000 77 4096 18446744073709551605 200 case 2.npy
7000000 77
"""
BIO = """TIMESTAMP PID COMM DISK T BYTES SECTOR LAT(ns)
9000000 77 python sda R 4096 2048 3000
"""
LOG = """hello
:::MLLOG {"time_ms": 1652204056419, "event_type": "INTERVAL_START", "key": "epoch_start", "value": null, "metadata": {"epoch_num": 1}}
[0] :::MLLOG {"time_ms": 1652204056519, "event_type": "INTERVAL_END", "key": "epoch_stop", "value": null, "metadata": {"epoch_num": 1}}
:::MLLOG {"time_ms": 1652204056520, "event_type": "POINT_IN_TIME", "key": "eval_accuracy", "value": 0.5, "metadata": {}}
:::MLLOG no JSON
"""


def check_halves(this):
    path = this.path("halves.strace")
    path.write_text(UNFINISHED, encoding="ascii")
    trace = imported(this, path)
    rows = trace.rows("call", "func, ts % 1000000000, dur, ret, err, path", "LEFT JOIN '{0}/tables/file/*.parquet' USING (file_id) ORDER BY ts".format(trace.folder))
    this.equal("calls", rows, [("openat", 321000000, 10000, 3, 0, "/etc/passwd"), ("read", 321100000, 200000, 312, 0, "/etc/passwd"),
                               ("openat", 321400000, 7000, -1, 2, "/no pe")])
    this.equal("a call that mlrun has no row for", trace.rows("slice", "name, dur, kind"), [("getrandom", 5000, "syscall")])
    this.equal("left out", trace.left_out(), {"a line that is not a system call": 1})


def check_real_strace(this):
    case.need_program("strace")
    path, data = this.path("cat.strace"), this.data_file()
    subprocess.run(["strace", "-f", "-ttt", "-T", "-y", "-o", path, "cat", data], stdout=subprocess.DEVNULL, check=True)
    lines = path.read_text(encoding="utf-8").splitlines()
    trace = imported(this, path)
    this.equal("lines", trace.events(), len(lines))
    this.equal("nothing is left out", trace.left_out(), {})
    read = sum(int(found.group(1)) for line in lines if (found := re.search(rf"read\(3<{re.escape(str(data))}>.*= (\d+) <", line)))
    this.equal("bytes read of the file", trace.rows("call", "sum(ret)", f"JOIN '{trace.folder}/tables/file/*.parquet' USING (file_id) WHERE func = 'read' AND path = '{data}'"),
               [(read,)])
    shown = this.run(case.MLRUN, "report", trace.folder)
    this.true("report shows the bytes", "1 MiB" in shown.stdout or "1.00 MiB" in shown.stdout, shown.stdout)


def check_bpftrace(this):
    paths = {"read.out": READS, "bio.out": BIO}
    for name, text in paths.items():
        this.path(name).write_text(text, encoding="ascii")
    trace = imported(this, *map(this.path, paths))
    this.equal("reads", trace.rows("call", "func, ts, dur, \"offset\", ret, err", "ORDER BY ts"),
               [("read", 4998500, 1500, 0, 4096, 0), ("read", 5999800, 200, 4096, -1, 11)])
    this.equal("requests", trace.rows("block", "ts, dur, sector, bytes, op"), [(8997000, 3000, 2048, 4096, "read")])
    this.equal("left out", trace.left_out(), {"a line whose columns differ from the heading": 1})


def check_log(this):
    path = this.path("train.log")
    path.write_text(LOG, encoding="ascii")
    trace = imported(this, path)
    this.equal("phases", [(name, dur) for name, dur in trace.rows("phase", "name, dur")], [("epoch 1", 101_000_000)])
    this.equal("marks", trace.count("mark"), 2)
    this.equal("left out", trace.left_out(), {"an MLLOG line without key or time_ms, or not JSON": 1})


def check(this):
    check_halves(this)
    check_bpftrace(this)
    check_log(this)
    check_real_strace(this)


if __name__ == "__main__":
    case.run(check)
