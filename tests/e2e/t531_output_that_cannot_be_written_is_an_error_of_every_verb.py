# SPDX-License-Identifier: Apache-2.0
"""For every verb of our programs that prints on standard output, a full disk and a closed standard output give one
line and status 125; a closed pipe ends the verb by SIGPIPE without a message, also where SIGPIPE is ignored. A traced
command keeps its own status in all cases."""

import os
import shlex
import signal
import subprocess

from lib import case, documents


def commands(this, trace):
    program = case.BUILD / "bin"
    yield from ((program / "mlrun", word) for word in ("--help", "-h", "--version"))
    yield (program / "mlrun",)
    yield from ((program / "mlrun", verb, "--help") for verb in documents.verbs(this))
    for name in ("mlrun", "mlrun-trace"):
        yield from ((program / name, *words) for words in (
            ("report", trace), ("report", "--json", trace), ("show", trace), ("show", trace, "file"), ("show", "--json", trace, "file"),
            ("show", "--csv", trace, "file"), ("list", this.folder)))
    yield from ((program / "mlrun-trace", verb, "--help") for verb in ("merge", "finish", "report", "show", "list"))
    yield from ((program / "mlrun", *words) for words in (("doctor",), ("clean", "--dry-run")))
    plan = this.path("plan.toml")
    plan.write_text('repetitions = 1\nworkloads = "true"\n[[configuration]]\nname = "a"\n', encoding="ascii")
    yield from ((program / "mlrun", "sweep", "--dry-run", *words, plan) for words in ((), ("--json",)))
    this.equal("a sweep", this.run(program / "mlrun", "sweep", plan, "-o", "swept").returncode, 0)
    yield from ((program / "mlrun", *words, *more, "swept") for words in (("sweep", "list"), ("sweep", "stat"), ("sweep", "history"),
                                                                          ("compare", "swept")) for more in ((), ("--json",)))
    yield (program / "mlrun-probes", "--help")


def to_closed_pipe(this, command, ignores):
    """Status and stderr when its standard output is a closed pipe."""
    read_end, write_end = os.pipe()
    os.close(read_end)
    handling = {"preexec_fn": lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN)} if ignores else {}
    done = this.run(*command, stdout=write_end, restore_signals=not ignores, **handling)
    os.close(write_end)
    return done.returncode, done.stderr


def to(this, command, redirection):
    return this.run("sh", "-c", f"{shlex.join(map(str, command))} {redirection}", stdout=subprocess.DEVNULL)


def check(this):
    trace = this.trace(this.victim("numbered"), this.data_file(), 2000, "exit", status=7).folder
    for command in commands(this, trace):
        name = " ".join([command[0].name, *map(str, command[1:])])
        for redirection, reason in ((">/dev/full", "No space left on device"), (">&-", "Bad file descriptor")):
            done = to(this, command, redirection)
            this.equal(f"{name} {redirection}", (done.returncode, done.stderr.count("\n"), reason in done.stderr), (125, 1, True),
                       said=done.stderr)
        for ignores in (False, True):
            this.equal(f"{name} into a closed pipe", to_closed_pipe(this, command, ignores), (-signal.SIGPIPE, ""))
    for redirection in (">/dev/full", ">&-"):
        done = to(this, (case.MLRUN, "--quiet", "-o", this.new_trace(), "--", "sh", "-c", "exit 3"), redirection)
        this.equal(f"a command {redirection}", (done.returncode, done.stderr), (3, ""))


if __name__ == "__main__":
    case.run(check)
