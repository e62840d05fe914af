# SPDX-License-Identifier: Apache-2.0
"""MAPPED is the peak of the private anonymous mappings that the program made itself and may read or write, as in
/proc/PID/maps at that time: with mprotect, partial munmap, mremap, overlapping maps and calls by number.
MAP_NORESERVE mappings are separate, and only a Python has Python objects."""

import re

from lib import case

MIB = 1 << 20


def check(this):
    said = this.path("most")
    trace = this.trace(this.victim("maps_memory"), said)
    [process] = trace.rows("summary_process")
    this.equal("mapped at once", process["mapped_peak"], int(said.read_text()))
    this.equal("apart", process["mapped_noreserve_peak"], 500 * MIB)
    report = re.sub(r"\s+", " ", this.run(case.MLRUN, "report", "--full", trace.folder).stdout)
    this.true("the summary has it apart", "500 MiB more reserved with MAP_NORESERVE" in report, report)
    this.true("no Python", "Python's objects" not in report, report)
    maps = "import mmap; held = mmap.mmap(-1, 64 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)"
    python = this.trace("/usr/bin/python3", "-c", maps)
    report = re.sub(r"\s+", " ", this.run(case.MLRUN, "report", "--full", python.folder).stdout)
    this.true("of a Python they are named", "(Python's objects)" in report, report)


if __name__ == "__main__":
    case.run(check)
