# SPDX-License-Identifier: Apache-2.0
"""A training with its data set dropped from the page cache, then the same again: block I/O and waits are recorded, the
first time each file misses all its pages once, the second time none; table, report and JSON agree."""

import contextlib
import ctypes
import json
import mmap
import os
import subprocess
import sys

from lib import case, training
from lib.kernel_side import need_block_device, need_kernel_side

PAGE = 4096


def data_set(this):
    """Of this case's own: other cases read the shared one at the same time."""
    folder = this.path("kits")
    made = this.run(sys.executable, training.WORKLOADS / "make_kits.py", "--out", folder, "--cases", training.CASES, "--size", 48)
    this.equal("exit status of make_kits.py", made.returncode, 0, said=made.stderr)
    return folder


LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *3 * [ctypes.c_int], ctypes.c_long]
LIBC.mlock.argtypes = LIBC.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
LIBC.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]


@contextlib.contextmanager
def mapped(path):
    size = os.stat(path).st_size
    with open(path, "rb") as file:
        address = LIBC.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, file.fileno(), 0)
    yield address, size
    LIBC.munmap(address, size)


def cached_pages(path):
    with mapped(path) as (address, size):
        pages = ctypes.create_string_buffer(whole_pages(path) // PAGE)
        assert LIBC.mincore(address, size, pages) == 0, os.strerror(ctypes.get_errno())
        return sum(page & 1 for page in pages.raw)


def drop(folder):
    """Until nothing is left: the kernel keeps pages that another processor just handles."""
    for _ in range(100):
        subprocess.run(["sync"], check=True)
        for path in folder.iterdir():
            fd = os.open(path, os.O_RDONLY)
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(fd)
        left = {path: pages for path in folder.iterdir() if (pages := cached_pages(path))}
        if not left:
            return
    raise AssertionError(f"pages of these files stay in the page cache: {left}")


def evicted_and_read_again():
    """Bytes of files that the kernel had evicted from the page cache and read again, for want of memory or by DAMON."""
    with open("/proc/vmstat", encoding="ascii") as file:
        return next(int(line.split()[1]) * PAGE for line in file if line.startswith("workingset_refault_file "))


@contextlib.contextmanager
def held_in_memory(folder):
    """Reads the set and locks it in the page cache: otherwise the kernel may evict pages that have not been used for a while."""
    with contextlib.ExitStack() as held:
        for path in folder.iterdir():
            if LIBC.mlock(*held.enter_context(mapped(path))) != 0:
                raise case.Skip(f"memory cannot be locked here: {os.strerror(ctypes.get_errno())}")
        yield


def whole_pages(path):
    return -(-os.stat(path).st_size // PAGE) * PAGE


def misses(this, trace, folder):
    """The table's misses for each file of the set. JSON and the pages of the calls have the same."""
    paths = trace.paths
    mine = {file_id for file_id, path in paths.items() if path.startswith(f"{folder}/case_")}
    rows = {row["path"]: (row["missing_bytes"], row["ahead_bytes"]) for row in trace.rows("summary_file") if row["file_id"] in mine}
    reported = json.loads(this.run(case.MLRUN, "report", "--json", trace.folder).stdout)
    this.equal("JSON", {file["path"]: (file["missing_bytes"], file["ahead_bytes"]) for file in reported["files"] if file["path"] in rows}, rows)
    calls = dict.fromkeys(rows, (0, 0))
    for call in trace.rows("call"):
        if call["file_id"] in mine and call["miss_pages"] is not None:
            missing, ahead = calls[paths[call["file_id"]]]
            calls[paths[call["file_id"]]] = (missing + call["miss_pages"] * PAGE, ahead + call["ra_pages"] * PAGE)
    this.equal("pages of the calls", calls, rows)
    return {path: missing + ahead for path, (missing, ahead) in rows.items()}


def recorded_cold(this, folder, command):
    """A trace that lost nothing, and bytes read twice meanwhile. On a busy machine a ring can be full, which `loss` says."""
    for _ in range(3):
        drop(folder)
        before = evicted_and_read_again()
        trace = this.trace(*command, options=("--kprobes",))
        lost = [row for row in trace.rows("loss") if row["unit"] != "bio fragments"]
        if not lost:
            return trace, evicted_and_read_again() - before
        print(lost)
    raise AssertionError(f"each of three recordings lost rows: {lost}")


def check(this):
    training.need_torch()
    need_kernel_side()
    need_block_device(this.folder)
    folder = data_set(this)
    command = training.command(folder, "--workers", 2, "--size", 32)
    cold, read_again = recorded_cold(this, folder, command)
    with held_in_memory(folder):
        warm = this.trace(*command, options=("--kprobes",))
    sizes = {str(path): whole_pages(path) for path in folder.glob("case_*")}
    this.true("there are files", len(sizes) == 2 * training.CASES, sizes)

    found = misses(this, cold, folder)
    this.equal("files", sorted(found), sorted(sizes))
    # Once each; what the kernel evicts between two reads of a page is missed again.
    this.equal("missed by the first run, by file", {path: min(found[path], sizes[path]) for path in found}, sizes)
    # By 32 pages each, since a page that is read again brings those around it.
    at_most = 1.01 * sum(sizes.values()) + 32 * read_again
    this.true("and hardly anything twice", sum(found.values()) <= at_most, (found, sizes, read_again))
    this.equal("missed by the second run", {path: bytes_ for path, bytes_ in misses(this, warm, folder).items() if bytes_}, {})

    paths, processes = cold.paths, {row["proc_id"]: row["role"] for row in cold.rows("process")}
    parts = [part["bytes"] for part in cold.rows("block_part") if part["op"] == "read" and paths.get(part["file_id"]) in sizes]
    # Some 6.18 kernels do not report every completion, in bursts; `loss` counts them.
    read = sum(parts) + max(parts) * sum(row["count"] for row in cold.rows("loss") if row["unit"] == "bio fragments")
    this.true("block I/O of the files", read >= sum(sizes.values()), (read, sum(sizes.values())))
    for role in ("main", "DataLoader worker"):
        this.true(f"waits of {role}", any(processes.get(row["proc_id"]) == role for row in cold.rows("wait")), processes)
    for trace, is_cold in ((cold, True), (warm, False)):
        lines = this.run(case.MLRUN, "report", "--full", trace.folder).stdout.splitlines()
        head = next(line for line in lines if line.startswith("DIRECTORIES"))
        this.true("the report has the column", "uncached" in head, head)
        ends = head.index("uncached") + len("uncached")
        shown = {line[ends - 9:ends].strip() for line in lines if "case_" in line and "_x.npy" in line}
        this.true("the report's files", shown and all((one != "0 B") == is_cold for one in shown), shown)


if __name__ == "__main__":
    case.run(check)
