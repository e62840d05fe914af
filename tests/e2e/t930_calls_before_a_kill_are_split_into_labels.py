# SPDX-License-Identifier: Apache-2.0
"""SIGKILL to mlrun or to mlrun-probes while a program reads from the disk: calls before the kill are split into labels,
and the trace names the mechanism; later calls are not split, and `loss` and `coverage` say so."""

import os
import signal
import subprocess
import time

from lib import case, labels
from lib.kernel_side import need_block_device, need_kernel_side
from lib.killed_collector import wait_for
from lib.loaded_programs import probes_of
from lib.trace import Trace

SOON_NS = 1_000_000_000  # until mlrun-probes has noticed
PIECE = 65536
READS = """
import os, sys, time
path, progress, end = sys.argv[1:]
fd = os.open(path, os.O_RDONLY)
while not os.path.exists(end):
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.pread(fd, 65536, 0)
    with open(progress, "a") as file:
        file.write(".")
    time.sleep(0.005)
"""


def killed_in_the_middle(this, process):
    """The trace's folder, and when the kill was sent."""
    data, out = this.data_file(PIECE), this.new_trace()
    subprocess.run(["sync", data], check=True)
    progress, end, done = (this.path(f"{process}.{what}") for what in ("progress", "end", "done"))
    progress.touch()
    command = this.command("sh", "-c", '"$@"; touch "$DONE"', "sh", "/usr/bin/python3", "-c", READS, data, progress, end, out=out,
                           options=("--kprobes=require,block,wait", "--preload=files"))
    with subprocess.Popen(command, env=this.environment | {"DONE": str(done)}, cwd=this.folder) as mlrun:
        wait_for(lambda: progress.stat().st_size > 0, 60)
        time.sleep(SOON_NS / 1e9)
        wait_for(lambda: progress.stat().st_size >= 50, 60)
        killed_ns = time.monotonic_ns()
        os.kill(mlrun.pid if process == "mlrun" else probes_of(mlrun.pid), signal.SIGKILL)
        before = progress.stat().st_size
        wait_for(lambda: progress.stat().st_size >= before + 50 and time.monotonic_ns() > killed_ns + 2 * SOON_NS, 60)
        end.touch()
    wait_for(done.exists, 60)
    return data, out, killed_ns


def check_killed(this, process, state):
    data, out, killed_ns = killed_in_the_middle(this, process)
    if process == "mlrun":
        recovered = this.run(case.MLRUN, "recover", out)
        this.equal("exit status of recover", recovered.returncode, 0, said=recovered.stderr)
    trace = Trace(out)
    side = trace.run["kernel_side"]
    this.equal(f"{process}: state of the kernel side", side["state"], state)
    this.true(f"{process}: by which mechanism", labels.are_recorded(trace) and any(
        signal["signal"] == "block I/O" and signal["mechanism"] == "tracepoint" for signal in side["signals"]), side)
    reads = [row for row in trace.rows("call") if row["func"] == "pread" and trace.paths.get(row["file_id"]) == data]
    before = [row for row in reads if row["ts"] + row["dur"] < killed_ns - SOON_NS // 4]
    after = [row for row in reads if row["ts"] > killed_ns + SOON_NS]
    this.true(f"{process}: some on both sides", len(before) > 5 and len(after) > 5, (len(before), len(after)))
    this.equal(f"{process}: before it every read is split", [row for row in before if row["own_ns"] is None], [])
    this.true(f"{process}: by what the disk took", sum(row["device_ns"] for row in before) > 0, before[:3])
    this.equal(f"{process}: after it none is", [row for row in after if row["own_ns"] is not None], [])
    this.equal(f"{process}: labels add up, and are missing only where `loss` says so", labels.faults(trace)[:3], [])
    lost = [row for row in trace.rows("loss") if row["channel"] == "kernel side" and row["unit"] == "stretches"]
    this.equal(f"{process}: one stretch is lost", len(lost), 1)
    this.true(f"{process}: since then", killed_ns - SOON_NS // 4 <= lost[0]["first"] <= killed_ns + SOON_NS and
              lost[0]["last"] >= after[-1]["ts"], (killed_ns, lost))
    this.true(f"{process}: coverage says so", any(row["subject"] == "the kernel side" for row in trace.rows("coverage")))


def check(this):
    need_kernel_side()
    need_block_device(this.folder)
    check_killed(this, "mlrun", "unfinished")
    check_killed(this, "mlrun-probes", "broken")


if __name__ == "__main__":
    case.run(check)
