# SPDX-License-Identifier: Apache-2.0
"""Five million distinct names: the merger's memory stays below 512 MiB by the kernel's count, and the table `file` has
them all."""

import resource

import pyarrow.parquet as parquet

from lib import case

NAMES, OPENED = 5_000_000, 1000
BYTES_MAX = 512 << 20


def check(this):
    folder, out = this.path("many"), this.new_trace()
    folder.mkdir()
    command = this.command(this.victim("many_names"), folder, NAMES, OPENED, out=out,
                           options=["--lossless", "--preload=files", "--defer-merge"])
    this.equal("exit status", this.run(*command, timeout=600).returncode, 0)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    merged = this.run(case.MLRUN, "recover", out, timeout=600)
    this.equal("exit status of the merge", merged.returncode, 0, said=merged.stderr)
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10
    print(f"the merger took {most >> 20} MiB ({before >> 10} MiB before)")
    this.true("the merger's memory", most < BYTES_MAX, most)
    rows = sum(parquet.ParquetFile(part).metadata.num_rows for part in (out / "tables" / "file").glob("*.parquet"))
    this.true("rows of the table file", NAMES <= rows < NAMES + 2 * OPENED, rows)


if __name__ == "__main__":
    case.run(check)
