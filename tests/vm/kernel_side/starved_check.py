#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The idle time of starved_guest.sh's GPU is blamed on the worker that reads, on its file, and on the device. Usage:
starved_check.py OUT"""

from traces import MS, Run, check, check_time, equal, finish

READS, READ_NS = 100, 20 * MS
LABELS = ("own_ns", "runq_ns", "vfs_ns", "queue_ns", "device_ns", "remote_ns", "wait_ns")


def main():
    run = Run("starved")
    reads = [call for call in run.calls.values() if call["func"].startswith("preadv") and
             run.trace.paths.get(call["file_id"]) == "/mnt/n/samples"]
    equal("reads", len(reads), READS)
    equal("of one worker", len({call["pid"] for call in reads}), 1)
    pieces = run.trace.rows("gpu_idle")
    whole = sum(piece["dur"] for piece in pieces)
    blamed = [piece for piece in pieces if piece["label"] == "file" and piece["call_id"] in {call["call_id"] for call in reads}]
    for piece in blamed:
        equal("the worker", piece["pid"], reads[0]["pid"])
        equal("its file", run.trace.paths.get(piece["file_id"]), "/mnt/n/samples")
        labels = [piece[label] for label in LABELS]
        check("the split adds up", None not in labels and sum(labels) == piece["dur"], piece)
    time = sum(piece["dur"] for piece in blamed)
    device = sum(piece["device_ns"] for piece in blamed)
    slow = sum(call["dur"] for call in reads)
    said = f"{time / MS:.1f} of {whole / MS:.1f} ms, {device / MS:.1f} of these for the device; the reads took {slow / MS:.1f} ms"
    check("all of the reads", time > 0.9 * slow, said)
    check_time("95 % of the idle time", time >= 0.95 * whole, said)
    check_time("on the device", device >= 0.9 * time, said)
    check_time("as long as it takes", device >= 0.9 * READS * READ_NS, said)
    finish("a GPU that waits for a worker's reads: " + said)


main()
