# SPDX-License-Identifier: Apache-2.0
"""The kernel side keeps the state of a thread in one of 1024 slots or, when that slot is taken, in the kernel's task
storage. With more live threads than slots, each thread has all of its reads recorded."""

import sys
from collections import Counter

from lib import case
from lib.kernel_side import need_kernel_side

THREADS, READS = 1300, 3

PROGRAM = f"""
import os, sys, threading
threading.stack_size(1 << 16)
file = os.open(sys.argv[1], os.O_RDONLY)
at_once = threading.Barrier({THREADS})

def read():
    for number in range({READS}):
        os.pread(file, 10 + number, number)
        if number == 0:
            at_once.wait()

threads = [threading.Thread(target=read) for _ in range({THREADS})]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def check(this):
    need_kernel_side()
    data = this.data_file()
    trace = this.trace(sys.executable, "-S", "-B", "-c", PROGRAM, data, options=("--kprobes=require,vfs", "--preload=off"))
    lost = [row for row in trace.rows("loss") if row["unit"] == "file operations"]
    this.equal("nothing was lost", lost, [])
    reads = [row for row in trace.rows("vfs") if row["op"] == "read" and trace.paths.get(row["file_id"]) == str(data)]
    this.equal("each read, once", Counter(Counter((row["tid"], row["requested"]) for row in reads).values()),
               {1: THREADS * READS})


if __name__ == "__main__":
    case.run(check)
