# SPDX-License-Identifier: Apache-2.0
"""Threads register NVTX names at the same time, each in a domain that it creates again: no name is lost, and there is
one domain."""

from gpu_case import need_nvtx_program
from lib import case

NAMES = 40_000


def check(this):
    trace = this.trace(need_nvtx_program(), "registered", NAMES, options=["--lossless"])
    rows = trace.rows("mark")
    this.equal("names", sorted(trace.names[row["name_id"]] for row in rows), sorted(f"registered {i}" for i in range(NAMES)))
    this.equal("domains", {row["domain"] for row in rows}, {"nvtx:Workers"})
    this.equal("losses", trace.rows("loss"), [])


if __name__ == "__main__":
    case.run(check)
