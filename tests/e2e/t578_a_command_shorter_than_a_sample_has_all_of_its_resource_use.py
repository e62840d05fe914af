# SPDX-License-Identifier: Apache-2.0
"""With --sample=process, the rows of the command itself add up to what the kernel counted for it, up to its end: also those of a
command that ends before its first sample, and what one uses after its last sample."""

import os

from lib import case

TICK_NS = 10**9 // os.sysconf("SC_CLK_TCK")


def check_command(this, loops):
    trace = this.trace("sh", "-c", f"i=0; while [ $i -lt {loops} ]; do i=$((i+1)); done; exit 3",
                       options=["--sample=process", "--sample-hz", "2"], status=3)
    [process] = trace.rows("process")
    rows = [row for row in trace.rows("sample_process") if row["pid"] == process["pid"] and row["tid"] is None]
    this.true("rows of the command", rows, trace.run["machine_sampler"])
    rows.sort(key=lambda row: row["ts"])
    this.equal("it had ended", rows[-1]["state"], "Z")
    for one, next_one in zip(rows, rows[1:]):
        this.equal("no gap", one["ts"] + one["dur"], next_one["ts"])
    used_ns = trace.run["user_ns"] + trace.run["sys_ns"]
    sampled_ns = sum(row["utime_ns"] + row["stime_ns"] for row in rows)
    this.true(f"processor time of {loops} loops", abs(sampled_ns - used_ns) <= 2 * TICK_NS, (sampled_ns, used_ns))
    this.true("page faults", sum(row["minflt"] for row in rows) > 0, rows)
    this.true("bytes", all(row["read_chars"] is not None for row in rows[-1:]), rows)
    about = [(row["level"], row["detail"]) for row in trace.rows("coverage") if row["subject"] == "samples of process"]
    this.equal("what was missed", [text for level, text in about if level != "remark" and "the command" in text], [])
    return about


def check(this):
    check_command(this, 500_000)
    about = check_command(this, 1_000)
    this.true("why it has no PSS", any(level == "remark" and "pss_bytes: 1 ended" in text for level, text in about), about)


if __name__ == "__main__":
    case.run(check)
