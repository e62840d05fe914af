# SPDX-License-Identifier: Apache-2.0
"""In a guest with two nodes: every rule puts every page where it says, by move_pages and numa_maps of the program itself. The program runs
on node 0. With HMAT the kinds alone are tried. Usage: guest_check.py BUILD PYTHON-WITH-NUMPY"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow.dataset

BUILD, PYTHON = Path(sys.argv[1]), sys.argv[2]
MLRUN, NODES, EDGES = BUILD / "bin" / "mlrun", BUILD / "vm" / "nodes", BUILD / "e2e" / "victims" / "places_edges"
MIB = 1 << 20
failed = []

NUMPY = """
import ctypes, numpy
def nodes(array):
    first, pages = array.ctypes.data // 4096 + 1, array.nbytes // 4096 - 1
    where = (ctypes.c_void_p * pages)(*[(first + i) * 4096 for i in range(pages)])
    found = (ctypes.c_int * pages)()
    if ctypes.CDLL(None).syscall(279, 0, pages, where, None, found, 0): raise SystemExit(5)
    return [sum(1 for node in found if node == wanted) for wanted in range(2)]
a = numpy.ones(1 << 20)
b = a * 2
print("numpy", *nodes(a), *nodes(b), a.nbytes // 4096 - 1)
"""


def expect(what, got, wanted):
    print("right" if got == wanted else "WRONG", what, got, "" if got == wanted else f"wanted {wanted}", flush=True)
    if got != wanted:
        failed.append(what)


def run(rules, *command, options=("--preload=off",)):
    """(exit status, standard output, standard error, placement of session.json)"""
    out = Path(tempfile.mkdtemp()) / "trace"
    words = [word for rule in rules for word in ("--place", rule)]
    done = subprocess.run([MLRUN, "run", "--quiet", "--defer-merge", "-o", out, "--sample=off", "--python-stacks=off", *options, *words, "--", "taskset", "1", *command],
                          capture_output=True, text=True, check=False)
    session = out / "session.json"
    return done.returncode, done.stdout, done.stderr, json.loads(session.read_text()).get("placement") if session.exists() else None


def pages(rules, what, size, **more):
    """Pages on nodes 0 and 1, and the mapping's policy."""
    status, said, error, _ = run(rules, NODES, what, str(size), **more)
    if status != 0:
        return status, error
    _, zero, one, two, other, policy = said.split()
    return int(zero), int(one), int(two) + int(other), policy


def check_nodes():
    for size in (64 << 10, MIB, 16 * MIB):
        n = size // 4096
        for what in ("block", "zeros"):
            expect(f"node 1, {what} of {size}", pages(["-> node 1"], what, size), (0, n, 0, "prefer:1"))
        expect(f"strict node 1, {size}", pages(["-> node 1 strict"], "block", size), (0, n, 0, "bind:1"))
        expect(f"default, {size}", pages(["-> default"], "block", size), (n, 0, 0, "default"))
        expect(f"interleave, {size}", pages(["-> interleave 0,1"], "block", size), (n // 2, n // 2, 0, "interleave:0-1"))
        expect(f"3:1, {size}", pages(["-> 3:1 node 0,1"], "block", size)[:3], (n * 3 // 4, n // 4, 0))
        expect(f"1:3, {size}", pages(["-> 1:3 node 0,1"], "block", size)[:3], (n // 4, n * 3 // 4, 0))
    expect("node 0,1", pages(["-> node 0,1"], "block", MIB), (256, 0, 0, "prefer"))
    expect("below the threshold", pages(["size >= 1M -> node 1"], "block", MIB // 2)[1], 0)
    expect("the first rule wins", pages(["size >= 8M -> default", "size >= 1M -> node 1"], "block", 16 * MIB)[:2], (4096, 0))
    expect("the second one", pages(["size >= 8M -> default", "size >= 1M -> node 1"], "block", MIB)[:2], (0, 256))
    expect("grown by realloc", pages(["-> node 1"], "grown", 48 * MIB), (0, 12288, 0, "prefer:1"))
    expect("written by a child", pages(["-> node 1"], "child", 8 * MIB), (0, 2048, 0, "prefer:1"))
    expect("mapping", pages(["mmap size >= 1M -> node 1"], "mapping", 8 * MIB), (0, 2048, 0, "prefer:1"))
    expect("mapping, 3:1", pages(["mmap size >= 1M -> 3:1 node 0,1"], "mapping", 16 * MIB)[:3], (3072, 1024, 0))
    expect("mapping with its pages", pages(["mmap size >= 1M -> node 1"], "populated", 8 * MIB), (0, 2048, 0, "prefer:1"))
    expect("mapping with its pages, 3:1", pages(["mmap size >= 1M -> 3:1 node 0,1"], "populated", 16 * MIB)[:3], (3072, 1024, 0))
    for options in (("--preload=off",), ()):
        expect("mapping made larger, 3:1", pages(["mmap size >= 1M -> 3:1 node 0,1"], "remapped", 64 * MIB, options=options)[:3], (12288, 4096, 0))
    expect("3:1 in whole huge pages", pages(["-> 3:1 node 0,1 huge"], "block", 16 * MIB)[:3], (3072, 1024, 0))
    expect("with the recorder", pages(["-> node 1"], "block", 16 * MIB, options=()), (0, 4096, 0, "prefer:1"))
    expect("budget", pages(["-> node 1 budget 8M"], "fill", 16 * MIB)[:2] > (1800, 1800), True)
    expect("--mem-kind regular", pages([], "block", MIB, options=("--preload=off", "--mem-kind", "regular"))[:3], (256, 0, 0))


def check_memkind():
    """A region of memkind's is bound as the rule says; what has no room there is the allocator's."""
    for size in (64 << 10, MIB, 16 * MIB):
        n = size // 4096
        found = pages(["-> node 1 heap memkind budget 64M"], "block", size)
        expect(f"memkind on node 1, {size}", isinstance(found[1], int) and found[0] == 0 and n - 1 <= found[1] <= n and found[3] == "prefer:1", True)
    found = pages(["-> node 1 heap memkind budget 32M"], "fill", 64 * MIB)
    expect("memkind's region is full", isinstance(found[1], int) and 24 * 256 <= found[1] <= 32 * 256 and found[0] >= 31 * 256, True)


NUMASTAT = "cat /sys/devices/system/node/node[0-9]*/numastat"


def numastat(text):
    """By name, the counts of node 0 and 1."""
    counts = {}
    for name, number in (line.split() for line in text.splitlines()):
        counts.setdefault(name, []).append(int(number))
    return counts


def check_counters():
    """--sample=memory: each node's counters grow by no less than the kernel counted inside the run, and by no more than it counted around it."""
    out, size = Path(tempfile.mkdtemp()) / "trace", 64 * MIB
    read = ["bash", "-c", NUMASTAT]
    before = numastat(subprocess.run(read, capture_output=True, text=True, check=True).stdout)
    # Time at each end, so that samples are around what is inside: in an emulated guest the first is a second late.
    script = f"sleep 4; {NUMASTAT}; echo; {NODES} block {size} >&2; {NUMASTAT}; sleep 1"
    done = subprocess.run([MLRUN, "run", "--quiet", "-o", out, "--sample=memory", "--python-stacks=off", "--place", "-> node 1", "--", "taskset", "1", "bash", "-c", script],
                          capture_output=True, text=True, check=False)
    after = numastat(subprocess.run(read, capture_output=True, text=True, check=True).stdout)
    if done.returncode != 0 or "\n\n" not in done.stdout:
        expect("--sample=memory", (done.returncode, done.stdout, done.stderr), 0)
        return
    first, last = map(numastat, done.stdout.split("\n\n"))
    rows = [row for row in pyarrow.dataset.dataset(out / "tables" / "sample_memory", format="parquet").to_table().to_pylist() if row["node"] is not None]
    expect("nodes with counters", sorted({row["node"] for row in rows}), [0, 1])
    if not rows:
        print(done.stderr)
    for name in before:
        for node in (0, 1):
            inside, around = last[name][node] - first[name][node], after[name][node] - before[name][node]
            seen = sum(row[name] for row in rows if row["node"] == node)
            print("node", node, name, "inside", inside, "seen", seen, "around", around)
            expect(f"node {node} {name}", inside <= seen <= around, True)
    huge = 2 * MIB  # each counts once
    expect("the block's pages are counted on node 1", last["numa_hit"][1] - first["numa_hit"][1] >= size // huge, True)


def check_many_pieces():
    """A ratio leaves the program enough mappings of its own."""
    plain = subprocess.run([EDGES, "many"], capture_output=True, text=True, check=False)
    status, said, error, placement = run(["-> 3:1 node 0,1"], EDGES, "many")
    expect("40,000 blocks of a ratio", (status, said), (plain.returncode, plain.stdout))
    rule = placement["processes"][-1]["rules"][0]
    expect("up to a limit", 10000 < rule["matches"] - rule["fallbacks"] < 20000, True)
    print(rule, error)
    status, said, error, placement = run(["-> 3:1 node 0,1"], NODES, "freed", str(200 * MIB))
    words = said.split()
    expect("freed blocks of a ratio: mappings merge again", status == 0 and int(words[1]) > 1600 > 2 * int(words[2]), True)
    fallbacks = [process["rules"][0]["fallbacks"] for process in placement["processes"]]
    expect("a forked child does not run out of pieces", any(fallbacks), False)
    print(said, error)
    status, said, error, placement = run(["mmap size >= 64K -> 3:1 node 0,1"], NODES, "mappings", "0")
    expect("60,000 mappings of a ratio", (status, said), (0, "mappings 1\n"))
    rule = placement["processes"][-1]["rules"][0]
    expect("all mappings are counted", rule["matches"], 61000)
    expect("up to 8,192 of them are placed at once", 5000 < rule["matches"] - rule["fallbacks"] <= 8192 + 1000, True)
    print(rule, error)


def check_command():
    """Policies of the whole command: nothing is replaced."""
    n = 4096
    for options, wanted in ((("--preferred", "1"), (0, n - 1)), (("--interleave", "0,1"), (n // 2, n // 2)), (("--mem-node", "1"), (0, n - 1))):
        found = pages([], "block", n * 4096, options=("--preload=files", *options))
        expect(options[0], isinstance(found[1], int) and abs(found[0] - wanted[0]) <= 1024 and abs(found[1] - wanted[1]) <= 1024, True)
        print(found)
    weights = Path("/sys/kernel/mm/mempolicy/weighted_interleave")
    if weights.exists():
        (weights / "node0").write_text("3", encoding="ascii")
        (weights / "node1").write_text("1", encoding="ascii")
        found = pages([], "block", n * 4096, options=("--preload=files", "--weighted-interleave", "0,1"))
        expect("weighted interleave", abs(found[0] - 3072) <= 512 and abs(found[1] - 1024) <= 512, True)
    else:
        status, _, error, _ = run([], "true", options=("--preload=files", "--weighted-interleave", "0,1"))
        expect("no weighted interleave", (status, "Linux 6.9 has it" in error), (125, True))


def largest_node():
    def memory(node):
        return int((node / "meminfo").read_text(encoding="ascii").split()[3])
    return int(max(Path("/sys/devices/system/node").glob("node[0-9]*"), key=memory).name[4:])


def nodes_of(counts):
    return [node for node, count in enumerate(counts) if count]


def by_memkind(name, **environment):
    """The nodes of the pages of a block of that kind, as memkind has it; none: it has no such memory."""
    done = subprocess.run(["taskset", "1", NODES, name, str(MIB)], capture_output=True, text=True, check=False, env=os.environ | environment)
    if done.returncode != 0:
        return f"status {done.returncode} {done.stderr}"
    words = done.stdout.split()
    return None if words[1] == "absent" else nodes_of(map(int, words[1:4]))


def check_against_memkind(has_hmat):
    expect("highest capacity, by memkind", by_memkind("MEMKIND_HIGHEST_CAPACITY"), nodes_of(pages(["-> highest-capacity"], "block", MIB)[:3]))
    expect("regular, by memkind", by_memkind("MEMKIND_REGULAR"), nodes_of(pages(["-> regular"], "block", MIB)[:3]))
    expect("no dax-kmem, by memkind", by_memkind("MEMKIND_DAX_KMEM"), None)
    if not has_hmat:
        expect("no hbw, by memkind", by_memkind("MEMKIND_HBW"), None)
    node = "2" if has_hmat else "1"
    os.environ["MEMKIND_HBW_NODES"] = node
    expect(f"hbw by MEMKIND_HBW_NODES={node}", by_memkind("MEMKIND_HBW"), nodes_of(pages(["-> hbw"], "block", MIB)[:3]))
    del os.environ["MEMKIND_HBW_NODES"]
    os.environ["MEMKIND_DAX_KMEM_NODES"] = node
    expect(f"dax-kmem by MEMKIND_DAX_KMEM_NODES={node}", by_memkind("MEMKIND_DAX_KMEM"), nodes_of(pages(["-> dax-kmem"], "block", MIB)[:3]))
    del os.environ["MEMKIND_DAX_KMEM_NODES"]


def check_kinds(has_hmat):
    """Kinds by what the firmware tells. Node 2, if there is one, has no CPUs and more bandwidth and latency than the others."""
    n = 256
    capacity = [0, 0, 0]
    capacity[largest_node()] = n
    expect("highest capacity", list(pages(["-> highest-capacity"], "block", MIB)[:3]), capacity)
    if has_hmat:
        expect("high bandwidth", pages(["-> hbw"], "block", MIB)[:3], (0, 0, n))
        expect("lowest latency", pages(["-> lowest-latency"], "block", MIB)[:3], (n, 0, 0))
        expect("lowest latency, by memkind", by_memkind("MEMKIND_LOWEST_LATENCY_LOCAL"), [0])
        expect("high bandwidth in a region of memkind's", pages(["-> hbw heap memkind budget 16M"], "block", MIB)[2] >= n - 1, True)
        return
    for kind in ("hbw", "lowest-latency", "dax-kmem"):
        status, _, error, _ = run([f"-> {kind}"], "true")
        expect(f"no {kind}", (status, f"no {kind} memory" in error, error.count("\n")), (125, True, 1))


def check_numpy():
    _, said, error, placement = run(["-> node 1"], PYTHON, "-c", NUMPY)
    expect("NumPy", said.split()[:5], ["numpy", "0", "2047", "0", "2047"])
    if not said:
        print(error)
    expect("its rule's matches", placement["processes"][-1]["rules"][0]["matches"] >= 2, True)


def check_full():
    """More than node 1 has free: preferred spills. More than it has free and in caches of files, which the kernel frees first: strict is killed."""
    lines = [line.split() for line in Path("/sys/devices/system/node/node1/meminfo").read_text().splitlines()]
    node = {words[2].rstrip(":"): int(words[3]) for words in lines}
    free = node["MemFree"]
    size = (free + (100 << 10)) << 10
    found = pages(["-> node 1"], "fill", size)
    expect("a full node: most of it is there, the rest on node 0", isinstance(found[1], int) and found[1] > free // 4 * 0.9 and found[0] > 20000, True)
    print(found, free // 4)
    size += (node["FilePages"] + node["SReclaimable"]) << 10
    status, *_ = run(["-> node 1 strict"], NODES, "fill", str(size))
    expect("strict: killed", status, 137)
    done = subprocess.run([MLRUN, "run", "-o", Path(tempfile.mkdtemp()) / "trace", "--preload=off", "--sample=off", "--python-stacks=off",
                           "--place", "-> node 1 strict", "--", NODES, "fill", str(size)], capture_output=True, text=True, check=False)
    expect("strict: the summary names the rule", "for want of memory; strict rule '-> node 1 strict'" in " ".join(done.stderr.split()), True)
    if done.returncode != 137:
        print(done.stderr)


def check_spilled():
    """More than node 1 has free, by a rule and by a policy of the command: sampled pages are where the program finds them, within 3 points."""
    free = next(int(line.split()[3]) for line in Path("/sys/devices/system/node/node1/meminfo").read_text().splitlines() if "MemFree" in line)
    for rules, options in ((["-> node 1"], ("--preload=off",)), ([], ("--preferred", "1"))):
        status, said, error, placement = run(rules, NODES, "held", str((free + (150 << 10)) << 10), options=options)
        words = said.split()
        if status != 0 or "pages" not in placement and "processes" not in placement:
            expect(f"{rules or options}: the run", (status, error, placement), 0)
            continue
        sampled = {0: 0, 1: 0}
        for row in placement["processes"][-1]["pages"] if rules else placement["pages"]:
            sampled[row["node"]] += 0 if row.get("file") else row["bytes"]
        spilled, seen = int(words[1]) / (int(words[1]) + int(words[2])), sampled[0] / sum(sampled.values())
        print("spilled", spilled, "sampled", seen)
        expect(f"{rules or options}: spilled", spilled > 0.05 and abs(spilled - seen) < 0.03, True)


def check_spilled_sites():
    """With the recorder, the caller whose pages are not where a rule or a policy asks for them is named, with as much memory as is elsewhere."""
    for options in (("--place", "size >= 1M -> node 1"), ("--preferred", "1")):
        free = next(int(line.split()[3]) for line in Path("/sys/devices/system/node/node1/meminfo").read_text().splitlines() if "MemFree" in line)
        out = Path(tempfile.mkdtemp()) / "trace"
        done = subprocess.run([MLRUN, "run", "-o", out, "--sample=off", "--python-stacks=off", *options, "--", "taskset", "1", NODES, "held",
                               str((free + (150 << 10)) << 10)], capture_output=True, text=True, check=False)
        found = json.loads(subprocess.run([MLRUN, "report", out, "--json"], capture_output=True, text=True, check=False).stdout)["placement"]
        about = found["rules"][0] if found["rules"] else found["policy"]
        elsewhere = sum(node["bytes"] for node in about["nodes"] if node["node"] != 1)
        named = [site for site in about["sites"] if (site["site"] or "").startswith("nodes + 0x")]
        print(options, about)
        expect(f"{options}: one caller of the program", len(named), 1)
        near = 0.9 if "--place" in options else 0.5  # under the policy also the program's other memory is elsewhere
        expect(f"{options}: what is elsewhere is its own", bool(named) and named[0]["bytes"] > near * elsewhere > 0, True)
        expect(f"{options}: the summary names it", "of nodes + 0x" in " ".join(done.stderr.split()), True)


def check_cpuset():
    """Node 1 is there, and this process may not use it."""
    group = Path("/sys/fs/cgroup/mlrun-test")
    if not Path("/sys/fs/cgroup/cgroup.controllers").exists():
        subprocess.run(["mount", "-t", "cgroup2", "none", "/sys/fs/cgroup"], check=True)
    Path("/sys/fs/cgroup/cgroup.subtree_control").write_text("+cpuset")
    group.mkdir()
    (group / "cpuset.mems").write_text("0")
    (group / "cgroup.procs").write_text(str(os.getpid()))
    status, _, error, _ = run(["-> node 1"], "true")
    expect("a node that the cpuset lacks", (status, "cpuset" in error, error.count("\n")), (125, True, 1))


def main():
    has_hmat = Path("/sys/devices/system/node/node0/access0/initiators/read_latency").exists()
    check_kinds(has_hmat)
    check_against_memkind(has_hmat)
    if has_hmat:
        return 1 if failed else 0
    check_command()
    check_nodes()
    check_memkind()
    check_many_pieces()
    check_numpy()
    check_full()
    check_spilled()
    check_spilled_sites()
    check_counters()
    check_cpuset()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
