# SPDX-License-Identifier: Apache-2.0
"""A mapped file whose pages are not in memory is read by page faults, which are in no call: the time of them is in the
summary, or where operations on files are not recorded, or by system calls, what they read is in coverage. With the library, and
without."""

import subprocess

from lib import case
from lib.kernel_side import need_block_device, need_kernel_side

SIZE = 4 << 20
READS_BY_FAULTS = """
import mmap, os, sys
fd = os.open(sys.argv[1], os.O_RDONLY)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
mapped = mmap.mmap(fd, 0, prot=mmap.PROT_READ)
mapped.madvise(mmap.MADV_RANDOM)
print(sum(mapped[at] for at in range(0, len(mapped), 4096)))
"""


def asked_of(this, trace):
    signals = {signal["signal"]: signal["way"] for signal in trace.run["kernel_side"]["signals"]}
    if signals["file operations"] not in (None, "tracepoint"):
        [faults] = [row for row in trace.rows("summary_split") if row["scope"] == "kind" and row["name"] == "page faults"]
        this.true("faults have their time", faults["calls"] >= SIZE // 4096 and faults["device_ns"] > 0, faults)
        return
    rows = [row for row in trace.rows("coverage") if row["subject"] == "bytes read from devices"]
    this.equal("one row tells of it", len(rows), 1, said=str(trace.rows("coverage")))
    # Some 6.18 kernels do not tell of every completion, in bursts; in guests of other kernels none is missing (kernel_side).
    this.true("and how much it is", rows[0]["kernel"] - rows[0]["seen"] >= SIZE * 0.95, rows)
    this.true("the summary says so", "bytes read from devices" in this.run(case.MLRUN, "report", trace.folder).stdout)


def check(this):
    need_kernel_side()
    need_block_device(this.folder)
    data = this.data_file(SIZE)
    subprocess.run(["sync", data], check=True)
    for options in (("--kprobes",), ("--kprobes", "--preload=off")):
        asked_of(this, this.trace("/usr/bin/python3", "-c", READS_BY_FAULTS, data, options=options))


if __name__ == "__main__":
    case.run(check)
