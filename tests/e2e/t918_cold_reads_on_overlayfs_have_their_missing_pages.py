# SPDX-License-Identifier: Apache-2.0
"""On overlayfs, as in containers, the pages and blocks of a file are those of a file below: a cold read has its missing
pages and device time under the file's own path, a warm read has none, with the library and without."""

import os
import subprocess

from lib import case
from lib.kernel_side import need_kernel_side
from lib.trace import Trace

SIZE, PAGE = 8 << 20, 4096
# In a mount namespace of its own; the arguments are the folders, then the command.
IN_OVERLAY = 'mount -t overlay overlay -o "lowerdir=$1,upperdir=$2,workdir=$3" "$4" && shift 4 && exec "$@"'


def in_overlay(this, *command):
    folders = [this.path(name) for name in ("lower", "upper", "work", "merged")]
    for folder in folders:
        folder.mkdir(exist_ok=True)
    return ["unshare", "-m", "sh", "-c", IN_OVERLAY, "sh", *map(str, folders), *map(str, command)]


def make_cold(path):
    with open(path, "rb") as data:
        os.fsync(data.fileno())
        os.posix_fadvise(data.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def pages_of(trace, path):
    """Rows of the file's reads, their missing and other added pages, and the bytes read from devices for it."""
    table = "call" if trace.rows("call") else "vfs"
    name = "func" if table == "call" else "op"
    rows = [row for row in trace.rows(table) if row[name] == "read" and trace.paths.get(row["file_id"]) == path]
    inner = [row for row in rows if table == "vfs" and row["outer_op_id"] is not None]
    parts = [row for row in trace.rows("block_part") if trace.paths.get(row["file_id"]) == path and row["op"] == "read"]
    added = [sum(row[column] or 0 for row in rows) for column in ("miss_pages", "ra_pages")]
    return len(rows) - len(inner), sum(added), added[0], sum(row["bytes"] for row in parts)


def check(this):
    need_kernel_side()
    case.need_mounts()
    if subprocess.run(in_overlay(this, "true"), capture_output=True, check=False).returncode != 0:
        raise case.Skip("overlayfs cannot be mounted here")
    data = this.path("lower") / "data"
    data.write_bytes(os.urandom(SIZE))
    path = str(this.path("merged") / "data")
    for options in (("--preload", "--kprobes"), ("--preload=off", "--kprobes=block,wait,vfs")):
        for is_cold in (True, False):
            out = this.new_trace()
            if is_cold:
                make_cold(data)
            mlrun = this.command("dd", f"if={path}", "of=/dev/null", "bs=64k", out=out, options=options)
            done = this.run(*in_overlay(this, *mlrun))
            this.equal("exit status", done.returncode, 0, said=done.stderr)
            trace = Trace(out)
            reads, added, missing, read = pages_of(trace, path)
            this.equal(f"reads of {options}", reads, SIZE // 65536 + 1)
            reported = {row["path"]: row["missing_bytes"] + row["ahead_bytes"] for row in trace.rows("summary_file")}
            this.equal(f"the summary's, {options}", reported.get(path), added * PAGE)
            this.equal(f"bytes that devices read for pages that were added, {options}", read, added * PAGE)
            # A system that is short of memory takes a few pages back in between.
            this.true(f"pages that were added, {options}", added >= SIZE // PAGE if is_cold else added < SIZE // PAGE // 10, added)
            this.true(f"missing ones among them, {options}", missing > 0 or not is_cold, missing)


if __name__ == "__main__":
    case.run(check)
