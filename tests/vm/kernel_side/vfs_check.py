#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the traces of vfs_guest.sh: each operation on a file once, with its call and its part of the call's time.

Usage: vfs_check.py OUT"""

import copy
import json
import math
import subprocess
from collections import Counter
from pathlib import Path

from traces import CLOCKS_NS, OUT, Run, cannot_try, check, check_time, equal, finish
from lib.case import BUILD

DIRECT, CREATED = 1, 4
SOON_S = 5.0  # of an emulated processor; elsewhere a second has to do (t902)
FUNCTIONS = ("on_file_op_", "on_open")
MOVES = {"read": "read", "pread": "read", "write": "write", "pwrite": "write"}
ON_NAMES = {"mkdir": "mkdir", "mkdirat": "mkdir", "rmdir": "rmdir", "rename": "rename", "renameat": "rename",
            "renameat2": "rename", "unlink": "unlink", "ftruncate": "truncate"}


class Files(Run):
    """A trace with operations on files."""

    def __init__(self, name):
        super().__init__(name)
        self.rows = self.trace.rows("vfs")
        self.outermost = [row for row in self.rows if row["outer_op_id"] is None]
        equal(f"{name}: a number each", len({row["op_id"] for row in self.rows}), len(self.rows))
        numbers = {row["op_id"] for row in self.outermost}
        check(f"{name}: inner ones lie in outer ones", all(row["outer_op_id"] in numbers and row["depth"] > 0
                                                           for row in self.rows if row["outer_op_id"]), "")
        self.outside_of_calls()

    def outside_of_calls(self):
        """What lies in no call has lines of its own in the summary: faults of programs that are loaded, at least."""
        kinds = {row["name"]: (row["calls"], row["time_ns"]) for row in self.trace.rows("summary_split")
                 if row["scope"] == "kind"}
        outside = [row for row in self.outermost if row["call_id"] is None]
        for name, rows in (("page faults", [row for row in outside if row["op"] == "fault"]),
                           ("other operations", [row for row in outside if row["op"] != "fault"])):
            equal(f"{self.name}: {name}", kinds.get(name, (0, 0)), (len(rows), sum(row["dur"] for row in rows)))

    def while_in(self, folder, others):
        """The part of it from the first operation in a folder to the first one in the next of the others."""
        begins = {one: min(row["ts"] for row in self.outermost if (self.trace.paths.get(row["file_id"]) or "").startswith(f"{one}/"))
                  for one in (folder, *others)}
        begin = begins[folder]
        end = min((other for other in begins.values() if other > begin), default=math.inf)
        part = copy.copy(self)
        part.name = Path(folder).name
        for name in ("rows", "outermost", "parts", "waits"):
            setattr(part, name, [row for row in getattr(self, name) if begin <= row["ts"] < end])
        part.calls = {number: call for number, call in self.calls.items() if begin <= call["ts"] < end}
        return part

    def signal(self):
        return next(signal for signal in self.trace.run["kernel_side"]["signals"] if signal["signal"] == "file operations")

    def of_file(self, name):
        lines = [line.split() for line in (OUT / f"{self.name}.inodes").read_text().splitlines()]
        inode, device = next((int(words[1]), int(words[2])) for words in lines if words[0] == name)
        return [row for row in self.outermost if (row["ino"], row["dev"]) == (inode, device)]

    def of_call(self, call):
        return [row for row in self.outermost if row["call_id"] == call["call_id"]]


def each_once(run, folder):
    rows = run.of_file("f")
    moved = [row for row in rows if row["op"] in ("read", "write")]
    equal(f"{run.name}: nothing fails", [row["err"] for row in rows if row["err"]], [])
    equal(f"{run.name}: of which size", Counter((row["op"], row["requested"], row["ret"], row["flags"] & DIRECT)
                                                for row in moved),
          {("write", 4096, 4096, 0): 16, ("read", 4096, 4096, 0): 16, ("read", 4096, 4096, DIRECT): 16,
           ("read", 8192, 8192, 0): 8, ("read", 8192, 8192, DIRECT): 8})
    equal(f"{run.name}: where", sorted(row["offset"] for row in moved if row["op"] == "write"),
          [number * 4096 for number in range(16)])
    equal(f"{run.name}: pages that were made dirty, each by the first write to it", [
        row["dirty_new_pages"] for row in moved], [0 if row["op"] == "read" else 1 for row in moved])
    direct = {row["dirty_new_pages"] for row in run.outermost if row["op"] == "write" and row["flags"] & DIRECT}
    # Newer versions of btrfs write through the page cache all the same, where the file has checksums.
    check(f"{run.name}: and none past the page cache", direct == {0} or (run.name == "btrfs" and direct == {1}), direct)
    equal(f"{run.name}: synced", [row["op"] for row in rows if "sync" in row["op"]], ["fsync"])
    equal(f"{run.name}: its path", {run.trace.paths.get(row["file_id"]) for row in rows}, {f"{folder}/f"})
    equal(f"{run.name}: data alone is synced once", [run.func_of(row) for row in run.outermost
                                                     if row["op"] == "fdatasync"], ["fdatasync"])


def opened_and_closed(run, folder):
    rows = sorted(run.of_file("f"), key=lambda row: row["ts"])
    opens, closes = ([row for row in rows if row["op"] == op] for op in ("open", "close"))
    equal(f"{run.name}: the first open alone made it", [bool(row["flags"] & CREATED) for row in opens],
          [True] + [False] * (len(opens) - 1))
    check(f"{run.name}: each that is open is closed once", len(opens) == len(closes) >= 4, (len(opens), len(closes)))
    made = [run.trace.paths.get(row["file_id"]) for row in run.outermost if row["op"] == "open" and row["flags"] & CREATED]
    made = [path for path in made if path and path.startswith(f"{folder}/")]
    equal(f"{run.name}: what was made", (made[:2], len(made)), ([f"{folder}/f", f"{folder}/g"], 3))  # and the list of inodes
    cut = [row for row in run.outermost if row["op"] == "truncate"]
    equal(f"{run.name}: cut once, to which length", [row["offset"] or row["requested"] for row in cut], [4096])
    equal(f"{run.name}: by its call", [run.func_of(row) for row in cut], ["ftruncate"])


def with_its_call(run, folder):
    """Each call on a file of the folder has its operation, which is no longer than it."""
    looked_at = 0
    for call in run.calls.values():
        path = run.trace.paths.get(call["file_id"]) or ""
        wanted = MOVES.get(call["func"]) or ON_NAMES.get(call["func"])
        if not path.startswith(folder) or wanted is None or call["err"]:
            continue
        looked_at += 1
        found = run.of_call(call)
        equal(f"{run.name}: {call['func']} of {path}", [row["op"] for row in found], [wanted])
        for row in found:
            check(f"{run.name}: lies in its call", call["ts"] - CLOCKS_NS <= row["ts"] and
                  row["ts"] + row["dur"] <= call["ts"] + call["dur"] + CLOCKS_NS, (row, call))
            check(f"{run.name}: takes time of it", call["vfs_ns"] > 0, call)
            if wanted in ("read", "write"):
                equal(f"{run.name}: as many bytes", row["ret"], call["ret"])
    check(f"{run.name}: calls on names, too", looked_at >= 16 * 4 + 8 + 4, looked_at)


def names(run, folder):
    """Each operation on names has those that it was given, absolute, in a folder as deep as it is and as long as a name may be;
    what failed, too."""
    deep = [f"{folder}{'/folder' * depth}" for depth in range(1, 11)]
    long, moved = f"{deep[-1]}/{'0' * 255}", f"{folder}/{'0' * 254}1"
    wanted = [("mkdir", f"{folder}/d", None), ("rename", f"{folder}/g", f"{folder}/d/h"), ("unlink", f"{folder}/d/h", None),
              ("rmdir", f"{folder}/d", None), ("unlink", f"{folder}/d/none", None),
              *(("mkdir", path, None) for path in deep), ("mkdir", long, None), ("rename", long, moved),
              ("rmdir", moved, None), *(("rmdir", path, None) for path in reversed(deep))]
    reported = [(row["op"], run.trace.paths.get(row["file_id"]), run.trace.paths.get(row["file2_id"]))
            for row in sorted(run.outermost, key=lambda row: row["ts"]) if row["op"] in ("mkdir", "rename", "unlink", "rmdir")]
    equal(f"{run.name}: names", [row for row in reported if str(row[1]).startswith(f"{folder}/")], wanted)
    equal(f"{run.name}: which have one", [row for row in reported if row[1] is None], [])


def labels(run):
    warm = [call for call in run.calls.values() if run.of_call(call) and
            {(row["op"], row["flags"] & DIRECT) for row in run.of_call(call)} == {("read", 0)} and
            (run.trace.paths.get(call["file_id"]) or "").endswith("/f")]
    equal(f"{run.name}: warm reads", len(warm), 16 + 8)
    equal(f"{run.name}: warm reads: neither queue nor device", sum(call["queue_ns"] + call["device_ns"] for call in warm), 0)


def parts_carry_it(run):
    by_number = {row["op_id"]: row for row in run.rows}
    own = [part for part in run.parts if part["call_id"] and part["op"] == "read"]
    check(f"{run.name}: parts of reads", own, "none")
    for part in own:
        row = by_number.get(part["op_id"])
        check(f"{run.name}: the part's operation is the call's", row and row["call_id"] == part["call_id"], (part, row))
    waits = [wait for wait in run.waits if by_number.get(wait["op_id"], {}).get("call_id")]
    check(f"{run.name}: waits of operations", waits and all(
        by_number[wait["op_id"]]["tid"] == wait["tid"] for wait in waits), waits[:3])


def each_file_system(whole, folders):
    equal("each: by which mechanism", (whole.signal()["mechanism"], whole.signal().get("missing")), ("fentry", None))
    for folder in folders:
        run = whole.while_in(folder, folders)
        each_once(run, folder)
        opened_and_closed(run, folder)
        with_its_call(run, folder)
        names(run, folder)
        labels(run)
        parts_carry_it(run)


def join(run):
    """Each read of a regular file that moved bytes holds its operation, which moved them."""
    regular = {row["file_id"] for row in run.trace.rows("file") if row["kind"] == "regular"}
    found = {}
    for row in run.outermost:
        if row["op"] == "read":
            found.setdefault(row["call_id"], []).append(row)
    reads = [call for call in run.calls.values() if call["func"] in ("read", "pread", "readv", "fread", "fgets") and
             call["ret"] > 0 and call["file_id"] in regular]
    check(f"{run.name}: a loader reads much", len(reads) > 50, len(reads))
    for call in reads:
        rows = found.get(call["call_id"], [])
        path = run.trace.paths.get(call["file_id"])
        equal(f"{run.name}: bytes of a read of {path}", sum(max(row["ret"], 0) for row in rows), call["ret"])
        check(f"{run.name}: its operations lie in it", all(
            call["ts"] - CLOCKS_NS <= row["ts"] and row["ts"] + row["dur"] <= call["ts"] + call["dur"] + CLOCKS_NS
            for row in rows), (call, rows))
    return reads


def waits_for_io(run, call):
    return [wait["dur"] - wait["runq_ns"] for wait in run.waits if wait["in_iowait"] and wait["tid"] == call["tid"] and
            call["ts"] <= wait["ts"] < call["ts"] + call["dur"]]


def loader():
    run = Files("loader")
    inodes = {int(line.split()[1]) for line in (OUT / "loader.inodes").read_text().splitlines()}
    samples = sorted((call for call in join(run) if (run.trace.paths.get(call["file_id"]) or "").startswith("/mnt/slow/")),
                     key=lambda call: call["ts"])
    parts = [part for part in run.parts if part["ino"] in inodes]
    check("cold: all is read from the disk", sum(part["bytes"] for part in parts) >= 8 << 18, len(parts))
    check("cold: every part has its operation", all(part["op_id"] is not None for part in parts), parts[:2])
    by_calls, by_operations = (sum((row["miss_pages"] or 0) + (row["ra_pages"] or 0) for row in rows)
                               for rows in (samples, [row for call in samples for row in run.of_call(call)]))
    equal("pages that came by calls, and by their operations", by_operations, by_calls)
    check("page faults have them, too", all(row["miss_pages"] is not None for row in run.rows
                                                   if row["op"] == "fault" and row["ino"]))
    # The second turn begins when both workers of the first one have ended.
    workers = sorted({call["proc_id"] for call in samples}, key=lambda number: next(
        call["ts"] for call in samples if call["proc_id"] == number))
    equal("workers", len(workers), 4)
    for calls, is_cold in (([call for call in samples if (call["proc_id"] in workers[:2]) == first], first)
                           for first in (True, False)):
        equal("bytes of the samples", sum(call["ret"] for call in calls) // (1 << 18), 8)
        missing = sum((call["miss_pages"] or 0) + (call["ra_pages"] or 0) for call in calls)
        if not is_cold:
            equal("warm: nothing from the disk", (missing, sum(call["device_ns"] + call["queue_ns"] for call in calls)), (0, 0))
            continue
        check("cold: pages were missing", missing >= 8 * 64, missing)
        asleep = [(waits, call["device_ns"] + call["queue_ns"]) for call in calls if (waits := waits_for_io(run, call))]
        check("cold: some wait for the disk", len(asleep) >= 8, asleep)
        # The emulator may hold up the way from a request's end to the wake-up; in one of them, not in more.
        other = [(waits, ns) for waits, ns in asleep if ns < 0.9 * sum(waits) - len(waits) * CLOCKS_NS]
        check_time("cold: each one's waits for the disk are device and queue", len(other) <= 1, other)
        waited, explained = sum(sum(waits) for waits, _ in asleep), sum(ns for _, ns in asleep)
        check_time("cold: and those of all of them", explained >= 0.9 * waited, (explained, waited))


def killed():
    """Soon after the kill of mlrun what hangs on every switch between threads is gone, and nothing is recorded; programs of
    functions, which the kernel lets go one after the other, do nothing any more until they are gone, too."""
    reported = json.loads((OUT / "killed.json").read_text())
    for kind in ("on_file_op_entr", "on_file_op_exit", "on_switch", "on_bio_queue", "on_request_complete"):
        check(f"killed: {kind} was loaded", any(name.startswith(kind) for name in reported["names"]), reported["names"])
    equal("killed: all that it had", len(reported["names"]), reported["held"])
    later = [reading for reading in reported["readings"] if reading["after_s"] > SOON_S]
    equal("killed: at last nothing is left", reported["readings"][-1]["left"], [])
    check_time("killed: nothing is recorded soon after", len({reading["recorded"] for reading in later}) <= 1, later)
    check_time("killed: soon functions alone are left", all(
        name.startswith(FUNCTIONS) for reading in later for name in reading["left"]), later[:1])
    settled = [reading["recorded"] for reading in reported["readings"] if all(name.startswith(FUNCTIONS) for name in reading["left"])]
    check("killed: what is left does nothing", settled and len(set(settled)) == 1, settled)
    print(f"killed: {len(reported['names'])} programs, the last one gone after {reported['readings'][-1]['after_s']:.1f} s")


def small_ring():
    """dd's reads, and the one that finds the end; and what it does besides, which is the same each time."""
    reported = json.loads((OUT / "small_ring.json").read_text())
    large, small = reported["large"], reported["small"]
    equal("ring: dd itself counts", (large["counted"], small["counted"]), ("500", "500"))
    equal("ring: nothing lost in a large one", (large["lost"], large["reads_of_file"], large["bytes"]), (0, 501, 500 * 4096))
    check("ring: some sent, most lost", 0 < small["sent"] < 100 and small["lost"] > 400, small)
    equal("ring: sent and lost are all", small["sent"] + small["lost"], large["sent"])
    check("ring: why", small["reasons"] == [1] and small["report"] >= small["lost"], small)
    moves = reported["moves"]
    check("rings: one for each processor", moves["rings"] > 1, moves)
    equal("rings: reads, one after the other, on another processor each", (moves["operations"], moves["in_order"], moves["turns"]),
          (2000, True, 1999))
    equal("rings: every switch, none before the one before", (moves["waits"], moves["overlap"], moves["lost"]), (moves["switches"], 0, 0))


def doctor():
    """Tried in the folder of a file system on a disk: every signal came."""
    said = [line for line in (OUT / "doctor").read_text().splitlines() if " kernel side " in line]
    check("doctor: one line, all is well", len(said) == 1 and said[0].startswith("ok "), said)
    for words in ("by fentry: file operations", "by tracepoint: processes, block I/O, write-back, page cache, waits, remote requests"):
        check(f"doctor: {words}", words in said[0], said)
    check("doctor: nothing is left out", "not tried" not in said[0] and ": no" not in said[0], said)


def summary():
    said = subprocess.run([BUILD / "bin" / "mlrun", "report", "--full", OUT / "kprobe"], capture_output=True, text=True, check=False).stdout
    text = " ".join(said.partition("KERNEL SIDE")[2].split())
    check("summary: by which ways", "by fentry and kprobe: file operations" in text and "by tracepoint: processes" in text, text)
    if (OUT / "silent").exists():
        said = subprocess.run([BUILD / "bin" / "mlrun", "report", "--full", OUT / "silent"], capture_output=True, text=True, check=False).stdout
        text = " ".join(said.partition("KERNEL SIDE")[2].split())
        check("summary: what is missing, and what it counts as", "without file operations:" in text and
              "recorded nothing" in text and "is in the calls' own_ns" in text, text)


def another_user():
    run = Files("user")
    equal("user: by which mechanism", (run.signal()["mechanism"], run.signal().get("missing")), ("fentry", None))
    equal("user: each once", [row["ret"] for row in run.outermost if row["op"] == "read" and run.func_of(row) == "read" and
                              run.trace.paths.get(row["file_id"]) == "/mnt/disk/f"], [4096] * 16)
    check("user: the file's operations", run.of_file("f"), "none")
    equal("user: not what a set-user-ID program did", run.of_file("secret"), [])
    check("user: and that is said", run.trace.covers("rights beyond"), run.trace.rows("coverage"))
    # The shell's child is its user's until it executes, and has no row of its own; what it executes is opened before, and the library
    # that would go along.
    [(program, device)] = {(row["ino"], row["dev"]) for row in run.of_file("raised_dd")}
    library = {row["ino"] for row in run.of_file("installed/lib/libmlrun_preload.so")}
    equal("user: of the child no more than what it executes", {
        row["ino"] for row in run.outermost if row["proc_id"] is None and row["dev"] == device} - {program} - library, set())


def other_ways():
    run = Files("kprobe")
    equal("kprobe: by which mechanism", (run.signal()["mechanism"], run.signal().get("missing")), ("fentry and kprobe", None))
    programs = run.trace.run["kernel_side"]["programs"]
    why = {program["event"]: program.get("why_kprobe") for program in programs if program["mechanism"] == "kprobe"}
    equal("kprobe: why", set(why.values()), {"fentry: the function is not in this kernel's BTF"})
    check("kprobe: is said", run.signal()["note"].startswith(f"{len(why)} function"), run.signal())
    reads = [row for row in run.outermost if row["op"] == "read" and run.func_of(row) == "read" and
             run.trace.paths.get(row["file_id"]) == "/mnt/disk/f"]
    equal("kprobe: each once", [row["ret"] for row in reads], [4096] * 16)
    check("kprobe: takes time", all(run.calls[row["call_id"]]["vfs_ns"] > 0 for row in reads), reads[:1])
    if not (OUT / "silent").exists():
        print("this kernel cannot be made to keep silent about its functions")
        return
    run = Files("silent")
    equal("silent: nothing of it", (run.rows, sum(call["vfs_ns"] for call in run.calls.values())), ([], 0))
    check("silent: is said", run.signal()["mechanism"] is None and "recorded nothing" in run.signal()["missing"], run.signal())
    by_system_calls()


def operations_of(run):
    """What files of the disk saw, and how many operations there were on names."""
    done = Counter()
    for row in run.outermost:
        path = run.trace.paths.get(row["file_id"]) or ""
        if row["op"] in ON_NAMES.values() and row["op"] != "truncate":
            done[row["op"], path, run.trace.paths.get(row["file2_id"])] += 1
        elif row["op"] in ("read", "write", "open", "fsync", "fdatasync", "truncate") and path.startswith("/mnt/disk/"):
            dirtied = row["dirty_new_pages"] if row["op"] == "write" else 0
            key = row["op"], path, row["offset"], row["requested"], row["ret"], row["flags"], dirtied
            # fio's threads that open a file at the same time open it once more.
            done[key] = 1 if key[:2] == ("open", "/mnt/disk/f") else done[key] + 1
        elif row["op"] == "close" and path == "/mnt/disk/d/h":  # by truncate alone; the others also copy descriptors
            done["close"] += 1
    return done


def opened_late(disk):
    """Opens are recorded by a function that is a part of opening where no other function can be probed."""
    run = Files("opens")
    equal("opens: by which mechanism", (run.signal()["mechanism"], run.signal().get("missing")), ("fentry", None))
    check("opens: is said", "security_file_open" in run.signal().get("note", ""), run.signal())
    programs = {program["event"]: program["mechanism"] for program in run.trace.run["kernel_side"]["programs"]}
    equal("opens: by which function", [name for name in ("do_filp_open", "do_file_open", "security_file_open") if name in programs],
          ["security_file_open"])
    each_once(run, "/mnt/disk")
    opened_and_closed(run, "/mnt/disk")
    here, usual = (Counter(row["flags"] & CREATED for row in one.of_file("f") if row["op"] == "open")
                   for one in (run, disk))
    equal("opens: as many made the file as usual", here[CREATED], usual[CREATED])
    # fio's threads that open a file at the same time may open it once more.
    check("opens: as many as usual", abs(here[0] - usual[0]) <= 1, (here, usual))


def by_system_calls():
    calls, functions = Files("calls"), Files("functions")
    names(calls, "/mnt/disk")
    equal("functions: by which mechanism", functions.signal()["mechanism"], "fentry")
    equal("calls: by which mechanism", calls.signal()["mechanism"], "tracepoint")
    check("calls: is said", "times are those of the calls" in calls.signal()["note"], calls.signal())
    reported, wanted = operations_of(calls), operations_of(functions)
    check("calls: some of each", {key if isinstance(key, str) else key[0] for key in reported} >=
          {"read", "write", "open", "close", "fsync", "fdatasync", "truncate", "mkdir", "rename", "unlink", "rmdir"}, reported)
    equal("calls: not as the functions tell it", (reported - wanted, wanted - reported), (Counter(), Counter()))


folders = ["/mnt/disk"]
for kind in ("xfs", "btrfs", "f2fs"):
    if (OUT / f"{kind}.inodes").exists():
        folders.append(f"/mnt/{kind}")
    else:
        cannot_try(f"operations on {kind}: mkfs.{kind} is missing")
each = Files("each")
each_file_system(each, folders)
loader()
killed()
small_ring()
another_user()
opened_late(each.while_in("/mnt/disk", folders))
other_ways()
doctor()
summary()
finish("every operation on a file is recorded once, with its call")
