# SPDX-License-Identifier: Apache-2.0
"""What cannot become advice is one clear error before anything is measured, and leaves no file: sizes without a unit, more than a node has, a node that is
fast and slow, a folder or a file that is not there, a trace with a sample of its blocks, with sums alone, of several nodes, without blocks that can have huge
pages, a spread that is not measured."""

from lib import case, nodes


def merged(this, *command):
    """A trace of two nodes."""
    this.mlrun = case.MLRUN
    traces = [this.trace(*command).folder for _ in range(2)]
    for number, trace in enumerate(traces):
        nodes.edit_run(trace, lambda run, name=f"host{number}": run["host"].update(name=name))
    nodes.merge(this, *traces, out=this.path("merged"))
    return this.path("merged")


def check(this):
    case.need_huge_pages()
    what = this.path("what")
    what.write_text("dense", encoding="ascii")
    program = (this.victim("hot_and_cold"), "2", "10", what)
    trace = this.trace(*program, options=("--stacks=16", "--alloc-min=64K"))
    sampled = this.trace(*program, options=("--stacks=16", "--alloc-min=64K", "--alloc-sample=1M"))
    sums = this.trace(*program, options=("--summary-only",))
    small = this.trace(this.victim("two_sites"), "0.1", options=("--stacks=16", "--alloc-min=64K"))
    two_nodes = merged(this, *program)
    rules, missing = this.path("rules.toml"), this.path("missing.toml")
    done = this.run(case.MLRUN, "advise", trace.folder, "--fast", "huge=1G", "-o", rules)
    this.equal("advice", done.returncode, 0, said=done.stderr)
    for words, said in (((trace.folder, "--fast", "huge=16", "-o", missing), "sizes have a unit"),
                        ((trace.folder, "--fast", "0=9000T", "-o", missing), "in all"),
                        ((trace.folder, "--fast", "0=64M", "--slow", "0", "-o", missing), "--slow 0: node 0 is one of --fast, too"),
                        ((this.path("rulez.toml"), "--try", this.path("t")), "rulez.toml does not exist"),
                        ((trace.folder, "--fast", "huge=1G", "-o", this.path("absent") / "rules.toml"), "there is no folder"),
                        ((sampled.folder, "--fast", "huge=1G", "-o", missing), "--alloc-sample"),
                        ((sums.folder, "--fast", "huge=1G", "-o", missing), "record it without --summary-only"),
                        ((two_nodes, "--fast", "huge=1G", "-o", missing), "merged from several nodes"),
                        ((small.folder, "--fast", "huge=1G", "-o", missing), "no blocks of 2.00 MiB and more"),
                        ((trace.folder, "--fast", "huge=1G", "-o", missing, "--spread", "4:1"), "add --calibrate"),
                        ((trace.folder, "--fast", "huge=1G", "-o", missing, "--spread", "4:1", "--calibrate", this.path("c")), "one fast and one slow node"),
                        ((rules, "--spread", "4:1", "--try", this.path("t")), "leave out --fast, --calibrate and --spread"),
                        ((rules, "-o", rules), "exists already")):
        done = this.run(case.MLRUN, "advise", *words)
        this.equal(f"{words}: status", done.returncode, 125, said=done.stderr)
        this.true(f"{words}: one line", done.stderr.count("\n") == 1 and said in done.stderr, done.stderr)
        this.true("nothing is there", not missing.exists() and not this.path("c").exists() and not this.path("t").exists())


if __name__ == "__main__":
    case.run(check)
