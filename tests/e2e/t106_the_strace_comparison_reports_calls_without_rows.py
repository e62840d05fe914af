# SPDX-License-Identifier: Apache-2.0
"""Test of the comparison with strace: when rows are removed from the trace first, exactly their system calls are
reported as lost, for every file."""

import sys

from lib import case, match
from lib.sort_differences import Context, sort_differences
from lib.truth import Truth

SCRIPT = """
import csv, json, os, sys
data = open(sys.argv[1], "rb").read(1000)
fd = os.open(sys.argv[1], os.O_RDONLY)
for i in range(50):
    os.pread(fd, 100, i)
os.close(fd)
open("made.txt", "w").write("text")
open("/proc/self/status").read()
open("/etc/hostname").read()
"""
EVERY = 7


def check(this):
    truth = Truth(this, sys.executable, "-S", "-c", SCRIPT, this.data_file())
    truth.report()
    truth.expect_nothing_unsorted()
    rows = truth.trace.calls
    direct = [row for row, calls in truth.matched.pairs if row.func in match.DIRECT and calls]
    for first in range(EVERY):
        removed = direct[first::EVERY]
        kept = [row for row in rows if not any(row is gone for gone in removed)]
        matched = match.match(truth.log, kept)
        context = Context(truth.log, truth.trace, matched)
        lost = sort_differences(matched.calls, context).get("", [])
        this.equal("system calls found lost", len(lost), len(removed))


if __name__ == "__main__":
    case.run(check)
