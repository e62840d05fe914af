# SPDX-License-Identifier: Apache-2.0
"""dup, dup2, dup3, fcntl, pipe, pipe2, close_range, closefrom, mmap: reads through every copy have the same file and a
shared position, and a reused descriptor has the new file."""

from lib import case, exact


def check(this):
    data = this.data_file()
    trace = this.trace(this.victim("hooks_descriptors"), data)
    reads = trace.calls_of("read", path=data)
    this.equal("positions of reads through five copies", [call.offset for call in reads], [0, 3, 6, 9, 12])
    this.equal("open file descriptions", len({call.ofd_id for call in reads}), 1)
    this.equal("copies", sorted(call.func for call in trace.calls if call.func in ("dup", "dup2", "dup3", "fcntl")
                                and call.path == data), ["dup", "dup2", "dup3", "fcntl", "fcntl"])
    pipes = [call for call in trace.calls if call.func in ("read", "write") and "pipe:" in call.path]
    this.equal("calls on the pipes", [(call.func, call.ret, call.err) for call in pipes],
               [("write", 5, 0), ("read", 5, 0), ("read", -1, 11), ("read", 0, 0)])
    this.equal("the copy made later reads the same pipe", pipes[0].path == pipes[1].path == pipes[3].path, True)
    maps = [(call.func, call.requested, call.offset) for call in trace.calls_of("mmap", path=data)]
    this.equal("mapping of the file", maps, [("mmap", 8192, 4096)])
    exact.expect_strace_agrees(this, "hooks_descriptors", data)


if __name__ == "__main__":
    case.run(check)
