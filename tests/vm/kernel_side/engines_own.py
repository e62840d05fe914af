#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs in the guest: moves a file by sendfile, splice and copy_file_range and touches its pages in a mapping, and writes
down how much that was, which page faults it took and what the device counted.

Usage: engines_own.py FOLDER DEVICE OUT"""

import json
import mmap
import os
import resource
import sys
import time
from pathlib import Path

FOLDER, DEVICE, OUT = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
PAGE = 4096
SOURCE = FOLDER / "own"
BYTES = SOURCE.stat().st_size
steps = {}


def state():
    return {"stat": Path(f"/sys/block/{DEVICE}/stat").read_text(), "ns": time.monotonic_ns(),
            "majflt": resource.getrusage(resource.RUSAGE_THREAD).ru_majflt}


def forget(fd):
    """So that the next one reads from the device."""
    os.fsync(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)


def step(name, move, direct=False, to=None):
    """`move(source, target)` returns the number of bytes."""
    source = os.open(SOURCE, os.O_RDONLY | (os.O_DIRECT if direct else 0))
    target = os.open(to or FOLDER / name, os.O_RDWR | os.O_CREAT)
    forget(source)
    before = state()
    moved = move(source, target)
    after = state()
    steps[name] = {"before": before, "after": after, "bytes": moved, "ino": os.fstat(target).st_ino}
    os.close(source)
    os.close(target)


def until_the_end(move):
    moved = 0
    while moved < BYTES:
        moved += move(moved)
    return moved


def sendfile(source, target):
    return until_the_end(lambda at: os.sendfile(target, source, at, BYTES - at))


def copy(source, target):
    return until_the_end(lambda at: os.copy_file_range(source, target, BYTES - at, at, at))


def splice(source, target):
    behind, before = os.pipe()

    def piece(at):
        got = os.splice(source, before, 4 * PAGE, offset_src=at)
        return os.splice(behind, target, got, offset_dst=at)
    return until_the_end(piece)


def touch(source, _):
    """Every page once, backwards: each is a fault of its own, since nothing is read ahead and no neighbour is there yet."""
    with mmap.mmap(source, BYTES, mmap.MAP_SHARED, mmap.PROT_READ) as pages:
        pages.madvise(mmap.MADV_RANDOM)
        before = state()
        touched = sum(pages[at] >= 0 for at in range(BYTES - PAGE, -1, -PAGE))
        steps["touch itself"] = {"before": before, "after": state()}
    return touched * PAGE


step("sendfile", sendfile)
step("sendfile to nowhere", sendfile, to="/dev/null")
step("sendfile direct", sendfile, direct=True)
step("copy", copy)
step("splice", splice)
step("touch", touch, to="/dev/null")
OUT.write_text(json.dumps(steps))
