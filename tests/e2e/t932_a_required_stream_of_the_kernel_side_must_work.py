# SPDX-License-Identifier: Apache-2.0
"""--kprobes=require,vfs with the library: if the kernel side has no mechanism for file operations, one line says so and
nothing runs; a required stream that works, or an optional one that does not, is no reason to refuse."""

from lib import case
from lib.kernel_side import need_kernel_side
from lib.trace import Trace

SIGNAL = "file operations"


def run(this, words):
    ran, out = this.path(f"ran-{words}"), this.path(f"trace-{words}")
    done = this.run(case.MLRUN, "--preload", f"--kprobes={words}", "-o", out, "touch", ran)
    return done, ran, out


def check(this):
    need_kernel_side()
    for words in ("require,block,wait", "require", "vfs"):
        done, ran, out = run(this, words)
        this.equal(f"exit status with {words}", done.returncode, 0, said=done.stderr)
        this.true(f"{words}: the command ran", ran.exists())
    [reported] = [signal for signal in Trace(out).run["kernel_side"]["signals"] if signal["signal"] == SIGNAL]
    done, ran, out = run(this, "require,vfs")
    comes = reported["mechanism"] is not None
    this.equal("exit status", done.returncode, 0 if comes else 125, said=done.stderr)
    this.equal("the command ran", ran.exists(), comes)
    if not comes:
        this.true("one line says what is missing, and why", len(done.stderr.splitlines()) == 1 and
                  f"{SIGNAL}: {reported['missing']}" in done.stderr, done.stderr)
        this.true("nothing is left behind", not out.exists())


if __name__ == "__main__":
    case.run(check)
