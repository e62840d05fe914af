# SPDX-License-Identifier: Apache-2.0
"""MLLOG times are truncated to milliseconds: what a program writes just before the line that ends an epoch belongs to
that epoch, in an ordinary run and with --summary-only; lines of an earlier run make no phases of this one."""

import json

from lib import case

EPOCHS, BYTES = 8, 1_000_000
PROGRAM = """
import json, os, sys, time
log, out = open(sys.argv[1], "a"), sys.argv[2]
def say(key, event, **metadata):
    text = ":::MLLOG " + json.dumps({"key": key, "event_type": event, "time_ms": int(time.time() * 1000), "value": None,
                                     "metadata": metadata}) + "\\n"
    log.write(text)
    log.flush()
    return len(text)
say("run_start", "INTERVAL_START")
lines = []
for epoch in range(1, int(sys.argv[3]) + 1):
    lines.append(say("epoch_start", "INTERVAL_START", epoch_num=epoch))
    time.sleep(0.0123)
    fd = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.write(fd, bytes(int(sys.argv[4])))
    os.close(fd)
    say("epoch_stop", "INTERVAL_END", epoch_num=epoch)
say("run_stop", "INTERVAL_END")
print(json.dumps(lines))
"""


def check(this):
    log, out = this.path("train.log"), this.path("out.bin")
    command = ("/usr/bin/python3", "-I", "-S", "-c", PROGRAM, log, out, EPOCHS, BYTES)
    for more in ([], ["--summary-only"], []):  # the second and the third find lines of those before
        trace = this.trace(*command, options=["--lossless", *more, "--mllog", str(log)])
        lines = json.loads(trace.stdout.splitlines()[0])
        phases = {row["name"]: row for row in trace.rows("phase")}
        name = "with " + more[0] if more else "in an ordinary run"
        this.equal(f"phases {name}", sorted(phases), sorted(["run"] + [f"epoch {i + 1}" for i in range(EPOCHS)]))
        # The start line is written within the epoch, the end line after it. If the program is delayed between its time stamp and
        # the line, the bound stays at the end of the millisecond, and the line before may count for the epoch.
        for i, line in enumerate(lines):
            epoch = phases[f"epoch {i + 1}"]
            room = 2 * line if epoch["error_ns"] else 0
            this.true(f"bytes of epoch {i + 1} {name}", abs(epoch["bytes_written"] - BYTES - line) <= room, (epoch, line))
        errors = [row["error_ns"] for row in phases.values()]
        this.true(f"most bounds are exact {name}", errors.count(0) > len(errors) / 2 and max(errors) < 2_000_000, errors)
    outside = [row for row in trace.rows("coverage") if "MLLOG" in row["subject"]]
    this.equal("what was left out", [row["kernel"] - row["seen"] for row in outside], [2 * (EPOCHS + 1)])


if __name__ == "__main__":
    case.run(check)
