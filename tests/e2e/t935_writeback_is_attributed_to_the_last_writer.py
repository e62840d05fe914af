# SPDX-License-Identifier: Apache-2.0
"""With system calls as the fallback for file operations, what kernel threads write back of a file that one program made
dirty and another overwrote is attributed to the other program."""

import os
import shutil
import subprocess
import time

from lib import case
from lib.kernel_side import need_block_device, need_kernel_side

PROGRAM = """dd if=/dev/zero of="$0" bs=64k count=16 2>/dev/null
"$1" if=/dev/zero of="$0" bs=4k count=3 seek=7 conv=notrunc 2>/dev/null
touch "$0.over"; until [ -e "$0.clean" ]; do sleep 0.05; done"""
WRITEBACK = 1024
BYTES = 1 << 20
TRIES = 3  # another process may call sync between the two


def written_back(this, file, second):
    """What kernel threads wrote of it, according to the trace."""
    for name in (file, f"{file}.over", f"{file}.clean"):
        this.path(name).unlink(missing_ok=True)
    out = this.new_trace()
    command = this.command("sh", "-c", PROGRAM, file, second, out=out, options=("--preload=off", "--kprobes=require,block,vfs"))
    with subprocess.Popen([str(word) for word in command], stderr=subprocess.PIPE, text=True) as running:
        try:
            while not this.path(f"{file}.over").exists() and running.poll() is None:
                time.sleep(0.05)
            os.sync()
        finally:
            this.path(f"{file}.clean").touch()
        said = running.communicate(timeout=60)[1]
    this.equal("exit status", running.returncode, 0, said=said)
    inode = file.stat().st_ino
    return [row for row in this.opened(out).rows("block_part")
            if (row["ino"], row["op"]) == (inode, "write") and row["flags"] & WRITEBACK]


def check(this):
    need_kernel_side()
    need_block_device(this.folder)
    os.sync()
    file, second = this.path("over"), this.path("last_writer")
    shutil.copy(shutil.which("dd"), second)
    for _ in range(TRIES):
        parts = written_back(this, file, second)
        if sum(row["bytes"] for row in parts) == BYTES:
            break
    this.equal("bytes, once", sum(row["bytes"] for row in parts), BYTES)
    this.equal("whose they are", {row["comm"] for row in parts}, {"last_writer"})


if __name__ == "__main__":
    case.run(check)
