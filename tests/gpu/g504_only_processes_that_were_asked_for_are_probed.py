# SPDX-License-Identifier: Apache-2.0
"""--kprobes=cuda --pid: a forked child and the program that it executes are observed; a neighbour with the same library
has no rows and no breakpoint in its code. With --system all processes have rows, with --cgroup those of the cgroup."""

import contextlib
import os
from pathlib import Path

import uprobe_case
from lib import case

# Allocates in a child by fork, and again in the program that it becomes.
FORKS = """[pid := os.fork(), pid or os._exit(0 if alloc({size}) > 0 else 1), os.waitpid(pid, 0)[1]][2]"""


def rows(trace, pid):
    return [row[2:] for row in uprobe_case.memory_rows(trace, pid)]


def check_pid(this):
    with uprobe_case.victim(this) as one, uprobe_case.victim(this) as neighbour:
        untouched = neighbour.do("first_byte()")
        seen = uprobe_case.Observation(this, "--pid", one.pid)
        this.equal("its code has breakpoints", one.do("first_byte()"), b"\xcc")
        this.equal("its neighbour's has none", neighbour.do("first_byte()"), untouched)
        address = one.do("alloc(4096)")
        neighbour.do("alloc(8192)")
        this.equal("a child by fork", one.do(FORKS.format(size=64)), 0)
        trace = seen.end()
    this.equal("its own", rows(trace, one.pid), [(4096, address)])
    this.equal("not the neighbour's", rows(trace, neighbour.pid), [])
    others = {row["pid"] for row in trace.rows("gpu_memory")} - {one.pid}
    this.true("at most the child besides", len(others) <= 1, others)


def check_child(this):
    """A child that waits until it is found: it inherits the breakpoints of its parent, which are not its own."""
    with uprobe_case.victim(this) as one:
        seen = uprobe_case.Observation(this, "--pid", one.pid)
        before = seen.probes()
        one.do("globals().update(pipe=os.pipe(), reads=lambda: os.read(pipe[0], 1))")
        child = one.do("[pid := os.fork(), pid or [reads(), os._exit(0 if alloc(64) > 0 else 1)], pid][2]")
        uprobe_case.wait_for(lambda: seen.probes() == before + uprobe_case.probes_of(one), 120)
        one.do("os.write(pipe[1], b'x')")
        this.equal("the child ends well", one.do(f"os.waitpid({child}, 0)[1]"), 0)
        trace = seen.end()
    this.equal("the child's", [size for size, _ in rows(trace, child)], [64])
    this.equal("not its parent's", rows(trace, one.pid), [])


def check_system(this):
    with uprobe_case.victim(this) as one, uprobe_case.victim(this) as other:
        seen = uprobe_case.Observation(this, "--system")
        holder = seen.holder()
        addresses = [which.do("alloc(4096)") for which in (one, other)]
        with uprobe_case.victim(this) as later:  # the copy of the library is probed in every process that maps it
            addresses.append(later.do("alloc(4096)"))
            trace = seen.end()
    # Else a case that comes next finds breakpoints that are not its own.
    uprobe_case.wait_for(lambda: not (holder / "exe").exists(), 600)
    # It may have been over before it was looked at.
    met = [entry for entry in trace.run["kernel_side"]["cuda"]["libraries"] if entry["pid"] == later.pid]
    this.true("no first call of the later one is missing", all(entry["was_probed"] for entry in met), met)
    for which, address in zip((one, other, later), addresses):
        this.equal("everybody's", rows(trace, which.pid), [(4096, address)])


def new_cgroup():
    """A new cgroup (v2), or nothing if the system has none."""
    for line in Path("/proc/self/mounts").read_text().splitlines():
        words = line.split()
        if words[2] == "cgroup2":
            with contextlib.suppress(OSError):
                folder = Path(words[1]) / f"mlrun-test-{os.getpid()}"
                folder.mkdir()
                return folder
    return None


def check_cgroup(this):
    folder = new_cgroup()
    if not folder:
        raise case.Skip("the rest holds; no cgroup (v2) can be made here")
    try:
        with uprobe_case.victim(this) as one, uprobe_case.victim(this) as outside:
            (folder / "cgroup.procs").write_text(str(one.pid))
            seen = uprobe_case.Observation(this, "--cgroup", folder)
            address = one.do("alloc(4096)")
            outside.do("alloc(4096)")
            trace = seen.end()
    finally:
        uprobe_case.wait_for(lambda: removed(folder), 60)
    this.equal("the cgroup's", rows(trace, one.pid), [(4096, address)])
    this.equal("no other process's", rows(trace, outside.pid), [])


def removed(folder):
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def check(this):
    uprobe_case.need_uprobes()
    check_pid(this)
    check_child(this)
    check_system(this)
    check_cgroup(this)


if __name__ == "__main__":
    case.run(check)
