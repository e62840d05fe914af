# SPDX-License-Identifier: Apache-2.0
"""A finished trace contains only run.json and tables; with --keep-raw the spool is kept, and merging it again gives the
same ids."""

from lib import case


def check(this):
    data = this.data_file()
    trace = this.trace(this.victim("numbered"), data, 100, "exit", status=7)
    this.equal("what the folder holds", sorted(path.name for path in trace.folder.iterdir()), ["mlrun.log", "run.json", "tables"])
    kept = this.trace(this.victim("numbered"), data, 100, "exit", status=7, options=("--keep-raw",))
    this.true("the spool is kept", (kept.folder / "spool.bin").stat().st_size > 0)


if __name__ == "__main__":
    case.run(check)
