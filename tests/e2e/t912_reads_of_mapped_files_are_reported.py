# SPDX-License-Identifier: Apache-2.0
"""Reads of a mapped file by page faults are in no call: the summary has their time, or, where file operations are not
recorded or come from system calls, coverage has their bytes, which are the bytes not in the page cache. Holds with the
library and without it; reads left out by a pause or by path rules are in coverage as such."""

import subprocess

from lib import case
from lib.kernel_side import need_block_device, need_kernel_side
from lib.trace import Trace

SIZE = 4 << 20
READS_BY_FAULTS = """
import mmap, os, sys
fd = os.open(sys.argv[1], os.O_RDONLY)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
mapped = mmap.mmap(fd, 0, prot=mmap.PROT_READ)
mapped.madvise(mmap.MADV_RANDOM)
print(sum(mapped[at] for at in range(0, len(mapped), 4096)))
"""

READS_BY_CALLS = """
import os, sys
fd = os.open(sys.argv[1], os.O_RDONLY)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
print("opened", flush=True)
sys.stdin.readline()
while os.read(fd, 65536): pass
"""


def untold(trace):
    """Bytes, one page per bio fragment. Some 6.18 kernels do not report every completion, in bursts; guests with other kernels
    miss none (kernel_side)."""
    return 4096 * sum(row["count"] for row in trace.rows("loss") if row["unit"] == "bio fragments")


def asked_of(this, trace):
    signals = {signal["signal"]: signal["mechanism"] for signal in trace.run["kernel_side"]["signals"]}
    if signals["file operations"] not in (None, "tracepoint"):
        [faults] = [row for row in trace.rows("summary_split") if row["scope"] == "kind" and row["name"] == "page faults"]
        this.true("faults have their time", faults["calls"] >= SIZE // 4096 and faults["device_ns"] > 0, faults)
        return
    rows = [row for row in trace.rows("coverage") if row["subject"] == "bytes read from devices"]
    this.equal("one row", len(rows), 1, said=str(trace.rows("coverage")))
    this.true("and how much it is", rows[0]["kernel"] - rows[0]["seen"] >= SIZE - untold(trace), rows)
    this.true("the summary says so", "bytes read from devices" in this.run(case.MLRUN, "report", "--full", trace.folder).stdout)


def not_in_page_cache(this, trace, data):
    [file] = [row for row in trace.rows("summary_file") if row["path"] == str(data)]
    this.true("of that file", SIZE - untold(trace) <= file["missing_bytes"] + file["ahead_bytes"] <= SIZE, file)


def why(trace):
    [row] = [row for row in trace.rows("coverage") if row["subject"] == "bytes read from devices"]
    return [words for words in ("while recording was paused", "--exclude") if words in row["detail"]]


def calls_without_rows(this, data):
    program = ("/usr/bin/python3", "-c", READS_BY_CALLS, data)
    this.equal("read by calls that rules leave out", why(this.trace(*program, options=("--kprobes", "--exclude", data))), ["--exclude"])
    out = this.new_trace()
    with subprocess.Popen(this.command(*program, out=out, options=("--kprobes",)), stdin=subprocess.PIPE, text=True,
                          stdout=subprocess.PIPE, env=this.environment) as mlrun:
        this.equal("it is about to read", mlrun.stdout.readline(), "opened\n")
        paused = this.run(case.MLRUN, "pause", out)
        this.equal("exit status of pause", paused.returncode, 0, said=paused.stderr)
        mlrun.communicate("read\n", timeout=60)
    this.equal("read during a pause", why(Trace(out)), ["while recording was paused"])


def check(this):
    need_kernel_side()
    need_block_device(this.folder)
    data = this.data_file(SIZE)
    subprocess.run(["sync", data], check=True)
    for options in (("--kprobes",), ("--kprobes", "--preload=off")):
        mapped = this.trace("/usr/bin/python3", "-c", READS_BY_FAULTS, data, options=options)
        asked_of(this, mapped)
        not_in_page_cache(this, mapped, data)
    trace = this.trace("true", options=("--kprobes",))
    if all(signal["mechanism"] is None for signal in trace.run["kernel_side"]["signals"] if signal["signal"] == "file operations"):
        calls_without_rows(this, data)  # else operations have their rows


if __name__ == "__main__":
    case.run(check)
