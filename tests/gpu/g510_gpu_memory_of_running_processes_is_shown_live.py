# SPDX-License-Identifier: Apache-2.0
"""--kprobes=cuda --live: while two processes allocate and release GPU memory, the table shows what each holds, its
allocations and its failures; a process that ends or executes another program holds nothing any more. The trace has the
same figures."""

import re
import time
from pathlib import Path

import uprobe_case
from lib import case
from lib.killed_collector import wait_for

MIB, GIB = 1 << 20, 1 << 30
ROW = re.compile(r"^ *(\d+)  +(\d.*?iB|\d+ B)  +(\d.*?iB|\d+ B)  +(\d.*?iB|\d+ B)  +(\d+)  +(\d+)  +(\d+)  +(\d+)  (\S+) +(\S+) +(\S.*)$")


class Live:
    """The newest block of the table."""

    def __init__(self, this):
        self.this, self.path = this, this.path("live")
        self.file = open(self.path, "w", encoding="utf-8")  # noqa: SIM115

    def rows(self):
        blocks = self.path.read_text().split("\n\n")
        whole = [block for block in blocks if block.endswith("\n") or block != blocks[-1]]
        found = {}
        for line in whole[-1].splitlines()[1:] if whole else ():
            match = ROW.match(line)
            if match:
                found[int(match[1])] = match.groups()[1:]
        return found

    def wait_for(self, what, pid, wanted):
        try:
            wait_for(lambda: (self.rows().get(pid) or (None,) * 10)[:len(wanted)] == wanted if wanted else pid not in self.rows(), 60)
        except Exception as error:
            raise AssertionError(f"{what}: {self.rows()}, wanted {pid}: {wanted}") from error


def check(this):
    uprobe_case.need_uprobes()
    live = Live(this)
    with uprobe_case.victim(this) as one, uprobe_case.victim(this) as other:
        before = one.do("alloc(1000)")
        seen = uprobe_case.Observation(this, "--pid", f"{one.pid},{other.pid}", "--live", "200ms", stdout=live.file)
        wait_for(lambda: "no process with calls about GPU memory\n" in live.path.read_text(), 60)
        first = one.do(f"alloc({GIB})")
        one.do(f"alloc({3 * MIB})")
        live.wait_for("two blocks", one.pid, ("1.00 GiB", "0 B", "0 B", "2", "0", "0", "0"))
        this.equal("its GPU: the context was made before", live.rows()[one.pid][-1], "?")
        this.equal("the other has not called", other.pid in live.rows(), False)
        this.equal("its name", live.rows()[one.pid][-2], Path(f"/proc/{one.pid}/comm").read_text().strip())
        one.do(f"free({first})")
        one.do(f"alloc({1 << 60})")
        one.do(f"free({before})")
        one.do(f"given('cuMemAllocManaged', c_size_t({2 * MIB}), 1)")
        one.do(f"given('cuMemAllocHost_v2', c_size_t({5 * MIB}))")
        other.do("given('cuCtxCreate_v2', 0, 1)")
        other.do(f"alloc({7 * MIB})")
        wanted = ("3.00 MiB", "2.00 MiB", "5.00 MiB", "4", "2", "1", "1")
        live.wait_for("releases, what failed and what was there before", one.pid, wanted)
        live.wait_for("the other process", other.pid, ("7.00 MiB", "0 B", "0 B", "1", "0", "0", "0"))
        this.equal("its GPU: the context was made meanwhile", live.rows()[other.pid][-1], "1")
        this.equal("who holds most comes first", next(iter(live.rows())), other.pid)
        other.kill()
        live.wait_for("of one that has ended", other.pid, None)
        live.wait_for("of the one that goes on", one.pid, wanted)
        shown = live.path.read_text().count("GPU memory asked for since")
        time.sleep(2)
        more = live.path.read_text().count("GPU memory asked for since") - shown
        this.true("blocks in two seconds", 1 <= more <= 11, more)
        trace = seen.end()
    uprobe_case.no_loss(this, trace)
    rows = trace.rows("gpu_memory")
    counted = {kind: sum(row["operation"] == kind for row in rows if row["pid"] == one.pid) for kind in ("allocation", "release")}
    this.equal("the same in the trace", counted, {"allocation": 4, "release": 2})
    for options, problem in ((["--kprobes", "--pid", "1"], "add --kprobes=cuda"), (["true"], "--live goes with"),
                             (["--kprobes=cuda", "--pid", "1"], None)):
        done = this.run(case.MLRUN, "--live", "1ms" if problem is None else "2", *options)
        this.equal("exit status", done.returncode, 125, said=done.stderr)
        this.true("one line", (problem or "give 100ms or more") in done.stderr and done.stderr.count("\n") == 1, done.stderr)


if __name__ == "__main__":
    case.run(check)
