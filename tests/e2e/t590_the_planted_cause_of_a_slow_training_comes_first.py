# SPDX-License-Identifier: Apache-2.0
"""A training that starves on decoding: the report names the cause and the line, its time without a batch is the loop's own, every step is
there, all of the wall time has an activity, and the loader can be replayed. What cannot be answered is one clear error."""

import json
import sys

from lib import case, training

SLOW = case.SOURCE / "tests" / "workloads" / "slow"
POINTS = 5  # of the loop, beside the interval that the report gives


def traced(this, seconds):
    out = this.new_trace()
    done = this.run(case.MLRUN, "-o", out, sys.executable, SLOW / "loaders.py", "fork_decode", "--data", this.path("data"), "--seconds", seconds)
    this.equal("exit status", done.returncode, 0, said=done.stderr)
    truth = json.loads([line for line in done.stdout.splitlines() if line.startswith('{"truth"')][-1])
    report = this.run(case.MLRUN, "report", out, "--json")
    this.equal("exit status of report", report.returncode, 0, said=report.stderr)
    return out, truth, json.loads(report.stdout)


def claim_of(report):
    return next((finding["claim"] for finding in report["findings"] if finding["cause"] == "data_transform_cpu"), "")


def check_answer(this, truth, report):
    this.equal("activities add up to the wall time", sum(row["ns"] for row in report["time"]), report["run"]["wall_ns"])
    # Where other tests take the processors, that is a true finding too.
    causes = [finding["cause"] for finding in report["findings"] if finding["cause"] != "oversubscription"]
    this.equal("first cause", causes[0], "data_transform_cpu", said=str(report["findings"]))
    this.true("the line is named", "decode" in claim_of(report), report["findings"])
    loop_ns = truth["loop_ns"] - truth["first_batch_ns"]
    error_ns = abs(report["without_batch_ns"] - truth["without_batch_ns"] + truth["first_batch_ns"])
    # Few samples are taken where other tests run beside this one: the interval, of 95 %, is wide then.
    interval_ns = report["without_batch_high_ns"] - report["without_batch_low_ns"]
    this.true("time without a batch is right within twice its interval", error_ns < interval_ns + POINTS / 100 * loop_ns, (error_ns, interval_ns, loop_ns))
    this.equal("steps", report["steps"]["count"], truth["steps"])


def check_what_if(this, out):
    done = this.run(case.MLRUN, "report", out, "--what-if", "workers=2", "--json")
    if done.returncode == 0:
        replayed = json.loads(done.stdout)
        this.true("two workers take no longer than one", replayed["predicted_ns"] <= replayed["replayed_ns"], replayed)
    else:
        this.true("a replay that is too far off says so", "too far off" in done.stderr, done.stderr)
    for words, said in (("--what-if", "workers=none"), "write workers=N"), (("--driver", "1"), "no recorded thread"):
        done = this.run(case.MLRUN, "report", out, *words)
        this.true(f"{words} is one clear error", done.returncode == 125 and said in done.stderr and done.stderr.count("\n") == 1, done.stderr)


def check(this):
    training.need_torch()
    for seconds in (4, 8, 16):  # where other tests take the processors, few samples are taken in a second
        out, truth, report = traced(this, seconds)
        if "decode" in claim_of(report):
            break
    check_answer(this, truth, report)
    check_what_if(this, out)


if __name__ == "__main__":
    case.run(check)
