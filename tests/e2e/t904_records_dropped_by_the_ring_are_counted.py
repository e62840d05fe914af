# SPDX-License-Identifier: Apache-2.0
"""A ring of one page is too small for the records of direct reads: bio fragments in the spool and those counted as lost
add up to the reads. The test drives mlrun-probes directly, as mlrun does."""

import os
import re
import struct
import subprocess
from pathlib import Path

from lib import case
from lib.driven_probes import OPEN, PART, RING, losses, record_stopped, records
from lib.kernel_side import PROBES, need_block_device, need_kernel_side

READS, PIECE, SECTOR = 500, 4096, 512


def sectors_of(data, device):
    """Sectors of the file's extents on the disk; the file system's device may be a partition of it."""
    start = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}/start")
    begin = int(start.read_text()) if start.exists() else 0
    listed = subprocess.run(["filefrag", "-v", f"-b{SECTOR}", data], capture_output=True, text=True, check=True).stdout
    extents = re.findall(r"^ *\d+: *\d+\.\. *\d+: *(\d+)\.\. *(\d+):", listed, re.MULTILINE)
    return {begin + sector for first, last in extents for sector in range(int(first), int(last) + 1, PIECE // SECTOR)}


def check(this):
    need_kernel_side()
    device = need_block_device(this.folder)
    case.need_program("filefrag")
    data = this.data_file(READS * PIECE)
    subprocess.run(["sync", data], check=True)
    read = f"dd if={data} of=/dev/null bs={PIECE} iflag=direct"
    subprocess.run(["sh", "-c", read], check=True, stderr=subprocess.DEVNULL)  # so that nothing of the program itself is missing
    report, said = record_stopped(PROBES, "block,ring=4096", this.path("kernel.bin"), read)
    this.true("dd itself counts", said.startswith(f"{READS}+0 records in"), said)
    sent = [struct.unpack_from("<Q8xI", record, 80) for kind, record in records(this.path("kernel.bin")) if kind == PART]
    this.true("some were sent", len(sent) > 0)
    of_file = sectors_of(data, device)
    this.true("each is a piece of the file", all(size == PIECE and sector in of_file for sector, size in sent), sent)
    this.equal("each once", len(set(sent)), len(sent))
    lost, reasons = losses(this.path("kernel.bin"), PART)
    this.true("some were lost", lost > 0)
    this.true("why", RING in reasons and reasons <= {RING, OPEN}, reasons)
    this.equal("parts sent and lost are the reads", len(sent) + lost, READS)
    this.true("the report counts them", report["lost"] >= lost, report)


if __name__ == "__main__":
    case.run(check)
