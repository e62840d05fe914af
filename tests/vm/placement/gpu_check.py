# SPDX-License-Identifier: Apache-2.0
"""In a guest with two nodes: what a program copies between a (mock) GPU and buffers bound to node 0 or node 1 is counted as misplaced to
the byte, whatever the GPU's node is; with `--place '... -> near gpu 0'` nothing is. The GPU is a folder mounted over the PCI devices of
/sys. Usage: gpu_check.py BUILD PYTHON"""

import csv
import io
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

BUILD = Path(sys.argv[1])
MLRUN, PLACE = BUILD / "bin" / "mlrun", BUILD / "gpu" / "cupti"
PCI = Path("/sys/bus/pci/devices/0001:17:02.0")  # of the mock NVML's first GPU
MIB = 1 << 20
failed = []


def expect(what, got, wanted):
    print("right" if got == wanted else "WRONG", what, got, "" if got == wanted else f"wanted {wanted}", flush=True)
    if got != wanted:
        failed.append(what)


def make_gpu(node):
    PCI.mkdir(exist_ok=True)
    for name, text in (("vendor", "0x10de"), ("class", "0x030200"), ("numa_node", str(node))):
        (PCI / name).write_text(text + "\n", encoding="ascii")


def run(*copies, options=()):
    """Node and misplaced bytes of each copy, and what the summary says."""
    out = Path(tempfile.mkdtemp()) / "trace"
    folders = [PLACE / "cuda", PLACE / "13", PLACE / "runtime", BUILD / "gpu" / "nvml-580"]
    environment = os.environ | {"LD_LIBRARY_PATH": ":".join(map(str, folders)), "MOCK_CUDA_VERSION": "13000",
                                "FAKE_NVML_UUID": "%s-%02u112233-4455-6677-8899-aabbccddeeff%.0u", "FAKE_NVML_GPUS": "1"}
    command = [MLRUN, "run", "--quiet", "-o", out, "--cupti=require", "--sample=off", "--python-stacks=off", "--lossless", "--preload=allocs", "--stacks", *options,
               "--", "taskset", "1", PLACE / "host_copies", *copies]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        print(done.returncode, done.stderr)
        failed.append("exit status")
        return [], []
    shown = subprocess.run([MLRUN, "show", "--csv", out, "gpu_memcpy"], capture_output=True, text=True, check=True).stdout
    rows = sorted(csv.DictReader(io.StringIO(shown)), key=lambda row: int(row["ts"]))
    reported = json.loads(subprocess.run([MLRUN, "report", "--json", out], capture_output=True, text=True, check=True).stdout)
    return [(row["host_node"], int(row["misplaced_bytes"])) for row in rows], reported["gpu_work"]["host_buffers"]


def total(reported, key="misplaced_bytes"):
    return sum(row[key] for row in reported)


def check_bound():
    for node in (0, 1):
        make_gpu(node)
        copies, reported = run(f"to:{3 * MIB}:0:4", f"to:{MIB}:1:4", f"from:{2 * MIB}:1:3", "from:100:0:2")
        wanted = [("0", 3 * MIB * node)] * 4 + [("1", MIB * (1 - node))] * 4 + [("1", 2 * MIB * (1 - node))] * 3 + [("0", 100 * node)] * 2
        expect(f"bound buffers, a GPU on node {node}", copies, wanted)
        expect("their sum", total(reported), sum(bytes_ for _, bytes_ in wanted))
        expect("all are known", total(reported, "known_bytes"), total(reported, "bytes"))


def check_mixed():
    """Up to 15 pages all are asked; of more a sample, which is right in the mean."""
    make_gpu(1)
    copies, reported = run("to:40960:01:3", "to:36864:01:2")
    expect("pages in turn", copies, [("", 20480)] * 3 + [("", 20480)] * 2)
    expect("their sum", total(reported), 5 * 20480)
    copies, reported = run(f"to:{4 * MIB}:01:400")
    share = total(reported) / (400 * 4 * MIB)
    print("share of a large one", share)
    expect("half of a large one", 0.47 < share < 0.53, True)


def check_heap():
    """The command runs on node 0: its heap is there, unless a rule has it near the GPU."""
    make_gpu(1)
    copies, reported = run(f"to:{MIB}:heap:3", f"from:{2 * MIB}:fresh:2")
    expect("default", copies, [("0", MIB)] * 3 + [("0", 2 * MIB)] * 2)
    expect("by who allocated", {(row["allocated_by"] or "").split(" (")[0]: row["misplaced_bytes"] for row in reported},
           {"do_copies": 4 * MIB, "allocate_batch": 3 * MIB})
    copies, reported = run(f"to:{MIB}:heap:3", f"from:{2 * MIB}:fresh:2", options=("--place", "size >= 64K -> near gpu 0"))
    expect("near the GPU", copies, [("1", 0)] * 5)
    expect("its sum", (total(reported), total(reported, "known_bytes")), (0, 7 * MIB))


def main():
    subprocess.run(["mount", "-t", "tmpfs", "gpus", PCI.parent], check=True)
    check_bound()
    check_mixed()
    check_heap()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
