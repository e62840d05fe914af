# SPDX-License-Identifier: Apache-2.0
"""A program reads by the system call instruction and exits by it, or is killed, so that its end is not recorded. The
kernel's counts are read before the command is reaped, so coverage has all of its bytes at any time of sampling."""

from lib import case

MIB = 1 << 20
BYTES = 300 * MIB


def expect_bytes(this, how, least, status=0):
    trace = this.trace(this.victim("unrecorded"), how, BYTES, status=status)
    unseen = sum(row["kernel"] - row["seen"] for row in trace.rows("coverage") if row["subject"] == "bytes read")
    this.true(f"bytes of '{how}' that are not covered", least <= unseen < BYTES + MIB, trace.rows("coverage"))


def check(this):
    expect_bytes(this, "leaves", BYTES)
    expect_bytes(this, "killed", BYTES, status=137)
    expect_bytes(this, "child", BYTES)  # the kernel adds them to those of the parent that waited
    expect_bytes(this, "twice", BYTES)  # reads of a process that outlives its parent do not count for the parent


if __name__ == "__main__":
    case.run(check)
