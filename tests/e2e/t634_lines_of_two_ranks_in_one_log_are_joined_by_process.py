# SPDX-License-Identifier: Apache-2.0
"""Two ranks write one MLLOG file with overlapping epochs: each phase lasts from its own start to its own end, and has
the reads of its own process."""

import json

from lib import case

PROGRAM = """
import json, os, sys, time
log, data = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT), sys.argv[2]
def say(key, event, **metadata):
    os.write(log, (":::MLLOG " + json.dumps({"key": key, "event_type": event, "time_ms": int(time.time() * 1000), "value": None,
                                             "metadata": metadata}) + "\\n").encode())
    return time.monotonic_ns()
def rank(delay, size):
    time.sleep(delay)
    begin = say("epoch_start", "INTERVAL_START", epoch_num=1)
    with open(data, "rb", buffering=0) as file:
        file.read(size)
    time.sleep(0.2)
    return begin, say("epoch_stop", "INTERVAL_END", epoch_num=1)
pids = []
for number in range(2):
    pid = os.fork()
    if pid == 0:
        begin, end = rank(0.1 * number, 1000 * (number + 1))
        os.write(1, (json.dumps({"pid": os.getpid(), "begin": begin, "end": end, "bytes": 1000 * (number + 1)}) + "\\n").encode())
        os._exit(0)
    pids.append(pid)
for pid in pids:
    os.waitpid(pid, 0)
"""
SLEEP_NS = 200_000_000
MILLISECOND_NS = 1_000_000  # to which a line is cut


def check(this):
    log, data = this.path("train.log"), this.data_file()
    trace = this.trace("/usr/bin/python3", "-I", "-S", "-c", PROGRAM, log, data, options=["--lossless", "--mllog", str(log)])
    ranks = {line["pid"]: line for line in map(json.loads, trace.stdout.splitlines()) if line}
    pids = {row["proc_id"]: row["pid"] for row in trace.rows("process")}
    phases = trace.rows("phase")
    this.equal("phases", [phase["name"] for phase in phases], ["epoch 1", "epoch 1"])
    for phase in phases:
        rank = ranks.get(pids.get(phase["proc_id"]))
        this.true("it is one rank's", rank is not None, (phase, ranks))
        room = MILLISECOND_NS + phase["error_ns"]
        this.true("it begins before its line is written", phase["ts"] <= rank["begin"] + room, (phase, rank))
        this.true("it lasts as long as its process slept", phase["dur"] >= SLEEP_NS - 2 * room, (phase, rank))
        this.true("it ends with its own line", phase["ts"] + phase["dur"] <= rank["end"] + room, (phase, rank))
        this.equal("bytes read", phase["bytes_read"], rank["bytes"])


if __name__ == "__main__":
    case.run(check)
