# SPDX-License-Identifier: Apache-2.0
"""The archive that tests/gpu/pack makes runs in a root with libc and Python and none of mlrun's libraries: `run`
unpacks it, makes its checks with the mocks, and writes its report. The traced programs get no LD_LIBRARY_PATH from
it."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
from pathlib import Path

import checking
import cupti_case
from driver_checks import KILLED
from lib import case

HERE = Path(__file__).parent
# Times on the mocks mean nothing; the sampling rate of a busy machine is not checked here.
TIMES = {"cost_of_a_launch_by_the_driver", "samples_per_second"}
MOST_BYTES = 60 << 20
# In its own mount namespace, so that nothing stays mounted: ROOT, the sources, Python's library and the mocks.
ENTER = """set -e
root=$1 library=$2 gpu=$3 build=$4 python=$5
mkdir -p "$root/proc" "$root/dev" "$root$library" "$root/checks" "$root/stand-ins" "$root/tmp"
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --bind "$library" "$root$library"
mount --bind "$gpu" "$root/checks"
mount --bind "$build/gpu" "$root/stand-ins"
exec chroot "$root" /usr/bin/env -i PATH=/usr/bin HOME=/tmp MOCK_CUDA_VERSION=13000 MOCK_CUPTI_OVERHEAD=1 \\
  LD_LIBRARY_PATH=/stand-ins/cupti/cuda:/stand-ins/cupti/13:/stand-ins/nvml-580 \\
  "$python" -B /checks/run --carried /carried.tar.gz --out /tmp/report.json --small --only samples,driver
"""


def needed(program):
    """The program's file, the dynamic linker and the libraries that it is linked with."""
    out = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    words = (word for line in out.splitlines() for word in line.split() if word.startswith("/"))
    return [str(program), *words]


def libc_files():
    """All of libc, of which a program may be linked with what is empty by now."""
    [libc] = (file for file in needed(shutil.which("env")) if "libc.so" in file)
    found = (Path(libc).parent / f"{name}.so.{number}" for name, number in (
        ("libm", 6), ("libdl", 2), ("libpthread", 0), ("librt", 1), ("libutil", 1)))
    return [str(file) for file in found if file.exists()]


def make_root(root, python):
    (root / "usr" / "bin").mkdir(parents=True)
    files = {file for program in (python, shutil.which("env"), shutil.which("true")) for file in needed(program)}
    for file in sorted(files | set(libc_files())):
        target = root / file.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target)


def check_libc(this, archive):
    """What is packed starts with the libc of Ubuntu 22.04, but for the compiler's libraries, which are there too."""
    folder = this.path("unpacked")
    with tarfile.open(archive) as packed:
        packed.extractall(folder)
    for file in (at for at in folder.rglob("*") if at.is_file() and at.name not in checking.OF_COMPILER):
        needed_versions = this.run("readelf", "-VW", file).stdout
        newest = max((int(minor) for minor in re.findall(r"GLIBC_2\.(\d+)", needed_versions)), default=0)
        this.true("glibc that is needed by " + file.name, newest <= 35, newest)


def check_archive(this, archive):
    done = this.run(sys.executable, HERE / "pack", case.BUILD, archive)
    this.equal("packed", done.returncode, 0, said=done.stderr)
    this.true("small enough to carry", 0 < archive.stat().st_size < MOST_BYTES, archive.stat().st_size)
    check_libc(this, archive)
    none = this.run(sys.executable, HERE / "pack", this.path("nothing"), this.path("none.tar.gz"))
    this.equal("of no build", (none.returncode, this.path("none.tar.gz").exists()), (1, False), said=none.stderr)
    this.true("it says what to do", "build mlrun" in none.stderr, none.stderr)


def carried_report(this, root, python):
    done = this.run("unshare", "-m", "sh", "-c", ENTER, "sh", root, sysconfig.get_path("stdlib"), HERE, case.BUILD, python)
    this.true("it began", done.returncode in (0, 1), done.stderr)
    return json.loads((root / "tmp" / "report.json").read_text(encoding="utf-8"))


def reported(this, root, python):
    """The report, and its checks. If the machine stalled for longer than the end of a process waits, the report is made again, until
    each check has run without a stall."""
    checks, killed = {}, {f"end_by_{how}" for how in KILLED}
    for _ in range(cupti_case.FETCH_TRIES):
        report = carried_report(this, root, python)
        checks |= {name: seen for name, seen in report["checks"].items() if name in killed or not cupti_case.is_held(seen)}
        if checks.keys() == report["checks"].keys():
            break
    this.equal("checks without anything that CUPTI held", sorted(checks), sorted(report["checks"]))
    return report, checks


def check(this):
    if os.getuid() != 0 or subprocess.run(["unshare", "-m", "true"], check=False, stderr=subprocess.DEVNULL).returncode != 0:
        raise case.Skip("needs root and a mount namespace")
    archive, root, python = this.path("root") / "carried.tar.gz", this.path("root"), os.path.realpath(sys.executable)
    make_root(root, python)
    check_archive(this, archive)
    this.true("the root has none of mlrun's libraries", not list(root.rglob("libfmt*")) and not list(root.rglob("libdw*")),
              list(root.rglob("*.so*")))
    report, checks = reported(this, root, python)
    this.equal("complete", (report["is_complete"], report["carried"]), (True, True))
    this.true("samples and programs", {"samples", "end_by_SIGKILL", "many_nodes_of_graphs"} <= checks.keys(), list(checks))
    for name, seen in checks.items():
        this.true(name, "reason" not in seen and (seen["agrees"] is not False or name in TIMES), seen)
    this.true("the driver's devices", len(report["devices"]) > 0, report["devices"])


if __name__ == "__main__":
    case.run(check)
