# SPDX-License-Identifier: Apache-2.0
"""Pages of mappings that a rule has placed are sampled like those of blocks, as long as they are mapped, also where the kernel has moved them,
and not those of a later mapping at the same address; each rule has its share of what is resident, as /proc says it; an allocation has the node that its rule's pages are on, and no other one has a node."""

from lib import case

MIB = 1 << 20
HOLD = f"""
import ctypes, mmap, time
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
def fill(at, more):  # with memory that no rule is about, in pieces of 3 MiB. All that is there before the end is less than what is there then.
    for piece in range(at, at + {48 * MIB}, {3 * MIB}):
        assert libc.mmap(ctypes.c_void_p(piece), {3 * MIB}, 3, 0x22 | more, -1, 0) == piece
        ctypes.memset(piece, 1, {3 * MIB})
gone = libc.mmap(None, {48 * MIB}, 3, 0x22, -1, 0)
ctypes.memset(gone, 1, {48 * MIB})
libc.munmap(ctypes.c_void_p(gone), {48 * MIB})
fill(gone, 0)
covered = libc.mmap(None, {48 * MIB}, 3, 0x22, -1, 0)
ctypes.memset(covered, 1, {48 * MIB})
fill(covered, mmap.MAP_FIXED if hasattr(mmap, "MAP_FIXED") else 0x10)
mapping = mmap.mmap(-1, {32 * MIB}, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
mapping.resize({64 * MIB})
for at in range(0, {64 * MIB}, 4096): mapping[at] = 1
blocks = [bytearray({8 * MIB}) for _ in range(4)]
time.sleep(3.5)
print(next(int(line.split()[1]) << 10 for line in open("/proc/self/status") if line.startswith("VmRSS")))
"""


def check(this):
    trace = this.trace("/usr/bin/python3", "-c", HOLD, options=("--place", "mmap size >= 4M -> node 0", "--place", "size >= 4M -> node 0"))
    resident = int(trace.stdout)
    pages = {row["rule"]: row for row in trace.rows("page_node")}
    this.equal("rules and nodes", sorted((rule, row["node"]) for rule, row in pages.items()), [(0, 0), (1, 0)])
    for rule, wanted in ((0, 64 * MIB), (1, 32 * MIB)):
        this.true(f"bytes of rule {rule}", abs(pages[rule]["bytes"] - wanted) <= 0.03 * wanted, pages)
        this.true("what is resident", abs(pages[rule]["resident_bytes"] - resident) <= 0.03 * resident, (pages, resident))
    large = [row for row in trace.rows("alloc") if row["size"] >= 4 * MIB and row["op"] != "free"]
    this.true("there are placed blocks", len(large) >= 4, large)
    this.equal("their node", {row["node"] for row in large}, {0})
    this.equal("all others", {row["node"] for row in trace.rows("alloc") if row["size"] < 4 * MIB or row["op"] == "free"}, {None})
    this.true("what the kernel counted meanwhile", "numa_hit" in trace.run["placement"]["counted"], trace.run["placement"])


if __name__ == "__main__":
    case.run(check)
