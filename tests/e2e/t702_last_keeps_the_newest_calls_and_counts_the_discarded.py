# SPDX-License-Identifier: Apache-2.0
"""--last: the trace has the newest calls without a gap, the names of files opened earlier and the processes of the
calls, and counts the discarded ones; the disk use never exceeds the limit, also when mlrun is killed."""

import subprocess
import sys
import time

from lib import case, killed_collector
from lib.stacks import Stacks

SECOND = 1_000_000_000
# Blocks are allocated ahead of the spool, and half of the ring may wait for its turn.
AHEAD = 18 << 20


def expect_suffix(this, trace, data, issued):
    """The numbered calls in the trace are the last ones that were issued, each once. Returns how many went before."""
    numbers = sorted(call.offset for call in trace.calls_of("pread", path=data))
    this.true("there are calls", numbers)
    this.equal("numbered calls", numbers, list(range(numbers[0], issued)))
    freed = sum(row["count"] for row in trace.rows("loss") if row["channel"] == "last")
    # Between two of the calls some victims wait, which may be a call of its own.
    this.true("older calls are counted as freed", numbers[0] <= freed <= 2 * numbers[0] + 100 and
              (freed == 0) == (numbers[0] == 0), f"{freed} freed, {numbers[0]} missing")
    return numbers[0]


def by_time(this, data):
    issued = 4500
    trace = this.trace(this.victim("early_blocks"), data, 1_000_000, issued, options=["--last", "1s"])
    gone = expect_suffix(this, trace, data, issued)
    this.true("calls of the beginning were freed", gone > 0)
    calls = trace.calls_of("pread", path=data)
    held_ns = calls[-1].end_ns - calls[0].ts_ns
    # A second before the end of the recording, which comes a little after the program's; freed once a second or so.
    this.true("the trace holds about a second", SECOND / 2 <= held_ns <= 5 * SECOND, held_ns)
    this.true("it says since when", trace.run["events_from_ns"] <= calls[0].end_ns + 1_000_000)
    this.equal("the opening itself is among what was freed", trace.calls_of("open", path=data), [])
    this.equal("losses but for what was asked for",
               [row for row in trace.rows("loss") if row["channel"] != "last"] + trace.rows("coverage"), [])
    this.true("the process and its command are known",
              any("early_blocks" in (row["command"] or "") for row in trace.rows("process")))
    counted = sum(row["mallocs"] for row in trace.rows("alloc_small"))
    this.true("small blocks since then alone are counted", 10 * len(calls) * 0.8 <= counted <= 10 * issued, counted)


def by_size(this, data):
    issued, limit, most = 1_500_000, 4 << 20, 0
    out = this.new_trace()
    command = this.command(this.victim("numbered"), data, issued, "exit", out=out, options=[
        "--lossless", "--last", "1h", "--max-spool", "4M", "--keep-raw"])
    with subprocess.Popen(command, env=this.environment, cwd=this.folder) as mlrun:
        while mlrun.poll() is None:
            if (out / "session.json").exists() and '"running"' in (out / "session.json").read_text():
                most = max(most, sum((out / name).stat().st_blocks * 512 for name in ("spool.bin", "kept.bin")))
            time.sleep(0.02)
    this.equal("exit status", mlrun.returncode, 7)
    this.true("room taken on disk", most <= limit + AHEAD, most)
    trace = case.Trace(out)
    gone = expect_suffix(this, trace, data, issued)
    this.true("most calls were freed", gone > issued / 2)
    this.true("what fits is there", 40_000 < issued - gone < 70_000, issued - gone)
    this.true("written in all", trace.run["spool"]["bytes"] > 10 * limit)


def short_run(this, data):
    out = this.new_trace()
    done = this.run(case.MLRUN, "--preload", "-o", out, "--last", "10min", this.victim("numbered"), data, 1000, "exit")
    this.true("the summary says that all is there", "KEPT" in done.stderr and "nothing was old enough" in done.stderr,
              done.stderr)
    this.equal("numbered calls", expect_suffix(this, case.Trace(out), data, 1000), 0)
    this.true("kept.bin is gone", not (out / "kept.bin").exists())
    for wrong in ("10", "0s", "-1s", "tomorrow"):
        refused = this.run(case.MLRUN, "-o", this.path("none"), "--last", wrong, "true")
        this.true(f"--last {wrong} is refused in one line", refused.returncode != 0 and
                  refused.stderr.count("\n") == 1 and "--last" in refused.stderr, refused.stderr)


def killed(this, data):
    aftermath = killed_collector.kill_mlrun_after(this, 25000, options=["--last", "1s", "--preload=files"])
    recovered = this.run(case.MLRUN, "recover", aftermath.trace)
    this.equal("exit status of recover", recovered.returncode, 0, said=recovered.stderr)
    gone = expect_suffix(this, case.Trace(aftermath.trace), data, killed_collector.CALLS)
    this.true("calls of the beginning were freed", 0 < gone < 25000, gone)
    this.true("the summary says so", "older records were freed" in recovered.stderr, recovered.stderr)


def by_stacks(this, data):
    """A process emits a stack and its libraries once, at the beginning: these records are kept."""
    issued, options = 4000, ["--last", "1s", "--stacks"]
    trace = this.trace(this.victim("early_blocks"), data, 1000, issued, options=options)
    this.true("calls of the beginning were freed", expect_suffix(this, trace, data, issued) > 0)
    stacks = Stacks(trace)
    callers = {stacks.functions(row["stack_id"])[0] for row in trace.rows("call") if row["func"] == "pread"
               and stacks.functions(row["stack_id"])}
    without = sum(not stacks.functions(row["stack_id"]) for row in trace.rows("call") if row["func"] == "pread")
    this.equal("who read, and calls of which that is not known", (callers, without), ({"main"}, 0))


def by_names(this):
    """Many files, each opened once: their names do not take the room of the newest calls."""
    folder, opened = this.path("many"), 100_000
    folder.mkdir()
    options = ["--lossless", "--last", "1h", "--max-spool", "4M"]
    trace = this.trace(this.victim("many_names"), folder, 0, opened, options=options)
    calls = [call for call in trace.calls if call.func in ("open", "pread", "close", "unlink")
             and call.path.startswith(str(folder))]
    opens = [call.path for call in calls if call.func == "open"]
    this.equal("files opened last", opens, [f"{folder}/{i}" for i in range(opened - len(opens), opened)])
    this.true("as many as fit", 1000 < len(opens) < 20_000, len(opens))
    reads = [call.path for call in trace.calls_of("pread")]
    this.equal("files read last", reads, [f"{folder}/{i}" for i in range(opened - len(reads), opened)])
    this.equal("losses but for what was asked for", [row for row in trace.rows("loss") if row["channel"] != "last"], [])


# Two files rest while many others take the room of names: one was closed but has another descriptor, of one the folder was.
RESTS = """
import os, sys
folder = sys.argv[1]
copied = os.open(f"{folder}/copied", os.O_RDWR | os.O_CREAT)
os.dup2(copied, 100)
os.close(copied)
there = os.open(folder, os.O_RDONLY)
inside = os.open("inside", os.O_RDWR | os.O_CREAT, dir_fd=there)
os.close(there)
for i in range(60_000):
    fd = os.open(f"{folder}/{i}", os.O_RDWR | os.O_CREAT)
    os.write(fd, b"x")
    os.close(fd)
    os.unlink(f"{folder}/{i}")
os.write(100, b"copied")
os.write(inside, b"in there")
"""


def by_resting_files(this):
    """A descriptor whose file was closed and is used by a duplicate has its name, and a file opened relative to a folder its path."""
    folder = this.path("rests")
    folder.mkdir()
    trace = this.trace(sys.executable, "-c", RESTS, folder, options=["--lossless", "--last", "1h", "--max-spool", "4M"])
    this.equal("the first opens were freed", trace.calls_of("open", path=f"{folder}/copied"), [])
    written = {(call.path, call.ret) for call in trace.calls_of("write") if call.ret > 1}
    this.equal("files written last", written, {(f"{folder}/copied", 6), (f"{folder}/inside", 8)})


def check(this):
    data = this.data_file()
    by_stacks(this, data)
    by_names(this)
    by_resting_files(this)
    by_time(this, data)
    by_size(this, data)
    short_run(this, data)
    killed(this, data)


if __name__ == "__main__":
    case.run(check)
