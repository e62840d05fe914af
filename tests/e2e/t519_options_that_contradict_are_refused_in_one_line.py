# SPDX-License-Identifier: Apache-2.0
"""Options that cannot be combined are refused before the command starts: one line that names them, status 125, no
trace."""

from lib import case

REFUSED = [
    (["--preload=off"], "nothing to record"),
    (["--preload=off", "--kprobes", "--alloc-dur"], "--alloc-dur"),
    (["--preload=off", "--kprobes", "--alloc-min", "0"], "--alloc-min"),
    (["--preload=off", "--kprobes", "--alloc-sample", "64K"], "--alloc-sample"),
    (["--preload=off", "--kprobes", "--fold", "10us"], "--fold"),
    (["--preload=off", "--kprobes", "--exclude", "*.json"], "--exclude is about"),
    (["--preload=off", "--kprobes", "--stacks"], "--stacks"),
    (["--preload=allocs", "--include", "/data"], "--preload=allocs"),
    (["--summary-only", "--last", "1min"], "--last"),
    (["--summary-only", "--kprobes"], "--kprobes"),
    (["--stacks=0"], "--stacks=0"),
    (["--fold", "soon"], "--fold"),
    (["--cupti-whole-graphs"], "--cupti"),
    (["--cupti", "--cupti-whole-graphs", "--cupti-graph-nodes", "1"], "which --cupti-whole-graphs does not record"),
    (["--preload=off", "--sample", "--python-stacks=on"], "add --preload or --cupti"),
]


def check(this):
    started = this.path("started")
    for options, named in REFUSED:
        out = this.new_trace()
        done = this.run(case.MLRUN, *options, "-o", out, "touch", started)
        what = " ".join(options)
        this.equal(f"{what}: exit status", done.returncode, 125, said=done.stderr)
        this.equal(f"{what}: lines", len(done.stderr.splitlines()), 1, said=done.stderr)
        this.true(f"{what}: names {named}", named in done.stderr, done.stderr)
        this.true(f"{what}: nothing is left", not out.exists() and not started.exists())


if __name__ == "__main__":
    case.run(check)
