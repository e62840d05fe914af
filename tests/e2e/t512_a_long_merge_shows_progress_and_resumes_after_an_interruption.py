# SPDX-License-Identifier: Apache-2.0
"""A long merge shows its progress, speed and remaining time on a terminal, and nothing in a pipe. After SIGKILL or
Ctrl-C the merge resumes: table files already written are kept unless one was damaged since, and the tables equal those of
an uninterrupted merge."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import threading
import time

from lib import case
from lib.trace import Trace
from t356_a_second_ctrl_c_loses_no_data import on_terminal

CALLS = 3_000_000
SCAN_SHARE = 15  # percent of the work, before events are counted (runner/trace/merge/merge.cpp)
LINE = re.compile(rb"making the trace: (\d+) %(?:, ([\d.]+) ([Mk]) events/s)?(?:, (\d+) s left)?")
# More threads make smaller units of work, and so more frequent progress lines.
MERGE = [str(case.MLRUN.parent / "mlrun-trace"), "merge", "--threads", "8"]


class SlowMerge:
    """A merge on a terminal that is stopped most of the time, so that it takes long whatever its input."""

    def __init__(self, this, out):
        self.began = time.monotonic()
        self.pid, self.terminal = on_terminal([*MERGE, str(out)], this.environment)
        self.lines, self.text = [], b""  # [(seconds since it began, percent, millions per second, seconds left)]
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        with contextlib.suppress(OSError):  # the other end has gone
            while said := os.read(self.terminal, 4096):
                at = time.monotonic() - self.began
                self.text += said
                for percent, rate, unit, left in LINE.findall(said):
                    millions = float(rate or 0) / (1000 if unit == b"k" else 1)
                    self.lines.append((at, int(percent), millions, int(left) if left else None))

    def run(self, until_percent=101):
        """Runs it until it has printed that many lines and leaves it stopped, or to its end; returns the exit status."""
        while not self.lines or self.lines[-1][1] < until_percent:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGSTOP)
                time.sleep(0.25)
                if self.lines and self.lines[-1][1] >= until_percent:
                    return None
                os.kill(self.pid, signal.SIGCONT)
            time.sleep(0.03)
            ended, status = os.waitpid(self.pid, os.WNOHANG)
            if ended:
                return self.ended(status)
        os.kill(self.pid, signal.SIGSTOP)
        return None

    def ended(self, status):
        self.reader.join()
        os.close(self.terminal)
        return os.waitstatus_to_exitcode(status)


def tables(out):
    return {folder.name: Trace(out).table(folder.name) for folder in sorted((out / "tables").iterdir())}


def listed_files(out):
    """{table file that the journal lists: (inode, time of change)}"""
    files = {}
    for line in (out / "merging/files.jsonl").read_text().splitlines()[1:]:
        slice_files = json.loads(line)
        for table in slice_files["files"]:
            name = f"{table}/part-{slice_files['slice']:05}.parquet"
            status = (out / "merging/tables" / name).stat()
            files[name] = status.st_ino, status.st_mtime_ns
    return files


def damage(path):
    """Flips a bit in the middle."""
    with open(path, "r+b") as file:
        file.seek(path.stat().st_size // 2)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 1]))


def forget(out):
    shutil.rmtree(out / "tables", ignore_errors=True)
    (out / "run.json").unlink(missing_ok=True)


def check_lines(this, merge):
    this.true("progress was printed more than once", len(merge.lines) > 2, merge.text)
    percents = [line[1] for line in merge.lines]
    this.true("it never goes back", percents == sorted(percents) and percents[-1] <= 100, percents)
    reported = [line for line in merge.lines if line[2] and line[3] is not None]
    this.true("with rate and time left", len(reported) > 1, merge.text)
    for at, percent, rate, left in reported:
        done = CALLS * (percent - SCAN_SHARE) / (100 - SCAN_SHARE)
        this.true("the rate is that of the events so far", abs(rate - done / at / 1e6) <= 0.06 + 0.2 * rate, (at, percent, rate))
        this.true("the time left goes by what it took so far", abs(left - at * (100 - percent) / percent) <= 1 + 0.2 * left,
                  (at, percent, left))
    this.true("the line is gone at the end", merge.text.endswith(b"\r\x1b[K"), merge.text[-60:])


def check_going_on(this, out, whole, how, damages):
    forget(out)
    merge = SlowMerge(this, out)
    this.equal("it is not done yet", merge.run(until_percent=60), None)
    if how == signal.SIGINT:
        os.write(merge.terminal, b"\x03")
    else:
        os.kill(merge.pid, how)
    os.kill(merge.pid, signal.SIGCONT)
    this.equal("how it ended", merge.ended(os.waitpid(merge.pid, 0)[1]), -how)
    this.true("no trace is there, but all that one is made of", (out / "spool.bin").exists() and not (out / "run.json").exists(),
              list(out.iterdir()))
    reported = listed_files(out)
    parts = {name.rpartition("/")[2] for name in reported}
    this.true("about half of the slices are written", len(parts) > 5, reported)
    damaged = sorted(reported)[0] if damages else None
    if damaged:
        damage(out / "merging/tables" / damaged)
        parts.remove(damaged.rpartition("/")[2])
    done = this.run(*MERGE, out)
    this.equal("status of the second merge", done.returncode, 0, said=done.stderr)
    this.true("it tells what it goes on with", f"resuming an interrupted merge: {len(parts)} of " in done.stderr, done.stderr)
    for name, was in reported.items():
        status = (out / "tables" / name).stat()
        same = (status.st_ino, status.st_mtime_ns) == was
        this.equal(f"{name} is the file it was", same, name.rpartition("/")[2] in parts)
    again = tables(out)
    this.equal(f"tables after {how.name}", list(again), list(whole))
    this.equal(f"tables that differ after {how.name}", [name for name in whole if not again[name].equals(whole[name])], [])
    this.true("nothing of the first is left", not (out / "merging").exists(), list(out.iterdir()))


def check(this):
    data, out = this.data_file(), this.new_trace()
    options = ("--defer-merge", "--lossless")
    done = this.run(*this.command(this.victim("numbered"), data, CALLS, "exit", out=out, options=options))
    this.equal("exit status", done.returncode, 7, said=done.stderr)

    with subprocess.Popen([*MERGE, out], stderr=subprocess.PIPE, stdout=subprocess.PIPE) as piped:
        until = time.monotonic() + 60
        while not (out / "merging").exists() and piped.poll() is None and time.monotonic() < until:
            time.sleep(0.001)
        piped.send_signal(signal.SIGSTOP)
        time.sleep(0.7)  # longer than the first line takes on a terminal
        piped.send_signal(signal.SIGCONT)
        said = piped.communicate()
    this.equal("status, and the output in a pipe", (piped.returncode, *said), (0, b"", b""))
    whole = tables(out)
    this.true("every call has its row", CALLS <= whole["call"].num_rows < CALLS + 1000, whole["call"].num_rows)

    forget(out)
    merge = SlowMerge(this, out)
    this.equal("status on a terminal", merge.run(), 0)
    check_lines(this, merge)

    check_going_on(this, out, whole, signal.SIGKILL, damages=True)
    check_going_on(this, out, whole, signal.SIGINT, damages=False)


if __name__ == "__main__":
    case.run(check)
