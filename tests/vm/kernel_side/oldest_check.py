#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the traces of oldest_guest.sh: each operation and request once, by its path, with the library and without.

Usage: oldest_check.py OUT"""

from collections import Counter

from traces import OUT, Run, check, equal, finish

PAGE, PAGES = 4096, 32
WRITEBACK = 1024  # by a kernel thread: the file before, whose inode number it is as well, was written by its own program


def operations(run, path):
    return Counter((row["op"], row["ret"]) for row in run.trace.rows("vfs")
                   if row["outer_op_id"] is None and run.trace.paths.get(row["file_id"]) == path and row["op"] in ("read", "write", "fsync"))


def moves(run, path):
    equal(f"{run.name}: reads and writes", operations(run, path), {("write", PAGE): PAGES, ("read", PAGE): PAGES, ("read", 0): 1,
                                                                   ("fsync", 0): 1})
    direct = [part for part in run.parts if part["op"] == "read" and part["op_id"] is not None]
    equal(f"{run.name}: bytes of direct reads have their operations", sum(part["bytes"] for part in direct if part["bytes"] == PAGE),
          PAGE * PAGES)


both = Run("both")
both.traces_functions()
moves(both, "/mnt/disk/file")
names = Counter(row["op"] for row in both.trace.rows("vfs") if "/mnt/disk/" in (both.trace.paths.get(row["file_id"]) or ""))
check("both: names", all(names[op] for op in ("mkdir", "rename", "unlink", "rmdir")), names)
inode = int((OUT / "both.inodes").read_text().split()[1])
data = [part for part in both.parts if (part["ino"], part["op"]) == (inode, "write") and part["flags"] & WRITEBACK]
equal("both: bytes that were written back, once", sum(part["bytes"] for part in data), 1 << 20)
equal("both: who wrote over what was dirty already", {part["comm"] for part in data}, {"last_writer"})
moves(Run("alone"), "/mnt/disk/other")
system = Run("system")
[(inode, device)] = {tuple(map(int, line.split()[1:])) for line in (OUT / "system.inodes").read_text().splitlines()}
seen = [row for row in system.trace.rows("vfs") if (row["ino"], row["dev"], row["op"]) == (inode, device, "read")]
equal("system: bytes read by a program that mlrun did not start", sum(row["ret"] for row in seen), 1 << 20)
counted = Run("syscalls", waits=False)
writes = [row for row in counted.trace.rows("syscall") if row["name"] == "write" and row["comm"] == "dd"]
check("syscalls: dd's writes are counted", sum(row["calls"] for row in writes) >= 16, counted.trace.rows("syscall")[:3])
said = (OUT / "doctor").read_text()
verdict = next(line for line in said.splitlines() if " kernel side " in line).split()[0]
check("doctor: the kernel side is well, or all but a part of it", verdict in ("ok", "partly"), said)
finish("every program is taken, and what it tells is exact")
