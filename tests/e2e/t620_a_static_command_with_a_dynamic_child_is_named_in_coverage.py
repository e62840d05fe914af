# SPDX-License-Identifier: Apache-2.0
"""A statically linked command records nothing while its child records. Coverage names the command with its bytes as
counted by the kernel, without those of the child."""

from lib import case

MIB = 1 << 20


def check(this):
    trace = this.untraced_and_traced(this.victim("unrecorded_static"), "before", 64 * MIB)
    rows = [row for row in trace.rows("coverage") if "unrecorded_static" in row["subject"] + row["detail"]]
    this.equal("what is not covered", sorted(row["subject"].rsplit("/", 1)[-1] for row in rows),
               ["bytes read", "unrecorded_static"])
    read = next(row for row in rows if row["subject"] == "bytes read")
    this.true("bytes of the command", 64 * MIB <= read["kernel"] < 64 * MIB + 100_000, read)
    this.true("the child recorded", len(trace.rows("process")) == 1, trace.rows("process"))


if __name__ == "__main__":
    case.run(check)
