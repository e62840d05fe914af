# SPDX-License-Identifier: Apache-2.0
"""In a cgroup with a tenth of a processor the samples have its limit, and as much throttling as cpu.stat says."""

import os
from pathlib import Path

from lib import case


class Limited:
    """A cgroup, of either version, with a tenth of a processor."""

    def __init__(self):
        case.need_root()
        name = f"mlrun-t574-{os.getpid()}"
        self.folder, self.is_version_1 = Path("/sys/fs/cgroup/cpu") / name, True
        if not self.folder.parent.exists():
            self.folder, self.is_version_1 = Path("/sys/fs/cgroup") / name, False
        try:
            self.folder.mkdir()
        except OSError as error:
            raise case.Skip(f"no cgroup can be made here: {error}") from error

    def __enter__(self):
        try:
            if self.is_version_1:
                (self.folder / "cpu.cfs_period_us").write_text("100000")
                (self.folder / "cpu.cfs_quota_us").write_text("10000")
            else:
                (self.folder / "cpu.max").write_text("10000 100000")
        except OSError as error:
            self.folder.rmdir()
            raise case.Skip(f"this cgroup takes no limit: {error}") from error
        return self

    def __exit__(self, *_):
        self.folder.rmdir()

    def throttled(self):
        lines = dict(line.split() for line in (self.folder / "cpu.stat").read_text().splitlines())
        ns = int(lines["throttled_time"]) if self.is_version_1 else int(lines["throttled_usec"]) * 1000
        return int(lines["nr_throttled"]), ns


def check(this):
    out = this.new_trace()
    with Limited() as limited:
        procs = limited.folder / "cgroup.procs"
        done = this.run(*this.command("timeout", "6", "sh", "-c", "while :; do :; done", out=out),
                        preexec_fn=lambda: procs.write_text(str(os.getpid())))
        this.equal("exit status", done.returncode, 124, said=done.stderr)
        times, ns = limited.throttled()
    rows = this.opened(out).rows("sample_machine")
    this.equal("the limit", {row["cpu_quota_thousandths"] for row in rows}, {100})
    told_times, told_ns = sum(row["throttled"] for row in rows), sum(row["throttled_ns"] for row in rows)
    this.true("it was throttled", times > 5 and told_times > 5, (times, told_times))
    this.true("as much as the kernel says", told_times <= times and told_ns <= ns, (told_times, times, told_ns, ns))


if __name__ == "__main__":
    case.run(check)
