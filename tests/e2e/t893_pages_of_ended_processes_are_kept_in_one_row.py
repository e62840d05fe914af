# SPDX-License-Identifier: Apache-2.0
"""With 64 rules there is room for the counts of 32 processes at a time. 42 processes that live for 3 s each have their pages sampled: those of the first ones
are in the rows without a pid, and all are counted once."""

from lib import bursts, case

BURSTS, BYTES = 3, 4 << 20
PROGRAM = bursts.program(BURSTS, f'block = bytearray(b"1" * {BYTES}); time.sleep(3)', 1)


def check(this):
    trace = this.trace("/usr/bin/python3", "-c", PROGRAM, options=("--preload=off", *bursts.rules("4M")))
    refused = [one["why"] for process in trace.run["placement"]["processes"] for one in process["unsampled"] if "refuses" in one["why"]]
    if refused:
        raise case.Skip(refused[0])
    rows = [row for row in trace.rows("page_node") if row["rule"] == 0]
    together = sum(row["bytes"] for row in rows if row["pid"] is None)
    this.true("rows by process have a pid", all(row["pid"] != 0 for row in rows), rows)
    this.true("at most as many processes as there are slots", len({row["pid"] for row in rows}) <= bursts.SLOTS, rows)
    this.true("of several ended processes", together >= 2 * BYTES, rows)
    everything = sum(row["bytes"] for row in rows)
    held = BURSTS * bursts.EACH * BYTES
    this.true("each once", held * 0.5 < everything < held * 2.2, (everything, rows))


if __name__ == "__main__":
    case.run(check)
