#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs in the guest: the same reads by dd twice, with a ring that holds what they make, and with one of a page. Writes down what dd
itself counted, and how many operations on files were sent and lost.

Usage: small_ring.py MLRUN-PROBES FILE FOLDER OUT"""

import json
import struct
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "e2e"))
from lib.driven_probes import FILE_OP, losses, record_stopped, records  # noqa: E402

PROBES, FILE, FOLDER, OUT = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), Path(sys.argv[4])
READ, PIECE = 0, 4096
command = f"dd if={FILE} of=/dev/null bs={PIECE}"
subprocess.run(["sh", "-c", command], check=True, stderr=subprocess.DEVNULL)  # so that nothing is missing from memory
told = {}
for name, streams in (("large", "vfs"), ("small", "vfs,ring=4096")):
    spool = FOLDER / f"{name}.bin"
    report, said = record_stopped(PROBES, streams, spool, command)
    rows = [struct.unpack_from("<Q16xqIII", record, 48) for kind, record in records(spool) if kind == FILE_OP]
    of_file = [result for inode, result, _, op, _ in rows if inode == FILE.stat().st_ino and op == READ]
    lost, reasons = losses(spool, FILE_OP)
    told[name] = {"counted": said.split("+")[0], "sent": len(rows), "reads_of_file": len(of_file), "bytes": sum(of_file),
                  "lost": lost, "reasons": sorted(reasons), "report": report["lost"]}
OUT.write_text(json.dumps(told))
