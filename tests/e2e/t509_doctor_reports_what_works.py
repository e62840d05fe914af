# SPDX-License-Identifier: Apache-2.0
"""mlrun doctor exits with 0 where the library works, and says so; it reports each kind of memory."""

from lib import case


def check(this):
    done = this.run(case.MLRUN, "doctor")
    this.equal("exit status", done.returncode, 0, said=done.stdout + done.stderr)
    this.true("it speaks of the interposer", "preload" in done.stdout.lower(), done.stdout)
    said = " ".join(done.stdout.split())
    outcomes = ("binding memory and asking where a page is work", "is refused", "no NUMA nodes")
    this.true("it has tried to place memory", any(text in said for text in outcomes), done.stdout)
    for kind in ("dax-kmem", "highest-capacity", "lowest-latency", "hbw", "regular"):
        this.true(f"{kind} memory is reported", kind in said or "no NUMA nodes" in said or "/sys is hidden" in said, done.stdout)


if __name__ == "__main__":
    case.run(check)
