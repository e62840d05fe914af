# SPDX-License-Identifier: Apache-2.0
"""Where system calls stand in for file operations: of a file that one program made dirty and another wrote over, what kernel threads write
to the disk later is the other one's."""

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


def check(this):
    need_kernel_side()
    need_block_device(this.folder)
    os.sync()
    file, second = this.path("over"), this.path("last_writer")
    shutil.copy(shutil.which("dd"), second)
    out = this.new_trace()
    options = ("--preload=off", "--kprobes=require,block,vfs")
    command = this.command("sh", "-c", PROGRAM, file, second, out=out, options=options)
    with subprocess.Popen([str(word) for word in command], stderr=subprocess.PIPE, text=True) as running:
        try:
            while not this.path("over.over").exists() and running.poll() is None:
                time.sleep(0.05)
            os.sync()
        finally:
            this.path("over.clean").touch()
        said = running.communicate(timeout=60)[1]
    this.equal("exit status", running.returncode, 0, said=said)
    trace = this.opened(out)
    inode = file.stat().st_ino
    parts = [row for row in trace.rows("block_part") if (row["ino"], row["op"]) == (inode, "write") and row["flags"] & WRITEBACK]
    this.equal("bytes, once", sum(row["bytes"] for row in parts), 1 << 20)
    this.equal("whose they are", {row["comm"] for row in parts}, {"last_writer"})


if __name__ == "__main__":
    case.run(check)
