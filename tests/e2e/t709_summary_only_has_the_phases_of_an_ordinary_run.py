# SPDX-License-Identifier: Apache-2.0
"""--summary-only --mllog: the phases have the figures of an ordinary run, the table `sum` separates them by file, and
other options that select events are refused."""

from lib import case

EPOCHS = 3
PROGRAM = """
import json, os, sys, time
log, data = open(sys.argv[1], "w"), sys.argv[2]
def say(event, epoch):
    time.sleep(0.02)  # the log counts in milliseconds
    now = int(time.time() * 1000)
    log.write(":::MLLOG " + json.dumps({"key": "epoch_start" if event == "INTERVAL_START" else "epoch_stop",
              "event_type": event, "time_ms": now, "value": None, "metadata": {"epoch_num": epoch}}) + "\\n")
    log.flush()
    time.sleep(0.02)
for epoch in range(1, int(sys.argv[3]) + 1):
    say("INTERVAL_START", epoch)
    fd = os.open(data, os.O_RDONLY)
    for i in range(100 * epoch):
        os.pread(fd, 1000, i)
    os.close(fd)
    say("INTERVAL_END", epoch)
    os.stat(data)
"""


def phases_of(trace):
    return [(row["name"], row["calls"], row["bytes_read"], row["bytes_written"]) for row in trace.rows("phase")]


def refused(this):
    for others in (["--last", "10min"], ["--fold", "10us"], ["--alloc-sample", "64K"],
                   ["--kprobes"]):
        out = this.path("refused")
        done = this.run(case.MLRUN, "--preload", "-o", out, "--summary-only", *others, "true")
        this.equal(f"exit status with {others[0]}", done.returncode, 125, said=done.stderr)
        this.true(f"{others[0]} is refused in one line", done.stderr.count("\n") == 1 and others[0] in done.stderr,
                  done.stderr)
        this.true("nothing is left behind", not out.exists())


def check(this):
    log, data = this.path("train.log"), this.data_file()
    command = ("/usr/bin/python3", "-I", "-S", "-c", PROGRAM, log, data, EPOCHS)
    whole = this.trace(*command, options=["--lossless", "--mllog", str(log)])
    only = this.trace(*command, options=["--lossless", "--summary-only", "--mllog", str(log)])
    this.equal("phases", phases_of(only), phases_of(whole))
    names = {row["phase_id"]: row["name"] for row in only.rows("phase")}
    reads = {names[row["phase_id"]]: row["calls"] for row in only.rows("sum")
             if row["func"] == "pread" and only.paths.get(row["file_id"]) == data and row["phase_id"]}
    this.equal("reads by phase", reads, {f"epoch {epoch}": 100 * epoch for epoch in range(1, EPOCHS + 1)})
    outside = [row for row in only.rows("sum") if row["func"] == "stat" and only.paths.get(row["file_id"]) == data]
    this.true("calls between the phases are in none", outside and all(not row["phase_id"] for row in outside), outside)
    this.equal("coverage", only.rows("coverage"), [])
    this.true("the report has the phases", "PHASES" in this.run(case.MLRUN, "report", "--full", only.folder).stdout)
    refused(this)


if __name__ == "__main__":
    case.run(check)
