# SPDX-License-Identifier: Apache-2.0
"""ftw, nftw and fts open and read folders inside libc without rows, and coverage has the number of walks. A jump out of
a callback works as untraced. scandir and glob have rows and are not in coverage."""

import re

from lib import case

OPENS = re.compile(r'openat\([^,]+, "([^"]+)"')


def check(this):
    tree = this.path("tree")
    for folder in ("one", "two"):
        (tree / folder).mkdir(parents=True)
        (tree / folder / "file").write_text("x")
    case.need_program("strace")
    log = this.path("strace.log")
    this.run("strace", "-e", "trace=openat", "-o", log, this.victim("walks"), tree)
    opened = [path for path in OPENS.findall(log.read_text()) if "tree" in path or path in ("one", "two")]
    this.true("the kernel sees folders opened", len(opened) >= 6, opened)
    trace = this.untraced_and_traced(this.victim("walks"), tree)
    this.equal("rows of the tree", [call for call in trace.calls if "tree" in call.path], [])
    reported = [row["kernel"] for row in trace.rows("coverage") if "walks through folders" in row["subject"]]
    this.equal("walks that coverage tells", reported, [3])
    without = this.trace(this.victim("walks"), tree, options=["--preload=allocs"])
    this.equal("where files are not recorded", without.rows("coverage"), [])
    listed = this.trace(this.victim("hooks_folders"), tree)
    this.equal("what scandir and its like leave out", listed.rows("coverage"), [])


if __name__ == "__main__":
    case.run(check)
