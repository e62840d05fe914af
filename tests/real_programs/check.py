#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares traces of third-party programs with strace: per process and path, mlrun must have what strace has.

Usage: check.py [--only TEXT]... [--need-all]

Each program of commands.toml runs once, under strace and mlrun together. Every system call that opens, reads, writes or closes
must stand under a row of the trace with the same path and bytes, or one of the documented rules (tests/e2e/lib/sort_differences.py)
must say why it has none. A program that is not installed is named and skipped; with --need-all it is a failure.
"""

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))

from lib import case, match  # noqa: E402
from lib.truth import Truth, same_file  # noqa: E402

TIMEOUT_S = 300
MODULES = {"images_fork": "PIL", "images_spawn": "PIL", "images_forkserver": "PIL", "images_persistent": "PIL", "video": "av",
           "torch_save": "torch", "torch_shared_file": "torch", "dask": "distributed", "sqlite": "sqlite3"}
PLAIN = ("archives", "subprocesses", "temporary_files", "multiprocessing", "odd_names")


def missing(name, program):
    """What is not installed, as text; empty: all is there."""
    absent = [need for need in program.get("needs", ()) if shutil.which(need) is None]
    if program.get("python") and name not in PLAIN and importlib.util.find_spec(MODULES.get(name, name)) is None:
        absent.append(f"Python's {MODULES.get(name, name)}")
    return ", ".join(absent)


def command_of(name, program, folder):
    if program.get("python"):
        return [sys.executable, str(HERE / "programs.py"), "run", name, str(folder)]
    return program["command"]


def prepare(this, name, program, folder):
    if program.get("python"):
        line = [sys.executable, str(HERE / "programs.py"), "prepare", name, str(folder)]
    else:
        line = ["bash", "-c", program.get("prepare", "true")]
    subprocess.run(line, cwd=folder, env=this.environment, check=True, stdin=subprocess.DEVNULL)


# What no row accounts for, besides the rules of sort_differences.py: (what it is, whether a system call is such a one).
ALLOWED = (
    ("close(-1)", lambda call: call.name == "close" and call.fd == -1),
    ("a descriptor that libc opens for fchmodat, with O_PATH", lambda call: "O_PATH" in call.text),
    ("a folder that fts opens inside libc",
     lambda call: '"."' in call.text or ("O_DIRECTORY" in call.text and call.path.startswith("/sys/"))),
    ("what our library reads of itself and its process before an exec",
     lambda call: call.path.endswith("/libmlrun_preload.so") or call.path == f"/proc/{call.pid}/io"),
)
# Programs that read or write streams by getc and putc, which are macros and have no hook: their reads and writes of streams.
BY_CHARACTER = ("wc", "xargs", "as", "cut", "uniq", "ld", "cc1", "head", "tail")


def program_of(truth, call):
    return Path(truth.log.processes[call.pid].program(call.image)).name


def is_cut_off(truth, call):
    """A signal ended the process in the call or right after it: one call may have no record."""
    process = truth.log.processes[call.pid]
    return bool(process.killed_by) and not any(other.start_ns > call.start_ns for other in truth.log.syscalls if other.pid == call.pid)


def expect_only_allowed(truth):
    lost = [call for call, _ in truth.sorted.get("", ()) if not is_cut_off(truth, call)]
    inside = {(call.pid, call.fd, call.path) for call in lost if call.name in match.OPENS
              and any(is_such(call) for _, is_such in ALLOWED)}
    lost = [call for call in lost if not any(is_such(call) for _, is_such in ALLOWED)
            and (call.pid, call.fd, call.path) not in inside
            and not (call.name in ("read", "write") and program_of(truth, call) in BY_CHARACTER)]
    truth.case.true(f"{len(lost)} system calls that no rule explains", not lost, "\n" + "\n".join(map(str, lost[:8])))
    rows = [row for row in truth.matched.rows if not (row.func == "close" and row.err != 0)]
    truth.case.true(f"{len(rows)} rows without a system call", not rows, "\n" + "\n".join(map(str, rows[:8])))


def expect_same_paths(truth):
    """A file that is renamed while it is open keeps, in the rows of its descriptor, the name that it was opened by."""
    opened = {(call.pid, call.path) for call in truth.log.syscalls if call.name in match.OPENS and call.ret is not None and call.ret >= 0}
    parents = {pid: process.parent for pid, process in truth.log.processes.items()}

    def had_that_name(pid, path):
        while pid:
            if (pid, path) in opened:
                return True
            pid = parents.get(pid, 0)
        return False

    other = [(row.func, row.path, call.path) for row, calls in truth.matched.pairs for call in calls
             if not same_file(row, call) and not (call.name not in match.OPENS and had_that_name(call.pid, row.path))]
    truth.case.true(f"{len(other)} rows with another path than the kernel's", not other, other[:6])


def compare(name, program):
    """(system calls, pairs of process and path) that agree. Raises AssertionError where anything differs."""
    this = case.Case(f"real_{name}")
    folder = this.path("work")
    folder.mkdir()
    prepare(this, name, program, folder)
    truth = Truth(this, *command_of(name, program, folder), options=["--lossless", "--preload=files"], cwd=folder, timeout=TIMEOUT_S)
    expect_only_allowed(truth)
    truth.expect_same_bytes()
    expect_same_paths(truth)
    calls = [call for _, those in truth.matched.pairs for call in those]
    shutil.rmtree(this.folder)
    return len(calls), len({(call.pid, call.path) for call in calls})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], metavar="TEXT", help="programs whose name contains TEXT")
    parser.add_argument("--need-all", action="store_true", help="a program that is not installed is a failure")
    arguments = parser.parse_args()
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    programs = tomllib.loads((HERE / "commands.toml").read_text())
    chosen = {name: program for name, program in programs.items()
              if not arguments.only or any(text in name for text in arguments.only)}
    failed, skipped, agreed = [], [], 0
    for name, program in chosen.items():
        absent, began = missing(name, program), time.monotonic()
        if absent:
            skipped.append(name)
            print(f"skipped  {name}: needs {absent}", flush=True)
            continue
        try:
            calls, pairs = compare(name, program)
        except (AssertionError, case.Skip, OSError, ValueError, subprocess.SubprocessError) as error:
            failed.append(name)
            print(f"DIFFERS  {name}: {str(error)[:2000]}", flush=True)
            continue
        agreed += 1
        print(f"agrees   {name}: {calls} system calls on {pairs} files of processes, {time.monotonic() - began:.1f} s", flush=True)
    print(f"{agreed} agree, {len(failed)} differ, {len(skipped)} skipped")
    return 1 if failed or (arguments.need_all and skipped) or not agreed else 0


if __name__ == "__main__":
    sys.exit(main())
