# SPDX-License-Identifier: Apache-2.0
"""build/bin/runs [--modes FILE] OUT N WORKLOAD...: folders and files of the names that the script's page promises, and none of its
faults: workloads that read standard input, names that collide, a dry column without effect, commands that modes inherit from the
mode before."""

import json
import os
import shutil
import sys

from lib import case

RUNS = case.BUILD / "bin" / "runs"
MODES = """# $mode   $hms $mem $cpu $dry $freq
1loc_00 0    0    0    0        0

1loc_DR 0    -    0    1        0   # without recording
"""
PLACE = "import os; print([l.split()[1] for l in open('/proc/self/numa_maps')][0], sorted(os.sched_getaffinity(0)))"

TOUCH = "import time; block = bytearray(64 << 20); end = time.time() + 4\nwhile time.time() < end: block[::4096] = bytes(16384)"


def text(folder, name):
    return (folder / name).read_text(encoding="utf-8")


def check_names(this):
    """runs OUT 2 FOLDER/*.A"""
    programs = this.path("npb bin")
    programs.mkdir()
    for name in ("bt.A", "cg.A"):
        shutil.copy("/bin/true", programs / name)
    this.path("runs").symlink_to(RUNS)
    done = this.run(this.path("runs"), this.path("traces_npb"), 2, *(f"'{programs}/{name}'" for name in ("bt.A", "cg.A")))
    this.equal("exit status", done.returncode, 0, said=done.stderr)
    folders = sorted(os.listdir(this.path("traces_npb") / "runs"))
    this.equal("folders", folders, [f"{name}.1loc_00.{n}" for name in ("bt.A", "cg.A") for n in (1, 2)])
    for folder in folders:
        for name in ("cmd.log", "time.log", "console.log", "error.log", "run.json"):
            this.true(f"{folder}/{name}", (this.path("traces_npb") / "runs" / folder / name).exists())


def check_modes(this):
    this.path("modes.lst").write_text(MODES, encoding="utf-8")
    this.path("place.py").write_text(PLACE, encoding="ascii")
    out = this.path("OUT")
    workloads = ("cat", "echo a-1", "echo a1", f"{sys.executable} place.py")
    done = this.run(RUNS, "--modes", "modes.lst", out, "2", *workloads, stdin=open(this.data_file(), encoding="latin-1"),
                    env=this.environment | {"DRY": "1", "HEIMDALLR_PMEMDIR": "/mnt/pmem/", "HEIMDALLR_READEVENT": "r4003E"})
    this.equal("exit status", done.returncode, 0, said=done.stderr)

    names = {"cat": "cat", "echo a-1": "echoa1", "echo a1": "echoa1_2", workloads[3]: f"{os.path.basename(sys.executable)}place.py"}
    folders = {f"{name}.{mode}.{n}": (command, mode) for command, name in names.items() for mode in ("1loc_00", "1loc_DR") for n in (1, 2)}
    this.equal("folders: no run is missing, none is overwritten", sorted(os.listdir(out / "runs")), sorted(folders))
    for name, (command, mode) in folders.items():
        folder = out / "runs" / name
        log = text(folder, "cmd.log")
        this.true(f"{name}: its command", command in log, log)
        this.equal(f"{name}: recorded unless it is dry", ((folder / "run.json").exists(), "mlrun run " in log), (mode == "1loc_00",) * 2)
        console = text(folder, "console.log")
        if command.startswith("echo"):
            this.equal(f"{name}: its output", console.split(), [command[5:]])
        elif command == "cat":
            this.equal(f"{name}: its standard input is empty", console, "")
        else:
            policy, cpus = console.split(" ", 1)
            this.equal(f"{name}: its memory", policy, "bind:0" if mode == "1loc_00" else "default")
            this.true(f"{name}: its CPUs", cpus.startswith("["), cpus)


def check_samples(this):
    """freq: samples of memory accesses, of that mode alone."""
    this.path("sampled.lst").write_text("1loc_50 0 - - 0 5000\n1loc_00 0 - - 0 0\n", encoding="utf-8")
    this.path("touch.py").write_text(TOUCH, encoding="ascii")
    out = this.path("SAMPLED")
    done = this.run(RUNS, "--modes=sampled.lst", out, "1", f"{sys.executable} touch.py")
    this.equal("exit status", done.returncode, 0, said=done.stderr)
    said = {folder.name.split(".")[-2]: json.loads(text(folder, "run.json")).get("access") for folder in (out / "runs").iterdir()}
    this.true("without samples", said["1loc_00"] is None, said)
    this.true("with samples", said["1loc_50"] is not None and len(said["1loc_50"]["by_rung"]) > 0, said)


def check_times(this):
    """Of runs that are there, the time of one more is known."""
    words = ("--modes", "modes.lst", "--runs", "OUT", "3", "cat", "echo a-1", "echo a1")
    shown = json.loads(this.run(case.MLRUN, "sweep", "--dry-run", "--json", *words).stdout)
    left = [run for run in shown["runs"] if not run["done"]]
    this.equal("runs that are left", sorted(run["block"] for run in left), [3] * 6)
    this.true("their time", abs(shown["expected_s"] - sum(run["expected_s"] for run in left)) < 1e-6 < shown["expected_s"], shown)


def check_refusals(this):
    bad = {
        "a 0 - - 0\n": ":1: mode: ",
        "a 0 - - 0 0\nb 1 - - 0 0\n": ":2: hms: b ",
        "# x\na 0 - - 1 5000\n": ":2: freq: a ",
        "a 0 - - 0 200000\n": ":1: freq: --access=200000",
        "a 0 - - 0 0\na 0 - - 1 0\n": ":2: mode: ",
        "a 0 1000 - 0 0\n": ":1: mem: ",
    }
    for content, place in bad.items():
        this.path("bad.lst").write_text(content, encoding="utf-8")
        done = this.run(RUNS, "--modes=bad.lst", "NONE", "1", "true")
        this.equal(f"{content}: status", done.returncode, 125, said=done.stderr)
        this.equal(f"{content}: one line", (len(done.stderr.splitlines()), done.stdout), (1, ""), said=done.stderr)
        this.true(f"{content}: its place", done.stderr.startswith("mlrun: bad.lst" + place), done.stderr)
    for words in ((), ("NONE",), ("NONE", "1"), ("--modes",), ("--modes", "modes.lst", "NONE", "1"), ("NONE", "none", "true"),
                  ("NONE", "1", "no-such-program")):
        done = this.run(RUNS, *words)
        this.equal(f"{words}: status", done.returncode, 125, said=done.stderr)
        this.equal(f"{words}: one line", (len(done.stderr.splitlines()), done.stdout), (1, ""), said=done.stderr)
    this.true("nothing was created", not this.path("NONE").exists())


def check(this):
    check_names(this)
    check_modes(this)
    check_samples(this)
    check_times(this)
    check_refusals(this)


if __name__ == "__main__":
    case.run(check)
