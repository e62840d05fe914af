# SPDX-License-Identifier: Apache-2.0
"""--summary-only with mlrun killed: recover restores the last saved sums, adds what was still in the buffer, and counts
the loss in between; the program is not affected."""

from lib import case, killed_collector, sums

# Sums are saved one second after the start and again after two; the kill comes in between or afterwards.
ISSUED, BEFORE, PAUSE_NS = 40_000, 30_000, 50_000


def check(this):
    data = this.data_file()
    aftermath = killed_collector.kill_mlrun_after(this, BEFORE, issued=ISSUED, pause_ns=PAUSE_NS,
                                                  options=["--summary-only", "--preload=files"])
    this.equal("exit status of the program", aftermath.status, 3)
    left = sorted(path.name for path in aftermath.trace.iterdir())
    this.true("the sums were saved", "sums.bin" in left, left)
    recovered = this.run(case.MLRUN, "recover", aftermath.trace)
    this.equal("exit status of recover", recovered.returncode, 0, said=recovered.stderr)
    trace = case.Trace(aftermath.trace)
    this.equal("rows of call", trace.rows("call"), [])
    there = sums.calls_of(trace, "pread", data)
    this.true("calls from before and after the kill are there", 0 < ISSUED - BEFORE < there <= ISSUED, there)
    lost = sum(row["count"] for row in trace.rows("loss") if row["channel"] == "mlrun")
    # Between two of the calls the program waits, which may be a call of its own.
    this.true("what came between is counted", ISSUED - there <= lost <= 2 * (ISSUED - there) + 100,
              f"{there} there, {lost} lost")
    others = [row for row in trace.rows("loss")
              if row["channel"] != "mlrun" and "records not collected" not in row["reason"]]
    this.equal("other losses", others, [])
    this.true("the summary says so", "recovered" in recovered.stderr and "ADDED UP" in recovered.stderr,
              recovered.stderr)
    sums.check_buckets(this, trace)


if __name__ == "__main__":
    case.run(check)
