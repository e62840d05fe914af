# SPDX-License-Identifier: Apache-2.0
"""--preload=off --kprobes: the command's processes do not contain the library; the kernel side records the processes
and the files that they read, and says that there are no calls."""

import subprocess

from lib import case
from lib.kernel_side import need_block_device, need_kernel_side
from lib.trace import Trace

SIZE = 1 << 20
READS = """
import os, sys, time
fd = os.open(sys.argv[1], os.O_RDONLY)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
os.read(fd, 1 << 20)
time.sleep(0.5)
"""


def check(this):
    need_kernel_side()
    need_block_device(this.folder)
    data, out = this.data_file(SIZE), this.new_trace()
    subprocess.run(["sync", data], check=True)
    done = this.run(case.MLRUN, "--preload=off", "--kprobes", "-o", out, "--", "sh", "-c", '"$@"; exit 3', "shell",
                    "/usr/bin/python3", "-c", READS, data)
    this.equal("exit status", done.returncode, 3, said=done.stderr)
    trace = Trace(out)
    processes = {row["proc_id"]: row for row in trace.rows("process")}
    [reader] = [row for row in processes.values() if (row["command"] or "").startswith("/usr/bin/python3 ")]
    this.true("its parent is the shell", "shell" in processes[reader["parent_proc_id"]]["command"], processes)
    this.true("its thread", any(row["proc_id"] == reader["proc_id"] for row in trace.rows("thread")))
    parts = [row for row in trace.rows("block_part") if row["proc_id"] == reader["proc_id"] and row["op"] == "read"]
    read = sum(row["bytes"] for row in parts if trace.paths.get(row["file_id"]) == data)
    this.equal("bytes of the file, by its path", read, SIZE, said=str(parts))
    this.true("nothing of mlrun itself", not any((row["exe"] or "").endswith("/mlrun") for row in trace.rows("image")),
              trace.rows("image"))
    this.true("that there are no calls is said", trace.covers("calls of the C library"), trace.rows("coverage"))
    signals = {signal["signal"]: signal for signal in trace.run["kernel_side"]["signals"]}
    operations = signals["file operations"]
    if operations["mechanism"] is None:
        this.true("and that there are no operations either", "no calls either" in operations["missing"], operations)
        this.true("no time of calls that are not there", "calls' own" not in done.stderr, done.stderr)


if __name__ == "__main__":
    case.run(check)
