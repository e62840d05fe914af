# SPDX-License-Identifier: Apache-2.0
"""More names than the table of names holds: all are in the trace, those beyond it in their rows."""

from gpu_case import need_nvtx_program
from lib import case

NAMES, WITH_NUMBER = 300_000, 1 << 18


def check(this):
    trace = this.trace(need_nvtx_program(), "unique", NAMES, options=["--lossless"])
    rows = trace.rows("mark")
    numbered = [trace.names[row["name_id"]] for row in rows if row["name_id"] is not None]
    spelled = [row["text"] for row in rows if row["name_id"] is None]
    this.equal("names with a number", len(numbered), WITH_NUMBER)
    this.equal("all names", sorted(numbered + spelled), sorted(f"message {i}" for i in range(NAMES)))
    this.equal("lost", trace.dropped(), 0)


if __name__ == "__main__":
    case.run(check)
