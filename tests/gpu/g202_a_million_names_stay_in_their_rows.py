# SPDX-License-Identifier: Apache-2.0
"""With more names than the table of names holds, the trace has all, the surplus in their rows. Neither the program nor
mlrun keeps a million of them in memory; ten million are tested by giving their number: g202 10000000."""

import sys

from gpu_case import need_nvtx_program
from lib import case

NAMES, WITH_NUMBER = 300_000, 1 << 18
MANY, MORE_BYTES = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000, 64 << 20
MEASURED = """
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:]).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(status)
"""


def peak_bytes(this, count):
    """Of the program and the parts of mlrun, that of them which used most memory at once."""
    words = this.command(need_nvtx_program(), "unique", count, out=this.new_trace(), options=["--lossless", "--buffer=64M"])
    done = this.run(sys.executable, "-c", MEASURED, *words, timeout=1200)
    this.equal("exit status", done.returncode, 0, said=done.stderr)
    return int(done.stdout.split()[-1]) << 10


def check(this):
    trace = this.trace(need_nvtx_program(), "unique", NAMES, options=["--lossless"])
    rows = trace.rows("mark")
    numbered = [trace.names[row["name_id"]] for row in rows if row["name_id"] is not None]
    spelled = [row["text"] for row in rows if row["name_id"] is None]
    this.equal("names with a number", len(numbered), WITH_NUMBER)
    this.equal("all names", sorted(numbered + spelled), sorted(f"message {i}" for i in range(NAMES)))
    this.equal("lost", trace.dropped(), 0)
    few, many = peak_bytes(this, MANY // 2), peak_bytes(this, MANY)
    print(f"peak of {MANY // 2}: {few >> 20} MiB, of {MANY}: {many >> 20} MiB")
    this.true("memory of twice as many", many < few + MORE_BYTES, (few, many))


if __name__ == "__main__":
    case.run(check)
