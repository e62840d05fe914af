#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs real commands as they are and under mlrun: both must do the same.

Compared are stdout, stderr, exit status and every file left behind (names, types, modes, contents). Where they differ, the command runs
once more as it is; what differs between its two plain runs (a time, a pid, a hash order) is left out, and said so. commands.toml holds the commands; services/ holds longer scripts that it names.
"""

import argparse
import fnmatch
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass

from pyarrow import parquet

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
TIMEOUT_S = 300
NO_GPU_WORK = re.compile(rb"^mlrun: --cupti recorded nothing.*\n", re.MULTILINE)  # said at the end, whatever the command does


@dataclass(frozen=True)
class Outcome:
    """What a command did, by aspect: "status", "stdout", "stderr", and "file NAME" for each file it left."""

    aspects: dict

    def differences(self, other):
        names = self.aspects.keys() | other.aspects.keys()
        return {name for name in names if self.aspects.get(name) != other.aspects.get(name)}


def describe_file(path):
    info = path.lstat()
    kind = f"{info.st_mode:o}"
    if path.is_symlink():
        return f"{kind} -> {os.readlink(path)}"
    if path.is_file():
        return f"{kind} {hashlib.sha256(path.read_bytes()).hexdigest()}"
    return kind


def run_once(script, folder, prefix, environment, user=None):
    """One run of a bash script in an empty folder of fixed name, so that paths in outputs agree between runs."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if user is not None:
        os.chown(folder, user, user)
    done = subprocess.run(
        [*prefix, "bash", "-c", script], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
        capture_output=True, timeout=TIMEOUT_S, check=False,
    )
    aspects = {"status": done.returncode, "stdout": done.stdout, "stderr": done.stderr}
    for path in sorted(folder.rglob("*")):
        aspects[f"file {path.relative_to(folder)}"] = describe_file(path)
    return Outcome(aspects)


def programs_of(trace):
    """Names of the programs that recorded: those of their files, and those that they were called by."""
    images = [row for part in (trace / "tables" / "image").iterdir()
              for row in parquet.ParquetFile(part).read(columns=["exe", "arguments"]).to_pylist()]
    named = [name for row in images for name in (row["exe"], (row["arguments"] or "").split(" ")[0]) if name]
    return {os.path.basename(name) for name in named}


def show(value):
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return text if len(text) <= 600 else text[:300] + "\n  [...]\n" + text[-300:]


class Checker:
    def __init__(self, mlrun, scratch, cupti=None, place=None):
        self.mlrun = mlrun
        self.scratch = scratch
        self.environment = {**os.environ, "LC_ALL": "C.UTF-8", "TZ": "UTC", "SOURCE_DATE_EPOCH": "1", "PYTHONHASHSEED": "0"}
        self.environment.pop("LD_PRELOAD", None)
        self.environment |= {"HARMLESS": str(HERE), "SOURCE": str(SOURCE), "MLRUN_PYTHON": sys.executable}
        self.more = (["--cupti"] if cupti else []) + (["--place", place] if place else [])
        if cupti:
            self.environment["LD_LIBRARY_PATH"] = str(cupti.resolve())

    @staticmethod
    def become(entry):
        """The user that runs the command and mlrun, and the command-line prefix for it."""
        user = entry.get("user")
        if user is None or os.geteuid() != 0:
            return None, []
        return user, ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]

    def missing(self, entry):
        """What of its programs is not installed; empty: all are."""
        names = [tool for tool in entry.get("needs", []) if shutil.which(tool) is None]
        found = subprocess.run(["bash", "-c", entry.get("installed", "true")], env=self.environment, stdin=subprocess.DEVNULL,
                               capture_output=True, check=False)
        return ", ".join(names if found.returncode == 0 else [*names, f"what '{entry['installed']}' looks for"])

    def refusal(self, entry):
        """Why the system does not let this command be tried; empty: it does."""
        tries = [*self.become(entry)[1], "bash", "-c", entry.get("try", "true")]
        if self.become(entry)[1]:
            tries[-1] += f" && test -x {self.mlrun} && test -r {HERE}"
        tried = subprocess.run(tries, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                               check=False)
        said = tried.stderr.strip().splitlines()[-1:] or [f"status {tried.returncode}"]
        return "" if tried.returncode == 0 else f"'{tries[-1]}' is refused here: {said[0]}"

    def check(self, name, entry):
        """Returns a list of problems; prints what could not be compared."""
        folder = self.scratch / "run"
        trace = self.scratch / "trace"
        shutil.rmtree(trace, ignore_errors=True)
        user, become = self.become(entry)
        first = run_once(entry["run"], folder, become, self.environment, user)
        prefix = [*become, str(self.mlrun), "--preload", "--alloc-min", "0", "--quiet", "-o", str(trace), *self.more]
        traced = run_once(entry["run"], folder, prefix, self.environment, user)
        traced.aspects["stderr"] = NO_GPU_WORK.sub(b"", traced.aspects["stderr"])
        if first.aspects["status"] != entry.get("status", 0):
            return [f"the command itself fails untraced: {show(first.aspects['stderr'])}"]
        problems, different, unstable = [], first.differences(traced) - set(entry.get("except", {})), set()
        if different:
            unstable = first.differences(run_once(entry["run"], folder, become, self.environment, user))
        for aspect in sorted(different - unstable):
            problems.append(
                f"{aspect} differs\n--- untraced\n{show(first.aspects.get(aspect))}\n--- traced\n{show(traced.aspects.get(aspect))}"
            )
        if not (trace / "run.json").exists():
            problems.append("no trace was made")
        else:
            programs = programs_of(trace)
            unseen = [name for name in entry.get("traced", []) if not fnmatch.filter(programs, name)]
            problems += [f"{name} is not in the trace: without the library the comparison says nothing of it" for name in unseen]
        note = f" (not comparable: {', '.join(sorted(unstable)[:4])})" if unstable else ""
        print(f"{'FAIL' if problems else 'ok  '} {name}{note}", flush=True)
        return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mlrun", type=pathlib.Path, help="the program to test, for instance build/bin/mlrun")
    parser.add_argument("--commands", type=pathlib.Path, default=HERE / "commands.toml")
    parser.add_argument("--only", metavar="TEXT", help="commands whose name contains TEXT")
    parser.add_argument("--cupti", type=pathlib.Path, metavar="FOLDER", help="with --cupti, and the libcupti in FOLDER in reach")
    parser.add_argument("--place", metavar="RULE", help="with this rule of --place")
    parser.add_argument("--complete", action="store_true", help="fail when a program is missing that tests/setup/install.sh test installs")
    options = parser.parse_args()
    commands = tomllib.loads(options.commands.read_text())
    chosen = {name: entry for name, entry in commands.items() if not options.only or options.only in name}
    if not chosen:
        parser.error(f"no command's name contains '{options.only}'")
    failed, missing, refused = [], {}, {}
    with tempfile.TemporaryDirectory(prefix="mlrun-harmless.") as scratch:
        os.chmod(scratch, 0o777)
        checker = Checker(options.mlrun.resolve(), pathlib.Path(scratch), options.cupti, options.place)
        for name, entry in chosen.items():
            if what := checker.missing(entry):
                missing[name] = what
                continue
            if why := checker.refusal(entry):
                refused[name] = why
                continue
            if problems := checker.check(name, entry):
                failed.append(name)
                print("\n".join(problems), flush=True)
    return report(chosen, failed, missing, refused, options.complete)


def report(chosen, failed, missing, refused, complete):
    """Says what was compared and what was not, and returns the exit status. Only programs that are large need not be there."""
    for name, why in [*((name, f"not installed: {what}") for name, what in missing.items()), *refused.items()]:
        print(f"skip {name} ({why})")
    skipped = [*missing, *refused]
    print(f"{len(chosen) - len(skipped)} of {len(chosen)} commands compared, {len(failed)} behave differently: "
          f"{', '.join(failed) or 'none'}; skipped: {', '.join(skipped) or 'none'}")
    lacking = [name for name in missing if not chosen[name].get("large")]
    if complete and lacking:
        print(f"error: programs of {', '.join(lacking)} are missing: tests/setup/install.sh test")
    nothing = len(skipped) == len(chosen)
    return 1 if failed or nothing or (complete and lacking) else 0


if __name__ == "__main__":
    sys.exit(main())
