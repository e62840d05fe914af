# SPDX-License-Identifier: Apache-2.0
"""Programs with an allocator other than libc's: victims/allocates.c, linked with each that the build found."""

import os
from collections import Counter
from pathlib import Path

from lib import case

ROUNDS, THREADS = 2000, 3
# By thread and round: sizes that nothing else in the program allocates.
ISSUED = {("malloc", 777): 1, ("calloc", 777): 1, ("aligned_alloc", 1984): 1, ("posix_memalign", 4000): 1, ("realloc", 3333): 1,
          ("reallocarray", 11 * 431): 1}
NAMES = ("jemalloc", "tcmalloc", "mimalloc")
FOLDERS = ("/usr/lib/x86_64-linux-gnu", "/usr/lib", "/usr/local/lib")


def is_installed(name, how):
    """Does this system have a library to link with, as the build looks for it?"""
    ending = ".a" if how == "static" else ".so*"
    return any(list(Path(folder).glob(f"lib{name}{minimal}{ending}")) for folder in FOLDERS for minimal in ("", "_minimal"))


def victims(this, how):
    """(allocator, program) of each that the build has; missing ones are printed, and an allocator whose library is installed may
    not be missing."""
    found = []
    for name in NAMES:
        program = this.victim(f"allocates_{name}_{how}")
        if os.path.exists(program):
            found.append((name, program))
            continue
        this.true(f"{name} ({how}) is installed, but its victim was not built: configure the build again", not is_installed(name, how))
        print(f"skipped: {name} ({how}) is not installed")
    if not found:
        raise case.Skip(f"no allocator to link with ({how}): libjemalloc-dev, libgoogle-perftools-dev or libmimalloc-dev")
    return found


def library_of(this, name, program):
    lines = this.run("ldd", program).stdout.splitlines()
    return next(line.split()[2] for line in lines if name in line.split()[0])


def listed(trace):
    return Counter((row["op"], row["size"]) for row in trace.rows("alloc") if (row["op"], row["size"]) in ISSUED)


def expect_all_listed(this, trace):
    this.equal("allocations listed", dict(listed(trace)), {key: ROUNDS * THREADS for key in ISSUED})
    this.equal("dropped records", trace.dropped(), 0)
    blocks = set()
    for row in sorted(trace.rows("alloc"), key=lambda row: row["ts"]):
        if row["op"] == "free":
            blocks.discard(row["addr"])
        elif row["op"] in ("realloc", "reallocarray"):
            blocks.discard(row["old_addr"])
            blocks.add(row["addr"])
        else:
            blocks.add(row["addr"])
    this.true("what was allocated was freed", len(blocks) < 500, len(blocks))
