# SPDX-License-Identifier: Apache-2.0
"""`mlrun plot` and `mlrun mcp` take no module of the working directory for one of Python's; what they cannot do is one line and the exit
status 125."""

import sys

from lib import case


def check(this):
    trace = this.trace("cat", "/etc/passwd").folder
    here = this.path("here")
    here.mkdir()
    for name in ("random", "types", "csv", "tokenize", "queue", "mlrun_trace"):
        (here / f"{name}.py").write_text(f"raise SystemExit('{name} of the working directory')\n")
    environment = this.environment | {"MLRUN_PYTHON": sys.executable}

    def plot(*words, verb="plot", **more):
        return this.run(case.MLRUN, verb, *words, cwd=here, env=environment | more)

    done = plot(trace, "--what", "sizes", "-o", "a.svg")
    this.equal("a picture", done.returncode, 0, said=done.stderr)
    this.true("its file", (here / "a.svg").stat().st_size > 0)
    this.equal("mcp", plot("--help", verb="mcp").returncode, 0)
    damaged = this.trace("cat", "/etc/passwd").folder
    next((damaged / "tables" / "call").iterdir()).write_bytes(b"no table")
    (here / "b.svg").mkdir()
    failures = (("", ()), ("--what", (trace,)), ("'none'", (trace, "--what", "none", "-o", "a.svg")),
                ("--columns", (trace, "--what", "sizes", "--columns", "3", "-o", "a.svg")),
                ("part-00000.parquet", (damaged, "--what", "sizes", "-o", "c.svg")), ("has neither steps", (trace, "--what", "steps", "-o", "c.svg")),
                ("b.svg", (trace, "--what", "sizes", "-o", "b.svg")), ("no trace", (here, "--what", "sizes", "-o", "c.svg")))
    for wanted, words in failures:
        done = plot(*words)
        this.equal(f"exit status and lines of {words}", (done.returncode, done.stderr.count("\n")), (125, 1), said=done.stderr)
        this.true(f"it names {wanted}", wanted in done.stderr and done.stderr.startswith("mlrun: "), done.stderr)
    done = plot(verb="mcp")
    this.equal("mcp without a trace", (done.returncode, done.stderr.count("\n")), (125, 1), said=done.stderr)
    without = this.path("python")
    without.write_text(f"#!/bin/sh\nexec {sys.executable} -I -S \"$@\"\n")
    without.chmod(0o755)
    done = plot("--help", MLRUN_PYTHON=str(without))
    this.equal("a Python without the package", (done.returncode, done.stderr.count("\n")), (125, 1), said=done.stderr)
    this.true("it names MLRUN_PYTHON", "MLRUN_PYTHON" in done.stderr, done.stderr)
    this.equal("files", sorted(path.name for path in here.glob("*.svg")), ["a.svg", "b.svg"])


if __name__ == "__main__":
    case.run(check)
