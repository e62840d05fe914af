# SPDX-License-Identifier: Apache-2.0
"""For children that exit, are killed, execute, change their user, sandbox themselves or keep running, the trace has the
status that the parent's wait returned, also without allocations or files and with sums alone; after lost records it has
none."""

import contextlib
import json
import os
import signal
import sys

from lib import case

# Prints a line for each child: its pid and its status from the parent's wait.
PROGRAM = r"""
import multiprocessing, os, signal, sys, time

def reads():
    with open(sys.argv[1], "rb") as data:
        data.read(1000)

def child(end):
    pid = os.fork()
    if pid == 0:
        reads()
        end()
    return pid

def end_by(number):
    os.kill(os.getpid(), number)
    time.sleep(60)

def another_user():
    if os.getuid() == 0:
        os.setuid(65534)
    os._exit(4)

children = [
    child(lambda: os._exit(3)),
    child(lambda: end_by(signal.SIGKILL)),
    child(lambda: end_by(signal.SIGTERM)),
    child(os.abort),
    child(another_user),
    child(lambda: os.execv("/bin/true", ["true"])),
]
for pid in children:
    status = os.waitpid(pid, 0)[1]
    print(pid, "exit" if os.WIFEXITED(status) else "no exit", flush=True)
there, here = os.pipe()
worker = multiprocessing.get_context("fork").Process(target=lambda: (reads(), os.write(here, b"x"), time.sleep(60)))
worker.start()
os.read(there, 1)
time.sleep(0.2)
worker.terminate()
worker.join()
print(worker.pid, "no exit" if worker.exitcode < 0 else "exit", flush=True)
stays = child(lambda: (sys.stdout.close(), os.close(1), os.close(2), os.write(here, b"x"), time.sleep(60), os._exit(0)))
os.read(there, 1)
print(stays, "running", flush=True)
os._exit(0)
"""


def check_ends(this, data, *options):
    trace = this.trace(sys.executable, "-c", PROGRAM, data, options=options)
    wanted = {int(pid): end for pid, end in (line.split(" ", 1) for line in trace.stdout.splitlines())}
    for pid in (pid for pid, end in wanted.items() if end == "running"):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    rows = {row["pid"]: row for row in trace.rows("process")}
    got = {pid: rows[pid]["ended"] for pid in wanted if pid in rows}
    this.equal(f"how they ended, {options}", got, wanted, said=trace.stdout)
    main = next(row for row in rows.values() if row["parent_proc_id"] is None)
    this.equal("the command's own", main["ended"], "exit")
    shown = this.run(case.MLRUN, "report", trace.folder, "--json")
    ends = {row["pid"]: row["ended"] for row in json.loads(shown.stdout)["processes"]}
    this.equal("and in the summary", {pid: ends[pid] for pid in wanted}, wanted)
    text = this.run(case.MLRUN, "report", "--full", trace.folder).stdout
    killed = [line for line in text.splitlines() if line.startswith("KILLED")]
    this.equal("lines about killed ones", len(killed), 1, said=text)
    first = next(pid for pid, end in wanted.items() if end == "no exit")
    this.true("the first of them is named", f"{first} (" in text[text.index("KILLED") :], text)
    return sum(end == "no exit" for end in wanted.values())


def check_confined(this, data):
    """A sandboxed process that cannot read the kernel's counts exits as any other; without a clock, its status comes from the wait."""
    for victim, end in (("seccomp_filter", ["exit"]), ("seccomp_strict", ["exit"])):
        arguments = (data, 10, "name") if victim == "seccomp_filter" else (data, 10)
        trace = this.trace("/bin/sh", "-c", '"$0" "$@"; exit 0', this.victim(victim), *arguments)
        children = [row["ended"] for row in trace.rows("process") if row["parent_proc_id"] is not None]
        this.equal(f"how {victim} ended", children, end)
        text = this.run(case.MLRUN, "report", "--full", trace.folder).stdout
        this.true(f"{victim} is not said to be killed", "KILLED" not in text, text)


def check(this):
    data = this.data_file()
    check_confined(this, data)
    this.equal("children that were killed", check_ends(this, data), 4)
    check_ends(this, data, "--preload=allocs")
    check_ends(this, data, "--summary-only")


if __name__ == "__main__":
    case.run(check)
