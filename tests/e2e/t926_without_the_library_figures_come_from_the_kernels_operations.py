# SPDX-License-Identifier: Apache-2.0
"""Without the library, the figures of the run, its processes and its files are those of the kernel's operations, each
byte once, and not zeros."""

import json
import sys

from lib import case
from lib.kernel_side import need_kernel_side

PROGRAM = """
import os, sys
here = sys.argv[1]
a = os.open(f"{here}/a", os.O_RDWR | os.O_CREAT, 0o600)
for _ in range(10): os.write(a, bytes(1000))
for _ in range(5): os.pread(a, 100, 0)
os.pread(a, 100, 1 << 20)
os.fsync(a)
b = os.open(f"{here}/b", os.O_WRONLY | os.O_CREAT, 0o600)
os.sendfile(b, a, 0, 5000)
if os.fork() == 0:
    for _ in range(3): os.pread(a, 7, 0)
    os._exit(0)
os.wait()
os.close(b)
os.unlink(f"{here}/b")
"""


def check_figures(this, name, options):
    folder, out = this.path(name), this.new_trace()
    folder.mkdir()
    done = this.run(case.MLRUN, "--kprobes=require", *options, "--quiet", "-o", out, "--", sys.executable, "-S", "-B", "-c", PROGRAM, folder)
    this.equal("exit status", done.returncode, 0, said=done.stderr)
    trace = this.opened(out)
    reported = json.loads(this.run(case.MLRUN, "report", "--json", out).stdout)
    files = {entry["path"].removeprefix(f"{folder}/"): entry["totals"] for entry in reported["files"]}
    wanted = {"a": {"read_calls": 5 + 1 + 1 + 3, "write_calls": 10, "bytes_read": 500 + 5000 + 21, "bytes_written": 10000, "errors": 0},
              "b": {"read_calls": 0, "bytes_read": 0, "bytes_written": 5000, "errors": 0}}
    for path, figures in wanted.items():
        this.equal(f"{name}: {path}", {key: files.get(path, {}).get(key) for key in figures}, figures)
    children = [process for process in reported["processes"] if process["parent_proc_id"]]
    this.equal(f"{name}: what the child read", [process["files"]["bytes_read"] for process in children], [21])
    rows = trace.rows("vfs")
    outermost = [row for row in rows if not row["outer_op_id"] and row["op"] not in ("fault", "clone", "other")]
    this.equal(f"{name}: of all processes", (reported["totals"]["files"]["calls"], sum(process["files"]["calls"] for process in reported["processes"])),
               (len(outermost), len(outermost)))
    this.equal(f"{name}: time", reported["totals"]["files"]["time_ns"], sum(row["dur"] for row in outermost))
    summary = this.run(case.MLRUN, "report", "--full", out).stdout
    this.true(f"{name}: records of the kernel side are named", "by the kernel side" in summary, summary)


def check(this):
    need_kernel_side()
    check_figures(this, "off", ["--preload=off"])


if __name__ == "__main__":
    case.run(check)
