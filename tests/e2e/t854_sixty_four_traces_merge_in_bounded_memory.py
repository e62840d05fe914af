# SPDX-License-Identifier: Apache-2.0
"""64 traces of a million events each become one in 512 MiB; the rate, and what a node costs, are printed (no test fails on a time)."""

import os
import resource
import subprocess
import time

from lib import case, nodes

NODES = int(os.environ.get("MLRUN_NODES", "64"))
MEBIBYTES_MOST = 512


def check(this):
    make_spool = case.BUILD / "tests" / "make_spool"
    if not make_spool.exists():
        raise case.Skip("tests/make_spool is not built")
    this.mlrun = case.MLRUN
    first = this.path("node0")
    this.equal("spool", this.run(make_spool, first, 1_000_000).returncode, 0)
    this.equal("trace", this.run(case.BUILD / "bin" / "mlrun-trace", "merge", first, timeout=600).returncode, 0)
    traces = [first]
    for number in range(1, NODES):
        trace = this.path(f"node{number}")
        subprocess.run(["cp", "-rl", first, trace], check=True)
        (trace / "run.json").unlink()
        (trace / "run.json").write_text((first / "run.json").read_text())
        nodes.edit_run(trace, lambda run, name=f"node{number}": run.update(session=name, host={"name": name, "boot_id": "one"}))
        traces.append(trace)
    nodes.edit_run(first, lambda run: run.update(host={"name": "node0", "boot_id": "one"}))
    out = this.path("merged")
    begin = time.monotonic()
    nodes.merge(this, *traces, out=out, options=["--quiet"])
    seconds = time.monotonic() - begin
    mebibytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    events = this.opened(out).run["totals"]["events"]
    files = [path for path in out.rglob("*") if path.is_file()]
    print(f"{events} events of {NODES} nodes in {seconds:.1f} s: {events / seconds / 1e6:.2f} M/s, {mebibytes:.0f} MiB, "
          f"{sum(path.stat().st_size for path in files) / NODES / 2**20:.2f} MiB and {len(files) / NODES:.1f} files a node")
    this.true("events", events >= NODES * 1_000_000, events)
    this.true(f"at most {MEBIBYTES_MOST} MiB", mebibytes <= MEBIBYTES_MOST, mebibytes)


if __name__ == "__main__":
    case.run(check)
