# SPDX-License-Identifier: Apache-2.0
"""On a kernel without BTF, simulated by hiding its folder, one line names what is missing and the rest of the run is
unaffected; with =require nothing runs."""

from lib import case
from lib.trace import Trace

WORDS = "has no BTF types"
HIDDEN = ("unshare", "-m", "sh", "-c", 'mount -t tmpfs none /sys/kernel/btf && exec "$@"', "sh")


def check(this):
    case.need_mounts()
    if this.run(*HIDDEN, "true").returncode != 0:
        raise case.Skip("there is no /sys/kernel/btf to be hidden")
    if this.run(case.BUILD / "bin" / "mlrun-probes", "check").stdout.startswith("Linux "):
        raise case.Skip("this kernel is too old in the first place")
    out = this.new_trace()
    done = this.run(*HIDDEN, *this.command("sh", "-c", "exit 7", out=out, options=("--kprobes",)))
    this.equal("exit status", done.returncode, 7, said=done.stderr)
    said = [line for line in done.stderr.splitlines() if "kernel side" in line]
    this.true("one line, which says what is missing", len(said) == 1 and WORDS in said[0], done.stderr)
    trace = Trace(out)
    this.true("the calls are there", len(trace.calls) > 0)
    this.true("coverage says so too", any(WORDS in row["detail"] for row in trace.covers("kernel side")), trace.rows("coverage"))
    none = this.path("none")
    done = this.run(*HIDDEN, case.MLRUN, "--kprobes=require", "-o", none, "touch", this.path("ran"))
    this.equal("exit status with =require", done.returncode, 125, said=done.stderr)
    this.true("one line", len(done.stderr.splitlines()) == 1 and WORDS in done.stderr, done.stderr)
    this.true("nothing was run, nothing is left behind", not this.path("ran").exists() and not none.exists())


if __name__ == "__main__":
    case.run(check)
