# SPDX-License-Identifier: Apache-2.0
"""A placed program starts others. With the recorder they are placed too, also with a cleared environment; one that cannot load our
libraries starts without a message, and mlrun's own programs have no heap. A library that the user preloads stays."""

from lib import case

START = """
import os, subprocess, sys
program = sys.argv[1]
for environment in (None, {"PATH": os.environ["PATH"]}):
    print(subprocess.run([program, "known"], env=environment, capture_output=True, text=True))
print(subprocess.run([sys.argv[2], "1"], capture_output=True, text=True).stderr)
"""


def check(this):
    program, static = this.victim("places"), this.victim("numbered_static")
    trace = this.untraced_and_traced("/usr/bin/python3", "-c", START, program, static, options=("--place", "size 64K..64K -> default"))
    counts = [process["rules"][0]["matches"] for process in trace.run["placement"]["processes"]]
    this.equal("blocks of 64 KiB in the two programs", counts.count(11), 2, said=counts)


if __name__ == "__main__":
    case.run(check)
