# SPDX-License-Identifier: Apache-2.0
"""Files by time: a data set in many folders is one row, imports are another; paths that do not exist are separate from files;
order, mean size and repetition of reads are those that the program made."""

import json

from lib import case

FOLDERS, FILES, SIZE, EPOCHS = 60, 20, 3000, 2
READS = """
import os, sys
root = sys.argv[1]
for epoch in range(2):
    for folder in sorted(os.listdir(root)):
        for name in sorted(os.listdir(os.path.join(root, folder))):
            with open(os.path.join(root, folder, name), "rb", buffering=0) as file:
                while file.read(1000):
                    pass
for i in range(300):
    os.path.exists(os.path.join(root, "0", f"not_{i}"))
"""


def check(this):
    root = this.path("set")
    for folder in range(FOLDERS):
        (root / str(folder)).mkdir(parents=True)
        for file in range(FILES):
            (root / str(folder) / f"{file}.bin").write_bytes(bytes(SIZE))
    trace = this.trace("/usr/bin/python3", "-c", READS, root)
    report = json.loads(this.run(case.MLRUN, "report", "--json", trace.folder).stdout)
    first = report["file_trees"][0]
    this.equal("row of the set", {key: first[key] for key in ("kind", "path", "missing", "end_checks")},
               {"kind": "folder", "path": str(root), "missing": 300, "end_checks": FOLDERS * FILES * EPOCHS})
    this.equal("files, not their folders", (first["files"], first["folders"]), (FOLDERS * FILES, FOLDERS))
    this.equal("bytes", first["totals"]["bytes_read"], FOLDERS * FILES * SIZE * EPOCHS)
    this.equal("read in order", (first["sequential_bytes"], first["random_bytes"]), (FOLDERS * FILES * SIZE * EPOCHS, 0))
    this.equal("read over", first["followed_bytes"] / first["distinct_bytes"], EPOCHS)
    this.equal("kinds", [row["kind"] for row in report["file_trees"]].count("imports"), 1)
    text = this.run(case.MLRUN, "report", trace.folder).stdout
    row = next(line for line in text.splitlines() if f"{FOLDERS} folders, {FOLDERS * FILES:,} files" in line)
    this.true("the row as printed", "in order" in row and "2.0 x" in row and "0.98 KiB" in row, row)


if __name__ == "__main__":
    case.run(check)
