#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the traces of attach_guest.sh: all I/O of the observed processes and none of others, under their
names; with --system every byte that the kernel counted.

Usage: attach_check.py OUT"""

from traces import OUT, Run, check, check_time, equal, finish

MIB = 1 << 20
INODES = {path.rsplit("/", 1)[1]: int(inode) for path, inode, _ in
          (line.split() for line in (OUT / "inodes").read_text().splitlines())}
PIDS = {name: int(pid) for name, pid in (line.split() for line in (OUT / "pids").read_text().splitlines())}


class Observed(Run):
    def __init__(self, name, waits=True):
        super().__init__(name, waits)
        self.processes = {row["proc_id"]: row for row in self.trace.rows("process")}
        equal(f"{name}: no calls", len(self.calls), 0)
        check(f"{name}: says that there are none", any("C library" in row["subject"] for row in self.trace.rows("coverage")))

    def of_file(self, name, op):
        return [part for part in self.parts if part["ino"] == INODES[name] and part["op"] == op]

    def whole_file(self, name, op, size=MIB):
        parts = self.of_file(name, op)
        equal(f"{self.name}: bytes of {name}", sum(part["bytes"] for part in parts), size)
        equal(f"{self.name}: {name}: by dd", {part["comm"] for part in parts}, {"dd"})
        return parts

    def written_by_dd(self, name):
        """Bytes of each write to that file."""
        return [row["ret"] for row in self.trace.rows("vfs") if row["op"] == "write" and row["ino"] == INODES[name] and
                row["outer_op_id"] is None]

    def by(self, pid):
        return [row for row in self.processes.values() if row["pid"] == pid]


def by_process():
    run = Observed("pid")
    [loader] = run.by(PIDS["loader"])
    for name in ("own1", "own2"):
        owners = {run.processes[part["proc_id"]]["parent_proc_id"] for part in run.whole_file(name, "write")}
        equal(f"pid: {name}: by a child", owners, {loader["proc_id"]})
    parts = run.whole_file("old", "read")
    equal("pid: the file that was open is read by itself", {part["pid"] for part in parts}, {PIDS["loader"]})
    equal("pid: and has its name", {run.trace.paths.get(part["file_id"]) for part in parts}, {"/mnt/disk/old"})
    equal("pid: no part of a stranger's", run.of_file("stranger", "write"), [])
    check("pid: nor a process", {row["pid"] for row in run.processes.values()} >= {PIDS["loader"]} and
          {row["ppid"] for row in run.processes.values() if row is not loader} == {PIDS["loader"]},
          [(row["pid"], row["ppid"], row["command"]) for row in run.processes.values()])
    check("pid: it is known by its last program", loader["command"] in ("dd bs=64k of=/dev/null", "[dd]"),
          loader["command"])  # the latter where it ended before anybody could look
    reads = [row for row in run.trace.rows("vfs") if row["op"] == "read" and row["pid"] == PIDS["loader"] and
             row["ino"] == INODES["old"]]
    equal("pid: its operations on that file", sum(row["ret"] for row in reads), MIB)
    check_time("pid: it slept for the disk", any(row["device_ns"] or row["queue_ns"] for row in reads), reads[:3])
    outermost = [row for row in run.trace.rows("vfs") if row["outer_op_id"] is None]
    sums = {(row["scope"], row["id"]): row for row in run.trace.rows("summary_split")}
    equal("pid: where its I/O time went", [sums["run", 0][what] for what in ("calls", "time_ns", "device_ns")],
          [len(outermost), sum(row["dur"] for row in outermost), sum(row["device_ns"] for row in outermost)])
    check("pid: and by process", ("process", loader["proc_id"]) in sums, sums)
    check("pid: it waited for its children", any(row["pid"] == PIDS["loader"] for row in run.waits))


def paths():
    """Of what was opened and closed at once; each read was of one file, in this order."""
    run = Observed("paths", waits=False)
    names = run.trace.paths
    expected = (OUT / "paths.expected").read_text().split("\0")
    operations = sorted(run.trace.rows("vfs"), key=lambda row: row["ts"])
    outermost = [row for row in operations if row["outer_op_id"] is None]
    same("paths: of each read", [names.get(row["file_id"]) for row in outermost if row["op"] == "read"], expected)
    chrooted = expected.index("/mnt/disk/paths/inside/file")
    opened = [*expected[:chrooted], "/mnt/disk/paths/inside", *expected[chrooted:], "/tmp/short.expected"]
    same("paths: of each open", [names.get(row["file_id"]) for row in outermost if row["op"] == "open"], opened)
    later = [path for path in expected if path.startswith("/mnt/disk/paths/later/")]
    written = [names.get(row["file_id"]) for row in outermost if row["op"] == "write"]
    same("paths: of each write", [path for path in written if path != "/tmp/short.expected"],
         [*(f"/mnt/disk/paths/{name}" for name in ("new1", "new2", "new2")), *later])
    if (OUT / "xfs").exists():
        said = [row["detail"] for row in run.trace.rows("coverage") if row["subject"] == "operations on files of xfs"]
        check("paths: what was mounted later is said, and since when", len(said) == 1 and "recorded from" in said[0], said)
    over = "/mnt/disk/paths/over/file"
    below = [row for row in operations if row["op"] == "read" and row["outer_op_id"] is not None]
    equal("paths: of the read below overlayfs", [names.get(row["file_id"]) for row in below], [over])
    equal("paths: of its I/O", {part["op"] for part in run.parts if names.get(part["file_id"]) == over}, {"read"})
    equal("paths: overlayfs and what is below are two inodes",
          len({(row["dev"], row["ino"]) for row in run.trace.rows("file") if row["path"] == over}), 2)
    equal("paths: kind of a folder",
          [row["kind"] for row in run.trace.rows("file") if row["path"] == "/mnt/disk/paths/inside"], ["directory"])
    [opener] = run.by(PIDS["opener"])
    namespace = int((OUT / "pid_namespace").read_text())
    equal("paths: the process that is the first one of its pid namespace", (opener["ns_pid"], opener["pid_namespace"]),
          (1, namespace))
    for child in (row for row in run.processes.values() if row["ppid"] == opener["pid"]):  # a short life: not always looked at
        check("paths: a child has a number of its namespace",
              child["ns_pid"] == 0 or (1 < child["ns_pid"] < opener["pid"] and child["pid_namespace"] == namespace), child)
    check("paths: threads have numbers as mlrun sees them",
          {row["tid"] for row in run.trace.rows("thread")} == {row["pid"] for row in run.processes.values()},
          run.trace.rows("thread"))
    rows = sum(run.trace.run["totals"][what] for what in ("block_requests", "block_parts", "waits", "file_operations"))
    others = run.trace.run["kernel_side"]["records"] - rows  # a page and a path of each of some 330 files, and little else
    check("paths: a file that is opened 2000 times has one path record", others < 1500, others)


def same(what, got, wanted):
    """Of long lists, with the place where they part."""
    parts = next((i for i, pair in enumerate(zip(got, wanted)) if pair[0] != pair[1]), min(len(got), len(wanted)))
    check(what, got == wanted, f"{len(got)} of {len(wanted)}; at {parts}: {got[parts:parts + 4]}, wanted {wanted[parts:parts + 4]}")


def by_cgroup():
    run = Observed("cgroup")
    for name in ("first", "later"):
        parts = run.whole_file(name, "write")
        owners = {run.processes[part["proc_id"]]["ppid"] for part in parts if part["proc_id"]}
        equal(f"cgroup: {name}: whose child it was", owners, {PIDS[name]})
        operations = run.written_by_dd(name)
        equal(f"cgroup: {name}: its operations, too", operations, [65536] * 16)
        # The group below has no accounts of its own.
        equal(f"cgroup: {name}: whose account it is on", {part["cgroup_id"] for part in run.of_file(name, "write")},
              {int((OUT / "cgroup.number").read_text())})
    equal("cgroup: no operation of the task outside", run.written_by_dd("outside"), [])
    equal("cgroup: no part of the task outside", run.of_file("outside", "write"), [])
    equal("cgroup: nor a process", run.by(PIDS["outside"]), [])


def whole_system():
    run = Observed("system")
    counted, within = run.counted(), run.counted("inner_")  # the same, unless a process wrote while it began or ended
    device = run.devices["vda"]["dev"]
    for op, key in (("read", "read_bytes"), ("write", "write_bytes")):
        rows = [row for row in run.requests if row["dev"] == device and row["op"] == op]
        size = sum(row["bytes"] for row in rows)
        check(f"system: {op}: bytes by the kernel's own count", within[key] <= size <= counted[key], (within, size, counted))
        numbers = {row["req_id"] for row in rows}
        parts = [part for part in run.parts if part["req_id"] in numbers]
        equal(f"system: {op}: each byte of a part", sum(part["bytes"] for part in parts), size)
        check(f"system: {op}: each part is somebody's", all(part["comm"] for part in parts))
    check("system: both were at work", within["read_bytes"] >= 3 * MIB and within["write_bytes"] >= 3 * MIB, within)
    other = run.whole_file("other", "write")
    equal("system: another user's write", {part["pid"] for part in other}, {PIDS["other"]})
    run.whole_file("ours", "write", 2 * MIB)
    equal("system: operations of another user", run.written_by_dd("other"), [65536] * 16)
    equal("system: and of our own", run.written_by_dd("ours"), [65536] * 32)
    reads = [row["ret"] for row in run.trace.rows("vfs") if row["op"] == "read" and row["ino"] == INODES["ours"] and row["ret"] > 0]
    equal("system: reads past the page cache", reads, [65536] * 32)


def refusals():
    said = (OUT / "refusals").read_text().splitlines()
    for words in ("no such cgroup", "is no cgroup", "no such process"):
        check(f"refused: {words}", any(words in line for line in said), said)
    if len(said) > 3:
        check("refused: cgroup v1", any("cgroup v1" in line for line in said), said)
    else:
        print("this kernel has no cgroup v1")


for test in (by_process, paths, by_cgroup, whole_system, refusals):
    test()
finish("what is attached to is recorded, and nothing else")
