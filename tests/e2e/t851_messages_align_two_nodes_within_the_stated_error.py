# SPDX-License-Identifier: Apache-2.0
"""Two programs in two network namespaces exchange messages; one node's readings are 50 ms and 20 ppm off. The true offset is within the
stated error, no message runs backwards, and each row of both nodes is there, moved by that offset alone."""

import sys
from concurrent.futures import ThreadPoolExecutor

from lib import case, nodes

PROGRAM = """
import socket, sys, time
if sys.argv[1] == "listen":
    server = socket.create_server((sys.argv[2], 4711))
    peer, _ = server.accept()
else:
    for _ in range(200):
        try:
            peer = socket.create_connection((sys.argv[2], 4711))
            break
        except OSError:
            time.sleep(0.05)
for number in range(200):
    if sys.argv[1] == "listen":
        data = peer.recv(100)
        peer.sendall(data * 40)
    else:
        peer.sendall(b"x" * 100)
        got = 0
        while got < 4000:
            got += len(peer.recv(1000))
    time.sleep(0.001)
"""


def record(this):
    """The traces of both nodes, by one clock."""
    program = this.path("talk.py")
    program.write_text(PROGRAM)
    out = [this.path("node0"), this.path("node1")]
    with nodes.Networks() as networks, ThreadPoolExecutor() as pool:
        runs = [pool.submit(this.run, *networks.inside(number, *this.command(
            sys.executable, program, role, f"{nodes.NETWORK}1", out=out[number])))
            for number, role in enumerate(("listen", "connect"))]
        for run in runs:
            this.equal("exit status", run.result().returncode, 0, said=run.result().stderr)
    return out


def check(this):
    case.need_root()
    case.need_command("ip", "netns", "list")
    this.mlrun = case.MLRUN
    first, second = record(this)
    together = this.path("same_clock")
    nodes.merge(this, first, second, out=together)
    this.equal("one machine, one clock", [row["aligned_by"] for row in nodes.merged(together)["nodes"]], ["reference", "same clock"])

    plain = nodes.copy_of(second, this.path("plain"))
    start = this.opened(second).run["start_ns"]
    shift = nodes.Shift(50_000_000, 20, start)
    nodes.read_by_another_clock(second, shift)
    out = this.path("merged")
    done = nodes.merge(this, first, second, out=out)
    node = nodes.merged(out)["nodes"][1]
    this.equal("known by", node["aligned_by"], "messages")
    this.true("messages", node["messages"] > 300, node)
    off = node["offset_ns"] - 50_000_000
    this.true("the true offset is within the error", abs(off) <= node["error_ns"], node)
    this.true("the error is that of short messages", node["error_ns"] < 2_000_000, node)
    delays = nodes.earliest_arrivals(out)
    this.true("messages matched", len(delays) > 300, len(delays))
    this.true("no message runs backwards", delays[0] >= -2 * node["error_ns"], delays[:3])
    this.true("the summary names the node", "messages with" in done.stderr, done.stderr)
    check_rows(this, plain, out, node)
    report = this.run(case.MLRUN, "report", out)
    this.true("report", "NODES" in report.stdout and report.returncode == 0, report.stdout + report.stderr)


def check_rows(this, plain, out, node):
    """Each row of the node, with every moment within the error of the true one."""
    true_rows, rows = this.opened(plain).rows("call"), [row for row in this.opened(out).rows("call") if row["node_id"] == 2]
    this.equal("calls", [(row["func"], row["ret"]) for row in rows], [(row["func"], row["ret"]) for row in true_rows])
    worst = max(abs(row["ts"] + row["dur"] - true["ts"] - true["dur"]) for row, true in zip(rows, true_rows, strict=True))
    this.true("no row is moved beyond the error", worst <= node["error_ns"] + 1, (worst, node))


if __name__ == "__main__":
    case.run(check)
