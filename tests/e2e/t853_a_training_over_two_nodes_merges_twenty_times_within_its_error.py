# SPDX-License-Identifier: Apache-2.0
"""torchrun over two network namespaces with gloo, 20 times; one node's readings are 50 ms and 20 ppm off. The true offset is within
the stated error each time, and no matched message runs backwards beyond it. Without messages the output says that the nodes cannot be compared."""

import os
import random
import sys
from concurrent.futures import ThreadPoolExecutor

from lib import case, nodes, training

RUNS = int(os.environ.get("MLRUN_NODE_RUNS", "20"))
PROGRAM = """
import time, torch, torch.distributed as dist
dist.init_process_group("gloo")
rank, value = dist.get_rank(), torch.ones(50000)
for step in range(30):
    time.sleep(0.06 if rank == 1 else 0.005)  # rank 1 is the slow one, on a busy machine too
    dist.all_reduce(value)
dist.barrier()
dist.destroy_process_group()
"""


def record(this, networks, number, program):
    out = [this.path(f"run{number}.node{node}") for node in range(2)]
    environment = this.environment | {"GLOO_SOCKET_IFNAME": "veth0", "OMP_NUM_THREADS": "1", "TP_SOCKET_IFNAME": "veth0"}
    with ThreadPoolExecutor() as pool:
        runs = [pool.submit(this.run, *networks.inside(node, *this.command(
            sys.executable, "-m", "torch.distributed.run", "--nnodes=2", f"--node-rank={node}", "--nproc-per-node=1",
            f"--master-addr={nodes.NETWORK}1", "--master-port=29511", program, out=out[node], options=["--python-stacks=off"])),
            timeout=300, env=environment) for node in range(2)]
        for run in runs:
            this.equal("exit status", run.result().returncode, 0, said=run.result().stderr)
    return out


def check(this):
    case.need_root()
    training.need_torch()
    case.need_command("ip", "netns", "list")
    this.mlrun = case.MLRUN
    program = this.path("train.py")
    program.write_text(PROGRAM)
    chance = random.Random(28)
    with nodes.Networks("mlrun29") as networks:
        for number in range(RUNS):
            first, second = record(this, networks, number, program)
            start, ppm = this.opened(second).run["start_ns"], 20 * chance.choice((-1, 1))
            nodes.read_by_another_clock(second, nodes.Shift(50_000_000, ppm, start))
            out = this.path(f"run{number}.merged")
            done = nodes.merge(this, first, second, out=out)
            node = nodes.merged(out)["nodes"][1]
            off = node["offset_ns"] - 50_000_000  # the offset is that of the node's start
            off_at_end = off + (node["drift_ppb"] - ppm * 1000) * (node["end_ns"] - node["start_ns"]) / 1e9
            print(f"run {number}: off by {off / 1e3:.1f} us, {off_at_end / 1e3:.1f} us at the end, "
                  f"error {node['error_ns'] / 1e3:.1f} us, {node['messages']} messages, "
                  f"drift {node['drift_ppb'] / 1e3:.2f} ppm")
            this.equal("known by", node["aligned_by"], "messages")
            this.true("the true offset is within the error", max(abs(off), abs(off_at_end)) <= node["error_ns"] + 1, node)
            delays = nodes.earliest_arrivals(out)
            this.true("messages matched", len(delays) > 50, len(delays))
            this.true("no message runs backwards", delays[0] >= -2 * node["error_ns"], delays[:3])
            ranks = sorted(row["rank"] for row in nodes.merged(out)["ranks"])
            this.equal("ranks", ranks, [0, 1], said=done.stderr)
            slowest = nodes.merged(out)["slowest_rank"] or {}
            this.equal("the slow rank", (slowest.get("rank"), slowest.get("known_by")), (1, "messages"), said=done.stderr)


if __name__ == "__main__":
    case.run(check)
