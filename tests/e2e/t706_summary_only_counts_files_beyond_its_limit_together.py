# SPDX-License-Identifier: Apache-2.0
"""--summary-only with more names than it can keep apart: every call is counted, the table and the disk use stay within
their limits, and the trace names what was merged together."""

from lib import case, sums

NAMES, OPENED = 140_000, 67_000
SUMS_MAX, FILES_MAX = 3 << 16, 1 << 16
BYTES_MAX = 160 << 20


def check(this):
    folder = this.path("many")
    folder.mkdir()
    trace = this.trace(this.victim("many_names"), folder, NAMES, OPENED, options=["--lossless", "--summary-only", "--preload=files"])
    rows = trace.rows("sum")
    this.true("sums within the bound", len(rows) < SUMS_MAX, len(rows))
    this.true("files within the bound", len(trace.rows("file")) < NAMES + FILES_MAX, len(trace.rows("file")))
    this.equal("calls by name", sums.calls_of(trace, "access"), NAMES)
    this.equal("opened files", sums.calls_of(trace, "open"), OPENED)
    this.equal("reads", sums.calls_of(trace, "pread"), OPENED)
    this.equal("bytes read", sum(row["bytes"] for row in rows if row["func"] == "pread"), OPENED)
    together = sum(row["calls"] for row in rows if row["several_files"] or row["several_sites"])
    this.true("some calls are put together", together > 0)
    reported = [row for row in trace.rows("coverage") if "which files" in row["subject"]]
    this.equal("calls whose file is not told, in coverage", sum(row["kernel"] - row["seen"] for row in reported), together)
    report = sums.report(this, trace)
    this.equal("bytes read, by the report", report["totals"]["files"]["bytes_read"] >= OPENED, True)
    this.true("calls whose file is not told are remarks: every byte is counted",
              reported and all(row["level"] == "remark" for row in reported) and report["complete"], report["coverage"])
    this.equal("losses", report["losses"], [])
    this.true("raw bytes within the bound", trace.run["totals"]["spool_bytes"] < BYTES_MAX)


if __name__ == "__main__":
    case.run(check)
