# SPDX-License-Identifier: Apache-2.0
"""mlrun in its own PID namespace, as in a container: records of the kernel side have that namespace's numbers, also for
processes in a nested one, so that requests match their calls and waits their threads; --pid works there, and --system
says why it cannot."""

import os
import sys

from lib import case
from lib.kernel_side import need_block_device, need_kernel_side

INSIDE = ("unshare", "-p", "-f", "--mount-proc")
SLEEP_S = 0.3
BYTES = 1 << 20
# A process reads past the page cache, its second thread sleeps, and a process in a nested namespace reads as well and lives until it has
# been found.
PROGRAM = f"""
import os, subprocess, sys, threading, time
def read():
    fd = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT)
    import mmap
    block = mmap.mmap(-1, 65536)
    while os.readv(fd, [block]): pass
threading.Thread(target=time.sleep, args=({SLEEP_S},)).start()
read()
if len(sys.argv) == 2:
    subprocess.run(["unshare", "-p", "-f", sys.executable, sys.argv[0], sys.argv[1], "below"], check=True)
else:
    time.sleep(1)
"""
WATCHED = '"$@" --pid $$ --duration 1 & while kill -0 $! 2>/dev/null; do sleep 0.2; done; wait $!'


def check(this):
    need_kernel_side()
    case.need_pid_namespace()
    data = this.data_file(BYTES)
    need_block_device(this.folder)
    os.sync()
    program = this.path("program.py")
    program.write_text(PROGRAM)
    out = this.new_trace()
    done = this.run(*INSIDE, *this.command(sys.executable, program, data, out=out, options=("--kprobes=require,block,wait",)))
    this.equal("exit status", done.returncode, 0, said=done.stderr)
    trace = this.opened(out)
    calls = [row for row in trace.rows("call") if row["func"] == "readv" and trace.paths.get(row["file_id"]) == data]
    parts = [row for row in trace.rows("block_part") if row["call_id"] in {call["call_id"] for call in calls}]
    this.equal("bytes of requests of its reads", sum(row["bytes"] for row in parts), 2 * BYTES)
    this.equal("by processes", {row["pid"] for row in parts}, {row["pid"] for row in calls})
    pids = {row["pid"] for row in parts}
    this.true("two, by the namespace's numbers", len(pids) == 2 and all(0 < pid < 100 for pid in pids), pids)
    long = [row for row in trace.rows("wait") if row["tid"] != row["pid"] and row["dur"] >= 0.9 * SLEEP_S * 1e9]
    this.true("the sleep of a thread is its wait", any(row["pid"] in pids for row in long), long)

    out = this.new_trace()
    done = this.run(*INSIDE, "sh", "-c", WATCHED, "sh", case.MLRUN, "--kprobes=require,wait", "-o", out)
    this.equal("exit status with --pid", done.returncode, 0, said=done.stderr)
    this.true("its waits", any(row["dur"] > 1e8 and 0 < row["pid"] < 100 for row in this.opened(out).rows("wait")))

    out = this.new_trace()
    done = this.run(*INSIDE, case.MLRUN, "--kprobes=require,block", "--system", "--duration", "1", "-o", out)
    this.equal("exit status with --system", done.returncode, 125, said=done.stderr)
    this.true("why, in one line", "PID namespace" in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr)
    this.true("no trace", not out.exists())


if __name__ == "__main__":
    case.run(check)
