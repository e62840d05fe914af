# SPDX-License-Identifier: Apache-2.0
"""--from, --until and --process choose rows, and what they leave out is counted; what cannot be written or is asked for
wrongly gives one line and status 125, and nothing is left of the output."""

import json
import re
import resource
import signal
import stat

from lib import case, made_trace


def counts(said):
    return {table: int(rows) for table, rows in re.findall(r"^  (\w+): (\d+) rows", said, re.MULTILINE)}


def left_out(said):
    return {table: int(rows) for rows, table in re.findall(r"not written: (\d+) rows of (\w+): outside of", said)}


def check_choice(this, folder, rows):
    out = this.path("part.json")
    done = this.run(case.MLRUN, "export", folder, "--to", "chrome", "-o", out, "--from", "1000000507ns", "--until", "1000001307ns", "--process",
                    "70001")
    this.equal("exports a part", (done.returncode, done.stderr), (0, ""))
    calls = [event["args"]["call_id"] for event in json.loads(out.read_text())["traceEvents"] if event.get("cat") == "call" and event["ph"] in "Xb"]
    # Of process 70001: those that end at 500 or later and begin before 1300.
    this.equal("calls", sorted(calls), [1, 3, 4, 5, 6, 7])
    this.equal("counted", (counts(done.stdout)["call"], left_out(done.stdout)["call"]), (6, len(rows["call"]) - 6))
    this.equal("samples of no process", left_out(done.stdout)["sample_gpu"], len(rows["sample_gpu"]))


def check_errors(this, folder):
    (this.path("there")).write_text("mine")
    wrong = [(("--to", "excel", "-o", "x"), "no such format"), (("--to", "chrome", "-o", "there"), "exists"),
             (("--to", "chrome", "-o", "no/x.json"), "no folder"), (("--to", "chrome", "-o", "x", "--from", "soon"), "--from"),
             (("--to", "chrome", "-o", "x", "--from", "2s", "--until", "1s"), "--until"),
             (("--to", "chrome", "-o", "x", "--process", "4"), "no such process"), (("--to", "chrome", "-o", "x", "--process", "a"), "--process")]
    for options, reason in wrong:
        done = this.run(case.MLRUN, "export", folder, *options)
        this.equal(f"{options}", (done.returncode, done.stderr.count("\n"), reason in done.stderr), (125, 1, True), said=done.stderr)
    this.equal("what was there", this.path("there").read_text(), "mine")
    done = this.run(case.MLRUN, "export", this.path("nothing"), "--to", "perfetto", "-o", "x")
    this.equal("no trace", (done.returncode, done.stderr.count("\n"), "does not exist" in done.stderr), (125, 1, True), said=done.stderr)


def check_full_disk(this, folder):
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))

    for form in ("perfetto", "chrome"):
        done = this.run(case.MLRUN, "export", folder, "--to", form, "-o", "x", preexec_fn=limit)
        this.equal(f"{form}: no room", (done.returncode, done.stderr.count("\n"), "File too large" in done.stderr), (125, 1, True), said=done.stderr)


def check(this):
    folder, rows, _ = made_trace.make(this)
    before = {path.name for path in this.folder.iterdir()}
    check_choice(this, folder, rows)
    check_errors(this, folder)
    check_full_disk(this, folder)
    this.equal("nothing else", {path.name for path in this.folder.iterdir()} - before, {"part.json", "there"})
    this.equal("a plain file", stat.S_ISREG(this.path("part.json").stat().st_mode), True)


if __name__ == "__main__":
    case.run(check)
