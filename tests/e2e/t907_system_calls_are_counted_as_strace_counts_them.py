# SPDX-License-Identifier: Apache-2.0
"""--kprobes=syscalls counts the system calls of the command's processes: as many of each as strace, also 32-bit ones;
with --system those of all processes."""

import re
import subprocess
import sys

from lib import case
from lib.kernel_side import is_in_container, need_kernel_side, wait_until_observing

# Children by fork and by exec, calls that fail, one that waits.
PROGRAM = """
import os, time
for _ in range(1234):
    os.getppid()
for _ in range(77):
    try:
        os.close(999)
    except OSError:
        pass
if os.fork() == 0:
    for _ in range(100):
        os.getppid()
    os._exit(0)
os.wait()
os.spawnv(os.P_WAIT, "/bin/true", ["true"])
time.sleep(0.05)
"""
# Their number depends on the machine or on the tracer: reserved memory, locks, interrupted waits, signals of children.
VARIES = {"brk", "mmap", "munmap", "mremap", "madvise", "futex", "restart_syscall", "rt_sigreturn", "wait4", "execve",
          "getrandom"}


def counted_by_strace(this, command):
    out = this.path("strace")
    this.run("strace", "-f", "-qq", "-o", out, *command)
    counts = {}
    for line in open(out, encoding="utf-8", errors="replace"):
        begun = re.match(r"\d+ +(\w+)\(", line)
        if begun:
            counts[begun[1]] = counts.get(begun[1], 0) + 1
    return counts


def observe(this, out, go):
    said = this.path("observer")
    with open(said, "w", encoding="utf-8") as stderr, subprocess.Popen(
            [case.MLRUN, "--kprobes=syscalls", "--system", "--duration", "2", "-o", out], stderr=stderr, cwd=this.folder,
            env=this.environment) as mlrun:
        wait_until_observing(mlrun, said)
        go.touch()
        this.equal("exit status of --system --duration 2", mlrun.wait(60), 0, said=said.read_text())


def of_the_whole_system(this):
    """A process that runs before mlrun starts, and makes its calls once it is observed."""
    if is_in_container():
        refused = this.run(case.MLRUN, "--kprobes=syscalls", "--system", "--duration", "1", "-o", this.new_trace())
        this.true("refused in a PID namespace", "run mlrun outside of the container" in refused.stderr, refused)
        return
    go, out = this.path("go"), this.new_trace()
    program = f"import os, time\nwhile not os.path.exists({str(go)!r}): time.sleep(0.01)\nfor _ in range(4321): os.getppid()"
    with subprocess.Popen([sys.executable, "-S", "-B", "-c", program]) as neighbour:
        try:
            observe(this, out, go)
        finally:
            go.touch()  # else the neighbour never ends
    rows = this.opened(out).rows("syscall")
    counted = [row["calls"] for row in rows if row["pid"] == neighbour.pid and row["name"] == "getppid"]
    this.equal("of a process that was there before", counted, [4321])
    this.true("and of others", len({row["pid"] for row in rows}) > 1, rows[:3])


def check(this):
    need_kernel_side()
    command = [sys.executable, "-S", "-B", "-c", PROGRAM]
    wanted = counted_by_strace(this, command)
    trace = this.trace(*command, options=("--kprobes=syscalls", "--preload=off"))
    rows = trace.rows("syscall")
    counts = {}
    for row in rows:
        counts[row["name"]] = counts.get(row["name"], 0) + row["calls"]
        this.true("never more ended than began", row["ended"] <= row["calls"], row)
    for name in sorted((wanted.keys() | counts.keys()) - VARIES):
        this.equal(name, counts.get(name, 0), wanted.get(name, 0))
    this.equal("of parent and child", sorted(row["calls"] for row in rows if row["name"] == "getppid"), [100, 1234])
    this.equal("failed", sum(row["errors"] for row in rows if row["name"] == "close"), 77)
    sleep = [row for row in rows if row["name"] in ("clock_nanosleep", "select", "pselect6")]
    this.true("waited", any(row["time_ns"] >= 50_000_000 for row in sleep), sleep)
    ends = {row["syscall_id"]: row["ended"] for row in rows}
    in_buckets = dict.fromkeys(ends, 0)
    for bucket in trace.rows("syscall_bucket"):
        in_buckets[bucket["syscall_id"]] += bucket["count"]
    this.equal("all that ended are in buckets", in_buckets, ends)
    this.true("nothing is left out", not [row for row in trace.rows("loss") if row["unit"] == "system calls"])
    old = this.trace(this.victim("two_tables"), "321", options=("--kprobes=syscalls",)).rows("syscall")
    this.equal("by the other table", [row["calls"] for row in old if row["is_32bit"] and row["name"] == "getppid"], [321])
    of_the_whole_system(this)
    summary = this.run(case.MLRUN, "report", "--full", trace.folder).stdout
    this.true("in the summary", "SYSTEM CALLS" in summary and "NOTHING RECORDED" not in summary, summary)


if __name__ == "__main__":
    case.run(check)
