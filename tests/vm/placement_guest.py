# SPDX-License-Identifier: Apache-2.0
"""In a guest of two NUMA nodes: what --cpus, --cpu-node and --mem-node do, by what the kernel says of the command. Usage:
placement_guest.py MLRUN"""

import json
import subprocess
import sys
from pathlib import Path

MLRUN = sys.argv[1]
FOLDER = Path("/mnt/disk")
CGROUP = Path("/sys/fs/cgroup/placement")
# The command and a child of it touch 48 MiB each, and say where that is and where they may run.
PROBE = """
import os, sys
memory = bytearray(48 << 20)
for at in range(0, len(memory), 4096): memory[at] = 1
pages = {}
for line in open("/proc/self/numa_maps"):
    words = line.split()
    if not any(word.startswith("anon=") and int(word[5:]) > 10000 for word in words): continue
    pages = {int(word[1:].split("=")[0]): int(word.split("=")[1]) for word in words if word[0] == "N"}
    print(words[1], pages, sorted(os.sched_getaffinity(0)), flush=True)
if len(sys.argv) == 1:
    import subprocess
    subprocess.run([sys.executable, sys.argv[0], "child"], check=True)
"""
failures = []


def equal(what, value, wanted, said=""):
    if value != wanted:
        failures.append(f"{what}: {value!r} instead of {wanted!r} {said}")


def cpus_of(node):
    return Path(f"/sys/devices/system/node/node{node}/cpulist").read_text(encoding="ascii").strip()


def run(*options, number=[0]):
    number[0] += 1
    out = FOLDER / f"trace{number[0]}"
    probe = FOLDER / "probe.py"
    probe.write_text(PROBE, encoding="ascii")
    done = subprocess.run([MLRUN, *options, "-o", out, "--", sys.executable, probe], capture_output=True, text=True, check=False)
    return done, out


def check_places():
    assert (cpus_of(0), cpus_of(1)) == ("0", "1"), (cpus_of(0), cpus_of(1))
    for cpu in (0, 1):
        for memory in (0, 1):
            for options in [["--cpu-node", str(cpu)]] + [["--cpus", str(cpu)]] * (cpu != memory):
                done, out = run(*options, "--mem-node", str(memory))
                what = f"{options} and memory of node {memory}"
                equal(f"{what}: status", done.returncode, 0, done.stderr)
                lines = done.stdout.splitlines()[:2]
                equal(f"{what}: command and child", len(lines), 2, done.stdout + done.stderr)
                for line in lines:
                    policy, rest = line.split(" ", 1)
                    equal(f"{what}: policy", policy, f"bind:{memory}")
                    equal(f"{what}: CPUs", rest.split("} ")[1], f"[{cpu}]")
                    equal(f"{what}: nodes of the pages", sorted(eval(rest.split("} ")[0] + "}")), [memory])
                placement = json.loads((out / "run.json").read_text(encoding="utf-8"))["placement"]
                equal(f"{what}: run.json", (placement["cpus"], placement["mem_node"]), (str(cpu), str(memory)))
    done, _ = run("--mem-node", "0-1", "--cpus", "0,1")
    equal("both nodes", done.stdout.split(" ")[0], "bind:0-1", done.stderr)


def refused(what, *options):
    done, out = run(*options)
    equal(f"{what}: status", done.returncode, 125, done.stderr)
    equal(f"{what}: lines", len(done.stderr.splitlines()), 1, done.stderr)
    equal(f"{what}: nothing is left", out.exists() or bool(done.stdout), False)
    return done.stderr


def check_refusals():
    equal("a CPU that is absent", "CPU 2 does not exist" in refused("absent CPU", "--cpus", "0-2"), True)
    equal("a node that is absent", "node 2 does not exist" in refused("absent node", "--mem-node", "1-2"), True)
    CGROUP.mkdir()
    try:
        (CGROUP.parent / "cgroup.subtree_control").write_text("+cpuset", encoding="ascii")
        (CGROUP / "cpuset.mems").write_text("0", encoding="ascii")
        (CGROUP / "cpuset.cpus").write_text("0", encoding="ascii")
        (CGROUP / "cgroup.procs").write_text("0", encoding="ascii")
        equal("memory beyond the cpuset", "node 1 may not be used" in refused("memory", "--mem-node", "0-1"), True)
        equal("a CPU beyond the cpuset", "CPU 1 may not be used" in refused("CPU", "--cpus", "0-1"), True)
        equal("CPUs of a node beyond the cpuset", "may not be used" in refused("CPUs", "--cpu-node", "1"), True)
        equal("what is within the cpuset", run("--cpus", "0", "--mem-node", "0")[0].returncode, 0)
    finally:
        (CGROUP.parent / "cgroup.procs").write_text("0", encoding="ascii")
    Path("/sys/devices/system/cpu/cpu1/online").write_text("0", encoding="ascii")
    equal("a CPU that is offline", "CPU 1 is offline" in refused("offline CPU", "--cpus", "1"), True)
    equal("a node without CPUs", "node 1 has no CPUs" in refused("node without CPUs", "--cpu-node", "1"), True)


check_places()
check_refusals()
print("\n".join(failures) or "the command is where it was put")
sys.exit(1 if failures else 0)
