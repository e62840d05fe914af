# SPDX-License-Identifier: Apache-2.0
"""A trial gives its runs the arguments of the recorded command, byte by byte. It is refused before the first run where the trace has no whole argument: a secret
is masked, or the bytes are not UTF-8. The advice itself is written for such a trace, too."""

import os
import signal
import subprocess
import time

from lib import case

SCRIPT = """printf '%s\\n' "$1" >> "$2"; exec "$3" 2 10 "$4" """


def advised(this, argument):
    """A rule file from the trace of a command with this argument, and the file in which each run leaves it."""
    seen, what, rules = this.path("seen"), this.path("what"), this.path(f"rules{this.traces}.toml")
    what.write_text("dense", encoding="ascii")
    trace = this.trace("sh", "-c", SCRIPT, "sh", argument, seen, this.victim("hot_and_cold"), what, options=("--stacks=16", "--alloc-min=64K"))
    done = this.run(case.MLRUN, "advise", trace.folder, "--fast", "huge=1G", "-o", rules)
    this.equal("advice", done.returncode, 0, said=done.stderr)
    seen.unlink()
    return rules, seen


def check_repeated(this, argument):
    rules, seen = advised(this, argument)
    with subprocess.Popen([case.MLRUN, "advise", rules, "--try", this.path("trial"), "--quiet"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, env=this.environment) as process:
        while not (seen.exists() and seen.stat().st_size) and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    this.equal("the argument of a run", seen.read_text(encoding="utf-8").splitlines()[:1] if seen.exists() else said, [argument])


def check_refused(this, argument, what):
    rules, seen = advised(this, argument)
    done = this.run(case.MLRUN, "advise", rules, "--try", this.path("refused"), "--quiet")
    this.equal(f"{what}: status and lines", (done.returncode, len(done.stderr.splitlines())), (125, 1), said=done.stderr)
    this.true(f"{what}: why", what in done.stderr and "record" in done.stderr, done.stderr)
    this.true(f"{what}: no run", not seen.exists() and not this.path("refused").exists())


def check(this):
    case.need_huge_pages()
    check_repeated(this, r"\x41 'größe' {a} $HOME \\")
    check_refused(this, "--password=hunter2", "secret")
    check_refused(this, os.fsdecode(b"\xff.npy"), "UTF-8")


if __name__ == "__main__":
    case.run(check)
