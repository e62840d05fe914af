# SPDX-License-Identifier: Apache-2.0
"""--mllog with the kernel side: the split of each phase's I/O time is the sum over the table `call` of the calls on
files that ended in it, in the process of the log and its child; the report has a line for each epoch."""

import json
import subprocess

from lib import case, labels
from lib.kernel_side import need_block_device, need_kernel_side

EPOCHS, SIZE, PIECE = 3, 1 << 20, 64 << 10
# Epoch n reads the file n times past the page cache, by itself and in a child; between the epochs it is read, too.
PROGRAM = """
import json, mmap, os, sys, time
log, data, epochs, size, piece = open(sys.argv[1], "a"), sys.argv[2], *map(int, sys.argv[3:6])
buffer = mmap.mmap(-1, piece)
def say(key, event, **metadata):
    log.write(":::MLLOG " + json.dumps({"key": key, "event_type": event, "time_ms": int(time.time() * 1000), "value": None,
                                        "metadata": metadata}) + "\\n")
    log.flush()
def read():
    fd = os.open(data, os.O_RDONLY | os.O_DIRECT)
    for offset in range(0, size, piece):
        os.preadv(fd, [buffer], offset)
    os.close(fd)
say("run_start", "INTERVAL_START")
for epoch in range(1, epochs + 1):
    say("epoch_start", "INTERVAL_START", epoch_num=epoch)
    for turn in range(epoch):
        read()
    child = os.fork()
    if child == 0:
        read()
        os._exit(0)
    os.waitpid(child, 0)
    say("epoch_stop", "INTERVAL_END", epoch_num=epoch)
    read()
say("run_stop", "INTERVAL_END")
"""
SUMMED = (*labels.LABELS, "device_shared_ns")


def check(this):
    need_kernel_side()
    need_block_device(this.folder)
    log, data = this.path("train.log"), this.data_file(SIZE)
    subprocess.run(["sync", data], check=True)
    trace = this.trace("/usr/bin/python3", "-I", "-S", "-c", PROGRAM, log, data, EPOCHS, SIZE, PIECE,
                       options=("--kprobes=block,wait", "--lossless", "--mllog", str(log)))
    kinds = {row["file_id"]: row["kind"] for row in trace.rows("file")}
    # Of group files: this program has no other files but the null device, and waits name none.
    calls = [row for row in trace.rows("call") if kinds.get(row["file_id"]) in ("regular", "directory", "link", "block", "unknown")]
    splits = {row["id"]: row for row in trace.rows("summary_split") if row["scope"] == "phase"}
    phases = {row["phase_id"]: row for row in trace.rows("phase")}
    this.equal("phases", sorted(row["name"] for row in phases.values()), ["epoch 1", "epoch 2", "epoch 3", "run"])
    this.equal("phases with a split", sorted(splits), sorted(phases))
    for phase_id, phase in phases.items():
        inside = [row for row in calls if phase["ts"] <= row["ts"] + row["dur"] < phase["ts"] + phase["dur"]]
        known = [row for row in inside if row["own_ns"] is not None]
        wanted = {"calls": len(known), "time_ns": sum(row["dur"] for row in known)}
        wanted |= {label: sum(row[label] for row in known) for label in SUMMED}
        got = splits[phase_id]
        this.equal(f"the split of {phase['name']}", {key: got[key] for key in wanted}, wanted)
        this.equal(f"{phase['name']}: calls of the table phase", phase["calls"], len(inside))
        this.equal(f"{phase['name']}: adds up", sum(got[label] for label in labels.LABELS), got["time_ns"])
        reads = [row for row in inside if row["func"] in ("preadv", "preadv2") and row["ret"] == PIECE]
        turns = int(phase["name"].split()[1]) + 1 if phase["name"] != "run" else sum(range(1, EPOCHS + 1)) + 2 * EPOCHS
        this.equal(f"{phase['name']}: reads", len(reads), turns * SIZE // PIECE)
        this.true(f"{phase['name']}: some of it on the device", got["device_ns"] > 0, got)
    report = this.run(case.MLRUN, "report", "--full", trace.folder).stdout
    table = report[report.index("WHERE I/O TIME WENT"):].split("\n\n")[0]
    for phase in phases.values():
        this.true(f"the report has {phase['name']}", f"\n  {phase['name']} " in table, table)
    reported = json.loads(this.run(case.MLRUN, "report", "--json", trace.folder).stdout)["splits"]
    this.equal("JSON", {row["id"]: row["device_ns"] for row in reported if row["scope"] == "phase"},
               {phase_id: row["device_ns"] for phase_id, row in splits.items()})


if __name__ == "__main__":
    case.run(check)
