# SPDX-License-Identifier: Apache-2.0
"""Empty values, unused values and missing names each give one clear error and status 125, and create nothing."""

from lib import case

RUN = [
    (["--stacks="], "--stacks="), (["--preload="], "--preload="), (["--kprobes="], "--kprobes="), (["--mllog", ""], "--mllog"),
    (["--preload=files", "--alloc-min", "4"], "--alloc-min"), (["--sample=off", "--sample-hz", "3"], "--sample-hz"),
    (["--pid", "1,", "--kprobes"], "--pid 1,"), (["--buffer", "64M", "--buffer", "8M"], "more than once"),
    (["--preload=off"], "nothing to record"), (["--preload=files,"], "beside a comma"), (["--prelaod"], "did you mean --preload"),
]
SHOW = [
    (["call", "--where", ""], "--where"), (["call", "--columns", ""], "--columns"), ([""], "empty"), (["--limit", "1"], "name one"),
    (["call", "--limit", "-1"], "'-1' is not a whole number"), (["call", "--limit", "1", "--limit", "2"], "more than once"),
    (["call", "--where", "func = read or func = write"], "`or`"), (["call", "--columns", "ts,,pid"], "beside a comma"),
]
OTHERS = [
    (["report", ""], "empty"), (["list", ""], "empty"), (["pause", "/nonexistent"], "/nonexistent does not exist"),
    (["pause", "TRACE"], "has ended"), (["resume", "TRACE/run.json"], "is no folder"),
]


def refused(this, words, named):
    done = this.run(case.MLRUN, *words)
    this.equal(f"{words}: exit status", done.returncode, 125, said=done.stderr)
    this.true(f"{words}: one line that says {named}", named in done.stderr and done.stderr.count("\n") == 1, done.stderr)
    this.equal(f"{words}: standard output", done.stdout, "")


def check(this):
    trace = this.trace("cat", this.data_file()).folder
    for options, named in RUN:
        refused(this, [*options, "-o", this.path("none"), *([] if "--pid" in options else ["touch", this.path("made")])], named)
    this.true("nothing was made or run", not this.path("none").exists() and not this.path("made").exists())
    refused(this, ["-o", "", "true"], "-o ''")
    for words, named in SHOW:
        refused(this, ["show", trace, *words], named)
    for words, named in OTHERS:
        refused(this, [word.replace("TRACE", str(trace)) for word in words], named)
    script = this.path("script")
    script.write_text("#!/no/such/interpreter -x\n", encoding="utf-8")
    script.chmod(0o755)
    done = this.run(case.MLRUN, "--quiet", script)
    this.equal("a script without its interpreter", (done.returncode, done.stderr), (
        127, f"mlrun: cannot execute {script}: its interpreter /no/such/interpreter does not exist\n"))
    for table, meant in (("calls", "; did you mean call? It has:\n"), ("nonsense", "; it has:\n")):
        done = this.run(case.MLRUN, "show", trace, table)
        this.equal("an unknown table", (done.returncode, done.stdout), (125, ""), said=done.stderr)
        this.true("is explained", f"has no table '{table}'{meant}" in done.stderr, done.stderr)
        this.true("in lines that can be read", all(len(line) <= 80 for line in done.stderr.splitlines()[1:]), done.stderr)


if __name__ == "__main__":
    case.run(check)
