# SPDX-License-Identifier: Apache-2.0
"""--cpus, --cpu-node and --mem-node: the command, its threads and its children have the CPUs and the memory policy, mlrun keeps
its own; the trace has them. What does not exist is refused in one line. Two nodes: tests/vm/placement_guest.py."""

import json
import os
import sys
from pathlib import Path

from lib import case

# The command's, a thread's and a child's CPUs and policy, and the CPUs of mlrun.
PROBE = """
import os, subprocess, sys, threading
def say():
    text = open("/proc/thread-self/numa_maps").read() if os.path.exists("/proc/self/numa_maps") else ""
    policies = {line.split()[1] for line in text.splitlines()}
    print(sorted(os.sched_getaffinity(0)), sorted(policies), flush=True)
say()
thread = threading.Thread(target=say); thread.start(); thread.join()
if len(sys.argv) == 1:
    subprocess.run([sys.executable, sys.argv[0], "child"], check=True)
    print(sorted(os.sched_getaffinity(os.getppid())), flush=True)
"""
NODES = Path("/sys/devices/system/node")


def check(this):
    probe = this.path("probe.py")
    probe.write_text(PROBE, encoding="ascii")
    allowed = sorted(os.sched_getaffinity(0))
    cpu = allowed[-1]
    trace = this.trace(sys.executable, probe, options=["--cpus", str(cpu)])
    lines = trace.stdout.splitlines()
    this.equal("CPUs of command, thread, child, its thread; mlrun's", [line.split("] ")[0].rstrip("]") for line in lines],
               [f"[{cpu}"] * 4 + [str(allowed).rstrip("]")])
    wanted = {"cpus": str(cpu), "cpu_node": "", "mem_node": "", "policy": ""}
    this.equal("run.json", {key: trace.run["placement"][key] for key in wanted}, wanted)
    this.equal("sample_machine", {row["cpus_allowed"] for row in trace.rows("sample_machine")}, {1})
    report = this.run(case.MLRUN, "report", trace.folder)
    this.true("the summary has it", f"on CPU {cpu}" in report.stdout, report.stdout)
    facts = json.loads(this.run(case.MLRUN, "report", "--json", trace.folder).stdout)["run"]
    this.equal("the summary in JSON", (facts["cpus"], facts["mem_node"]), (str(cpu), None))

    # An affinity that mlrun inherited is no limit: sched_setaffinity goes beyond it, as taskset does.
    out = this.new_trace()
    narrow = this.run(*this.command(sys.executable, probe, "child", out=out, options=["--cpus", str(cpu)]),
                      preexec_fn=lambda: os.sched_setaffinity(0, {allowed[0]}))
    this.true("beyond an inherited affinity", narrow.stdout.startswith(f"[{cpu}]"), narrow.stdout + narrow.stderr)

    refused = [("--cpus", "7000"), ("--cpus", f"{cpu},7000"), ("--cpus", "0-"), ("--cpus", "1-0"), ("--cpus", "all"),
               ("--cpu-node", "1000"), ("--mem-node", "1000"), ("--mem-node", "-1"), ("--cpus", "99999999999")]
    for options in refused + [("--cpus", str(cpu), "--cpu-node", "0"), ("--kprobes", "--system", "--cpus", str(cpu))]:
        out = this.new_trace()
        done = this.run(case.MLRUN, *options, "-o", out, "touch", this.path("started"))
        what = " ".join(options)
        this.equal(f"{what}: exit status", done.returncode, 125, said=done.stderr)
        this.equal(f"{what}: lines", len(done.stderr.splitlines()), 1, said=done.stderr)
        this.true(f"{what}: is named", options[-2] in done.stderr, done.stderr)
        this.true(f"{what}: nothing is left", not out.exists() and not this.path("started").exists())

    if not NODES.exists():
        raise case.Skip("this kernel has no NUMA nodes")
    trace = this.trace(sys.executable, probe, options=["--cpu-node", "0", "--mem-node", "0"])
    node = {int(name[3:]) for name in os.listdir(NODES / "node0") if name.startswith("cpu") and name[3:].isdigit()}
    wanted = f"{sorted(node & set(allowed))} ['bind:0']"
    this.equal("CPUs and policy with nodes", trace.stdout.splitlines()[:4], [wanted] * 4)
    where = trace.run["placement"]
    this.equal("run.json with nodes", (where["cpu_node"], where["mem_node"], where["policy"]), ("0", "0", "mem-node"))

    # A command that mlrun cannot record is placed all the same.
    done = this.run(case.MLRUN, "--cpus", str(cpu), "--mem-node", "0", "-o", "/proc/none", sys.executable, probe, "child")
    this.true("without recording", done.stdout.startswith(f"[{cpu}] ['bind:0']"), done.stdout + done.stderr)


if __name__ == "__main__":
    case.run(check)
