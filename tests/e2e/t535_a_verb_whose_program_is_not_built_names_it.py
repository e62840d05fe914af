# SPDX-License-Identifier: Apache-2.0
"""A verb whose program is not there says which one and what builds it, in one line: tests/demo builds mlrun-exchange and mlrun-sweep after the
first run. The programs of the first run need none of the libraries for other formats."""

import shutil

from lib import case

VERBS = {"mlrun-trace": ("report", "show", "list"), "mlrun-exchange": ("merge", "export", "import", "convert"),
         "mlrun-sweep": ("sweep", "compare", "advise")}
LIBRARIES_OF_FORMATS = ("sqlite", "open-trace-format")


def check(this):
    programs = this.path("bin")
    programs.mkdir()
    alone = shutil.copy(case.MLRUN, programs)
    for program, verbs in VERBS.items():
        for verb in verbs:
            done = this.run(alone, verb, "something")
            this.equal(f"{verb}: status, lines", (done.returncode, done.stderr.count("\n")), (125, 1), said=done.stderr)
            this.true(f"{verb}: what to do", f"{programs / program} is missing" in done.stderr and "tests/setup/build.sh" in done.stderr, done.stderr)
    for program in ("mlrun", "mlrun-trace"):
        needed = this.run("ldd", case.MLRUN.parent / program).stdout
        this.true(f"{program}: libraries", "libc.so" in needed and not any(name in needed for name in LIBRARIES_OF_FORMATS), needed)


if __name__ == "__main__":
    case.run(check)
