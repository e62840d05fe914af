# SPDX-License-Identifier: Apache-2.0
"""A forked child that only writes inherited blocks and mappings has its pages sampled as its parent has, and hundreds of children that end at once take no
room from others. A large reservation counts only where it may be accessed. A process without the rules is counted, and so is a mapping of explicit huge
pages, which is left alone."""

from lib import case

MIB, GIB = 1 << 20, 1 << 30
BLOCK, MAPPING, USED = 64 * MIB, 32 * MIB, 48 * MIB
PROGRAM = f"""
import ctypes, mmap, os, subprocess, time
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
FAILED = ctypes.c_void_p(-1).value
def write_all(memory, value):
    for at in range(0, len(memory), 4096): memory[at] = value
block = bytearray({BLOCK})
mapping = mmap.mmap(-1, {MAPPING}, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
write_all(mapping, 1)
reserved = libc.mmap(None, {64 * GIB}, 0, 0x4022, -1, 0)
assert reserved != FAILED and libc.mprotect(reserved + {8 * GIB}, {USED}, 3) == 0
ctypes.memset(reserved + {8 * GIB}, 1, {USED})
huge = libc.mmap(None, {16 * MIB}, 3, 0x44022, -1, 0)  # without a reserve of the kernel's
for _ in range(600):
    if os.fork() == 0: os._exit(0)
    os.wait()
time.sleep(2)  # mlrun gives their slots to others
alone = subprocess.Popen(["sleep", "6"], env={{}})
child = os.fork()
if child == 0:
    write_all(block, 2)
    write_all(mapping, 2)
    time.sleep(5.5)
    os._exit(0)
print(os.getpid(), child, int(huge != FAILED), flush=True)
os.waitpid(child, 0)
alone.wait()
"""


def check(this):
    options = ("--preload=off", "--place", "mmap size >= 8M -> node 0", "--place", "size >= 8M -> node 0")
    trace = this.trace("/usr/bin/python3", "-c", PROGRAM, options=options)
    placement = trace.run["placement"]
    refused = [one["why"] for process in placement["processes"] for one in process["unsampled"] if "refuses" in one["why"]]
    if refused:
        raise case.Skip(refused[0])
    parent, child, has_huge = (int(word) for word in trace.stdout.split())
    rows = {(row["pid"], row["rule"]): row for row in trace.rows("page_node")}
    for pid in (parent, child):
        for rule, wanted in ((0, MAPPING + USED), (1, BLOCK)):
            row = rows.get((pid, rule), {"bytes": 0, "sampled": 0, "samples": 0})
            this.true(f"{pid}: bytes of rule {rule}", abs(row["bytes"] - wanted) <= 0.1 * wanted, rows)
            this.true(f"{pid}: pages in a sample of rule {rule}", row["sampled"] >= 600 * row["samples"] > 0, rows)
    this.equal("processes without room", placement["not_counted"], 0)
    counts = {(row["pid"], row["rule"]): row for row in trace.rows("placement")}
    this.equal("rows of processes that placed something", set(counts), {(parent, 0), (parent, 1)})
    about = counts[parent, 0]
    this.equal("mappings, and those left alone", (about["matches"], about["fallbacks"]), (2 + has_huge, has_huge), said=about)
    this.equal("processes without the rules", placement["without_rules"], 1)
    said = " ".join(this.run(case.MLRUN, "report", trace.folder).stdout.split())
    this.true("the summary says so", "1 process ran without the rules" in said, said)


if __name__ == "__main__":
    case.run(check)
