# SPDX-License-Identifier: Apache-2.0
"""A multiprocessing.Pool whose workers read numbered bytes and are ended by SIGTERM, as Pool does when it is left."""

import sys

from lib import serials

TASKS, READS = 40, 250
SCRIPT = """
import multiprocessing, os, sys
FILE, TASKS, READS = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])

def read_numbered(task):
    fd = os.open(FILE, os.O_RDONLY)
    for i in range(READS):
        os.pread(fd, 1, task * READS + i)
    os.close(fd)
    return os.getpid()

if __name__ == "__main__":
    with multiprocessing.get_context(sys.argv[4]).Pool(3) as pool:
        print(len(set(pool.map(read_numbered, range(TASKS), chunksize=1)) - {os.getpid()}))
"""


def expect_all_reads(case, method):
    data, script = case.data_file(), case.path("pool.py")
    script.write_text(SCRIPT)
    trace = case.trace(sys.executable, "-S", script, data, TASKS, READS, method)
    read = trace.serials(data)
    serials.expect_all(case, sorted(number for numbers in read.values() for number in numbers), TASKS * READS)
    case.equal("calls in all", sum(map(len, read.values())), TASKS * READS)
    case.equal("processes that read", len({process for process, _ in read}), int(trace.stdout))
    case.equal("dropped records", trace.dropped(), 0)
