# SPDX-License-Identifier: Apache-2.0
"""Rows keep lengths and offsets of more than 32 bits and results of more than 56 bits. Calls on mapped memory name the
mapped file."""

from lib import case

SIZE = 6 << 30
POSITIONS = [2**63 - 1, 2**55, 2**56 + 12345, -2**60, 100]


def check(this):
    file = this.path("large")
    trace = this.trace(this.victim("large_numbers"), file)
    on_memory = [(call.func, call.via, call.requested, call.flags, call.path) for call in trace.calls_of(
        "madvise", "posix_madvise", "msync", "munmap") if call.requested == SIZE]
    this.equal("calls on the mapping", on_memory, [
        ("madvise", "function", SIZE, 2, str(file)), ("posix_madvise", "function", SIZE, 0, str(file)),
        ("msync", "function", SIZE, 1, str(file)), ("msync", "syscall", SIZE, 1, str(file)),
        ("munmap", "function", SIZE, 0, str(file))])
    this.equal("ranges", [(call.func, call.offset, call.requested) for call in
                          trace.calls_of("posix_fadvise", "sync_file_range", "readahead", path=file)],
               [("posix_fadvise", 5 << 30, 1 << 33), ("sync_file_range", 5 << 30, 1 << 34), ("readahead", 5 << 30, 4096)])
    this.equal("results of lseek", [call.ret for call in trace.calls_of("lseek") if "/mem" in call.path], POSITIONS)
    this.equal("offset of pread", [call.offset for call in trace.calls_of("pread") if "/mem" in call.path], [2**56 + 7])


if __name__ == "__main__":
    case.run(check)
