# SPDX-License-Identifier: Apache-2.0
"""mlrun-trace under address space and data limits from too small to sufficient: the command's status is kept, the merge
does not die by a signal, one line names the remedy, and recover then makes the same trace."""

import os
import resource

from lib import case

NOBODY = 65534
KIB = 1 << 10
CALLS = 20000
# In KiB. The lowest are below what the dynamic loader needs, the highest are enough.
DATA = (6000, 8000, 10000, 12000, 16000, 24000, 48000)
SPACE = (60000, 120000, 160000, 200000, 300000, 600000)


def as_user(name, kib):
    def before_exec():
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (kib * KIB, kib * KIB))
    return before_exec


def check(this):
    os.chmod(this.folder, 0o777)
    data = this.data_file()
    short = []
    for name, sizes in (("DATA", DATA), ("AS", SPACE)):
        for kib in sizes:
            # The merge alone is limited: the run is made before, without limits, and its raw data are merged.
            out = this.folder / f"{name}{kib}"
            made = this.run(*this.command(this.victim("numbered"), data, CALLS, "exit", out=out, options=["--defer-merge"]), preexec_fn=as_user("CORE", 0))
            this.equal("exit status of the run", made.returncode, 7, said=made.stderr)
            done = this.run(case.MLRUN, "recover", "--quiet", out, preexec_fn=as_user(name, kib))
            what = f"{name} of {kib} KiB"
            this.true(f"{what}: no signal", done.returncode >= 0 and "signal" not in done.stderr, (done.returncode, done.stderr))
            if done.returncode == 0:
                continue
            short.append(what)
            said = [line for line in done.stderr.splitlines() if "error while loading shared libraries" not in line]
            this.equal(f"{what}: lines", len(said), 1, said=done.stderr)
            this.true(f"{what}: raw data", (out / "spool.bin").exists() and (out / "session.json").exists(), os.listdir(out))
            again = this.run(case.MLRUN, "recover", "--quiet", out)
            this.equal(f"{what}: recover with memory", again.returncode, 0, said=again.stderr)
            this.equal(f"{what}: calls", len(this.opened(out).calls_of("pread", path=data)), CALLS)
    this.true("some were too small", short)


if __name__ == "__main__":
    case.run(check)
