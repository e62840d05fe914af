# SPDX-License-Identifier: Apache-2.0
"""mlrun doctor exits with 0 where the library works, and says so."""

from lib import case


def check(this):
    done = this.run(case.MLRUN, "doctor")
    this.equal("exit status", done.returncode, 0, said=done.stdout + done.stderr)
    this.true("it speaks of the interposer", "preload" in done.stdout.lower(), done.stdout)
    said = " ".join(done.stdout.split())
    told = ("binding memory and asking where a page is work", "is refused", "no NUMA nodes")
    this.true("it has tried to place memory", any(text in said for text in told), done.stdout)


if __name__ == "__main__":
    case.run(check)
