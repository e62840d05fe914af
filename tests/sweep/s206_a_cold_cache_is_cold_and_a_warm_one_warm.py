# SPDX-License-Identifier: Apache-2.0
"""cache = "cold" makes the run read its file from the device, cache = "warm" reads none of it, by the kernel's counts. Without the
privilege it is refused once, and nothing is created."""

import os
import subprocess

import kit
from kit import case

SIZE = 4 << 20
PLAN = """repetitions = 3
workloads = ["cat {file}"]
[parameters]
file = ["@FILE@"]
[[configuration]]
name = "cold"
dry = true
cache = "cold"
[[configuration]]
name = "warm"
dry = true
cache = "warm"
"""


def check(this):
    case.need_root()
    case.need_program("setpriv")
    data = this.path("data")
    data.write_bytes(os.urandom(SIZE))
    kind = subprocess.run(["stat", "-f", "-c", "%T", data], capture_output=True, text=True, check=True).stdout.strip()
    this.folder.chmod(0o777)
    plan = PLAN.replace("@FILE@", str(data))
    sweep = kit.Sweep(this, plan)
    refused = this.run("setpriv", "--reuid=65534", "--clear-groups", *sweep.command())
    this.equal("exit status without the privilege", refused.returncode, 125, said=refused.stderr)
    this.equal("lines", len(refused.stderr.splitlines()), 1, said=refused.stderr)
    this.true("it names the file", "/proc/sys/vm/drop_caches" in refused.stderr, refused.stderr)
    this.true("nothing is created", not sweep.out.exists())
    if kind in ("tmpfs", "overlayfs") or not os.access("/proc/sys/vm/drop_caches", os.W_OK):
        raise case.Skip(f"needs a disk and the privilege to drop its cache (the file system is {kind})")
    sweep.run()
    cold, warm = sweep.figure("read_bytes", "cold"), sweep.figure("read_bytes", "warm")
    this.true("cold runs read the file from the device", all(read >= SIZE for read in cold), cold)
    this.true("warm runs do not", all(read < SIZE / 4 for read in warm), warm)
    this.equal("input blocks are of 512 bytes", [read / 512 for read in cold], sweep.figure("input_blocks", "cold"))


if __name__ == "__main__":
    case.run(check)
