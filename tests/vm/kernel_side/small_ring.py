#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs in the guest: the same reads by dd twice, with a large enough ring and with one of a page. Writes down dd's own count, and
how many file operations were recorded and lost. Then a thread that reads on one processor and on the other in turns,
with a ring for each.

Usage: small_ring.py MLRUN-PROBES FILE FOLDER OUT"""

import json
import struct
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "e2e"))
from lib import ring_records  # noqa: E402
from lib.driven_probes import FILE_OP, LOSS, losses, record, record_stopped, records  # noqa: E402

PROBES, FILE, FOLDER, OUT = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), Path(sys.argv[4])
READ, PIECE = 0, 4096
command = f"dd if={FILE} of=/dev/null bs={PIECE}"
subprocess.run(["sh", "-c", command], check=True, stderr=subprocess.DEVNULL)  # so that nothing is missing from memory
reported = {}
for name, streams in (("large", "vfs"), ("small", "vfs,ring=4096")):
    spool = FOLDER / f"{name}.bin"
    report, said = record_stopped(PROBES, streams, spool, command)
    rows = [struct.unpack_from("<Q16xqIII", record, 48) for kind, record in records(spool) if kind == FILE_OP]
    of_file = [result for inode, result, _, op, _ in rows if inode == FILE.stat().st_ino and op == READ]
    lost, reasons = losses(spool, FILE_OP)
    reported[name] = {"counted": said.split("+")[0], "sent": len(rows), "reads_of_file": len(of_file), "bytes": sum(of_file),
                  "lost": lost, "reasons": sorted(reasons), "report": report["lost"]}
MOVES, spool = 2000, FOLDER / "moves.bin"
victim = Path(PROBES).resolve().parents[1] / "e2e" / "victims" / "two_processors_static"
report, said = record(PROBES, "block,wait,vfs", spool, f"{victim} moves {FILE} - {MOVES}", env={ring_records.VARIABLE: "1"})
mover = ring_records.workers(said)["move"]
waits = [wait for wait in ring_records.waits(spool) if wait.tid == mover.tid and mover.begin_ns < wait.on_ns < mover.end_ns]
done = [operation for operation in ring_records.operations(spool) if operation.tid == mover.tid]
reported["moves"] = {"rings": report["rings"]["count"], "in_order": [operation.offset for operation in done] == list(range(MOVES)),
                 "operations": len(done), "turns": sum(a.cpu != b.cpu for a, b in zip(done, done[1:])), "switches": mover.switches,
                 "waits": len(waits), "lost": sum(kind == LOSS for kind, _ in records(spool)),
                 "overlap": sum(b.off_ns < a.on_ns for a, b in zip(waits, waits[1:]))}
OUT.write_text(json.dumps(reported))
