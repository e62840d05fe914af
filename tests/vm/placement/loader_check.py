# SPDX-License-Identifier: Apache-2.0
"""In a guest with two nodes: what each rule of --place says holds for every page of the blocks of a PyTorch DataLoader's workers, forked and spawned, and of the
process that reads from them; and so do policies of the whole command. The pages are looked up twice: by move_pages of the process itself, and by numa_maps
from outside while it waits. All runs on node 0. With HMAT the kinds alone are tried. Usage: loader_check.py BUILD PYTHON-WITH-TORCH"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from guest_check import MLRUN, PYTHON, expect, failed, largest_node

LOADER = Path(__file__).with_name("loader.py")
PAGE, MAPPING_KIB, SAMPLES_S = 4096, 24 << 10, 3
NODE_0, NODE_1, NODE_2, HALVES = (1, 0, 0), (0, 1, 0), (0, 0, 1), (0.5, 0.5, 0)
OF_TENSORS = {"library libc10.so*", "function *alloc_cpu*"}  # callers that allocate tensors and no arrays
# Of blocks of this size (KiB) of these processes or callers: target, shares of nodes 0 to 2, policies of the mappings. Sizes below 2 MiB have small pages
# alone, and those of ratios and of interleaving can be divided exactly.
RULES = (
    (256, "", "node 1", NODE_1, {"prefer:1"}),
    (320, "", "node 1 strict", NODE_1, {"bind:1"}),
    (384, "", "node 0", NODE_0, {"prefer:0"}),
    (448, "", "default", NODE_0, {"default"}),
    (512, "", "interleave 0,1", HALVES, {"interleave:0-1"}),
    (640, "worker", "node 1", NODE_1, {"prefer:1"}),
    (768, "main", "node 1", NODE_1, {"prefer:1"}),
    (896, "library libc10.so*", "node 1", NODE_1, {"prefer:1"}),
    (960, "function *alloc_cpu*", "interleave 0,1", HALVES, {"interleave:0-1"}),
    (1024, "", "3:1 node 0,1", (0.75, 0.25, 0), {"prefer:0", "prefer:1"}),
    (1280, "", "1:3 node 0,1", (0.25, 0.75, 0), {"prefer:0", "prefer:1"}),
    (16384, "", "node 1 huge", NODE_1, {"prefer:1"}),
    (MAPPING_KIB, "mmap", "node 1", NODE_1, {"prefer:1"}),
)
KINDS = (
    (256, "", "hbw", NODE_2, {"prefer:2"}),
    (320, "worker", "hbw", NODE_2, {"prefer:2"}),
    (384, "", "lowest-latency", NODE_0, None),
    (448, "", "highest-capacity", None, None),
    (MAPPING_KIB, "mmap", "hbw", NODE_2, {"prefer:2"}),
)


def rule_text(kib, condition, target):
    before = {"": "", "mmap": "mmap "}.get(condition, condition + " and ")
    return f"{before}size {kib}K..{kib + 1}K -> {target}"


def is_about(condition, role, what):
    """Whether a rule with this condition is about such a block of its size. None is about shared memory."""
    if what == "mapping":
        return condition == "mmap"
    if what == "tensor" and condition in OF_TENSORS:
        return True
    return what in ("tensor", "array") and condition in ("", role)


class Loader:
    """A loader that has made its blocks and waits."""

    def __init__(self, rules, method, workers, kib, options):
        self.out = Path(tempfile.mkdtemp()) / "trace"
        words = [word for rule in rules for word in ("--place", rule)]
        command = [MLRUN, "run", "--quiet", "--defer-merge", "-o", self.out, "--sample=off", "--python-stacks=off", *options, *words, "--",
                   "taskset", "1", PYTHON, "-B", LOADER, method, workers, MAPPING_KIB, *kib]
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=os.environ | {"OMP_NUM_THREADS": "1"})
        lines = [self.process.stdout.readline() for _ in range(workers + 1)]
        if not lines[-1]:
            raise SystemExit(f"the loader ended early: {lines}, status {self.process.wait()}")
        self.processes = [json.loads(line) for line in lines]
        self.mappings = {one["pid"]: numa_maps(one["pid"]) for one in self.processes}
        time.sleep(SAMPLES_S)  # for the samples of mlrun's own

    def end(self):
        """Its placement as mlrun has stored it."""
        self.process.communicate("\n")
        expect("exit status", self.process.returncode, 0)
        return json.loads((self.out / "session.json").read_text(encoding="utf-8"))["placement"]

    def around(self, pid, block):
        """The mappings that have pages of it."""
        rows, end = self.mappings[pid], block["address"] + block["bytes"]
        after = [row[0] for row in rows[1:]] + [1 << 64]
        return [row for row, until in zip(rows, after, strict=True) if row[0] < end and until > block["address"]]


def numa_maps(pid):
    """(address, policy, pages by node) of each mapping, by rising address."""
    rows = []
    for line in Path(f"/proc/{pid}/numa_maps").read_text(encoding="utf-8").splitlines():
        words = line.split()
        pages = dict(map(int, found.groups()) for word in words[2:] if (found := re.fullmatch(r"N(\d+)=(\d+)", word)))
        rows.append((int(words[0], 16), words[1], pages))
    return rows


def check_block(loader, process, block, shares, policies):
    name = f"{process['role']}: {block['what']} of {block['kib']} KiB"
    whole = (block["address"] + block["bytes"]) // PAGE - -(-block["address"] // PAGE)
    expect(f"{name}, move_pages", block["pages"], [whole * share for share in shares] + [0])
    mappings = loader.around(process["pid"], block)
    if policies is not None:
        expect(f"{name}, policies", {policy for _, policy, _ in mappings}, policies)
    for _, policy, pages in mappings:  # of one node: nothing of the mapping is elsewhere
        if one := re.fullmatch(r"(?:prefer|bind):(\d)", policy):
            expect(f"{name}, numa_maps, {policy}", set(pages), {int(one[1])})


def check_counts(placement, loader, rules):
    """mlrun's own counts and samples say so too."""
    for process in loader.processes:
        known = next((one for one in placement["processes"] if one["pid"] == process["pid"]), None)
        expect(f"{process['role']} is counted", known is not None, True)
        for number, (kib, condition, _, shares, _) in enumerate(rules):
            about = sum(is_about(condition, process["role"], block["what"]) for block in process["blocks"] if block["kib"] == kib)
            counts = known["rules"][number]
            expect(f"{process['role']}: matches of {kib} KiB", (counts["matches"] >= about, counts["fallbacks"]), (True, 0))
            if about and shares in (NODE_0, NODE_1, NODE_2):
                sampled = {row["node"] for row in known["pages"] if row["rule"] == number}
                expect(f"{process['role']}: nodes of {kib} KiB, sampled", sampled, {shares.index(1)})


def check_rules(rules, method, workers, options):
    print(f"-- {method}, {workers} workers, {options}", flush=True)
    capacity = tuple(int(node == largest_node()) for node in range(3))
    rules = [(kib, condition, target, shares or capacity, policies) for kib, condition, target, shares, policies in rules]
    by_kib = {kib: rule for kib, *rule in rules}
    loader = Loader([rule_text(*rule[:3]) for rule in rules], method, workers, [kib for kib, *_ in rules if kib != MAPPING_KIB], options)
    expect("processes", [one["role"] for one in loader.processes], ["worker"] * workers + ["main"])
    for process in loader.processes:
        for block in process["blocks"]:
            condition, _, shares, policies = by_kib.get(block["kib"], ("", "", NODE_0, {"default"}))
            if not is_about(condition, process["role"], block["what"]):
                shares, policies = NODE_0, {"default"}
            check_block(loader, process, block, shares, policies)
    check_counts(loader.end(), loader, rules)


def check_command(options, shares, policy):
    """A policy of the whole command: batches in shared memory have it too."""
    print(f"-- {options}", flush=True)
    loader = Loader([], "fork", 2, (256, 1024, 1536), ("--preload=files", *options))
    for process in loader.processes:
        for block in process["blocks"]:
            if shares:
                check_block(loader, process, block, shares, {policy})
            else:  # the process takes turns whatever it touches, page tables too: how many are where is not known
                expect(f"{process['role']}: policies", {row[1] for row in loader.around(process["pid"], block)}, {policy})
        used = {node for block in process["blocks"] for node, pages in enumerate(block["pages"]) if pages}
        expect(f"{process['role']}: nodes", used, {1} if shares else {0, 1})
    loader.end()


def main():
    if Path("/sys/devices/system/node/node0/access0/initiators/read_latency").exists():
        check_rules(KINDS, "fork", 2, ())
        return 1 if failed else 0
    check_rules(RULES, "fork", 2, ())
    check_rules(RULES, "spawn", 1, ("--preload=off",))
    check_command(("--mem-node", "1"), NODE_1, "bind:1")
    check_command(("--interleave", "0,1"), None, "interleave:0-1")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
