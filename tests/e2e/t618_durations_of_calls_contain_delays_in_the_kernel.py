# SPDX-License-Identifier: Apache-2.0
"""The interval of each of mkdir, openat, mmap, mremap, munmap, close, rename, unlink and rmdir, successful or failed,
contains the time for which the kernel delayed the call, and is within the time that the program measured around it."""

from lib import case

DELAY_NS = 5_000_000
NO_LISTENER = 77
FAILED = {("mkdir", 17): 1, ("unlink", 2): 1}


def check(this):
    folder = this.path("work")
    folder.mkdir()
    if this.run(this.victim("delayed"), folder, DELAY_NS).returncode == NO_LISTENER:
        raise case.Skip("a seccomp filter that asks another thread is refused here")
    trace = this.trace(this.victim("delayed"), folder, DELAY_NS)
    reported = [(line.split()[0], *map(int, line.split()[1:])) for line in trace.stdout.splitlines()]
    begin = reported[0][1] - trace.clock_bound_ns(reported[0][1])
    rows = [row for row in trace.rows("call") if row["ts"] >= begin and row["func"] in {name for name, *_ in reported}]
    rows.sort(key=lambda row: row["ts"])
    this.equal("calls", [row["func"] for row in rows], [name for name, *_ in reported])
    failed = [(row["func"], row["err"]) for row in rows if row["err"]]
    this.equal("that failed", {key: failed.count(key) for key in failed}, FAILED)
    for row, (name, called, held, released, back) in zip(rows, reported, strict=True):
        end, bound = row["ts"] + row["dur"], trace.clock_bound_ns(row["ts"])
        this.true(f"{name} was held up", released - held >= DELAY_NS, released - held)
        this.true(f"{name} lasts as long as it was held up", row["dur"] >= released - held - 2 * bound, (row, held, released))
        this.true(f"{name} in order", called - bound <= row["ts"] <= held + bound and released - bound <= end <= back + bound,
                  (called, row["ts"], held, released, end, back, bound))


if __name__ == "__main__":
    case.run(check)
