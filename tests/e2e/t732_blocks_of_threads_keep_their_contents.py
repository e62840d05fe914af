# SPDX-License-Identifier: Apache-2.0
"""Four threads, and a forked child with four, allocate, resize, exchange and free blocks of up to 6 MiB in mlrun's heap. Every block
holds what was written into it, has its alignment, and zeros where it is to have zeros."""

from lib import case


def check(this):
    for rule in ("size >= 4K -> default", "size >= 64K -> huge" if case.has_huge_pages() else "-> default", "size >= 4K -> default budget 4M"):
        out = this.new_trace()
        done = this.run(*this.command(this.victim("places_storm"), 500, 4, "fork", out=out, options=("--preload=off", "--place", rule)))
        this.equal("it says", (done.stdout, done.returncode), ("bad=0 misaligned=0\n", 0), said=done.stderr)
        processes = this.opened(out).run["placement"]["processes"]
        this.equal("processes that placed blocks", len(processes), 2, said=processes)


if __name__ == "__main__":
    case.run(check)
