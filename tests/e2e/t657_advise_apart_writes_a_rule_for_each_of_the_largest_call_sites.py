# SPDX-License-Identifier: Apache-2.0
"""`mlrun advise --apart` writes a rule for each of the largest call sites, the one with the most bytes x time first; each places the blocks of its caller and
no others. The file is renewed as others are. What goes with a choice of memory alone, and a trace without stacks, is one clear error that leaves no file."""

import tomllib

from lib import case

OPTIONS = ("--alloc-min=64K", "--python-stacks=off", "--sample=off")


def advise(this, *words):
    return this.run(case.MLRUN, "advise", *words)


def read(path):
    return tomllib.loads(path.read_text(encoding="utf-8"))


def check_file(this, trace, rules):
    done = advise(this, trace.folder, "--apart", "-o", rules)
    this.equal("exit status", done.returncode, 0, said=done.stderr)
    lines = done.stdout.splitlines()
    this.equal("how much these sites have", lines[0], "2 of 2 call sites have a rule each; they have 100.0 % of the bytes x time of all blocks of 64.0 KiB and more")
    this.true("the largest one first", "add_cold" in lines[1] and "add_hot" in lines[2] and len(lines) == 4, lines)
    this.equal("the next command", lines[3], f"next: mlrun --place '{rules}' --access=cold --stacks=16 --alloc-min=65536 COMMAND")
    file = read(rules)
    this.equal("where blocks go", [rule["to"] for rule in file["rule"]], ["default", "default"])
    this.equal("callers of a rule", [len(rule["site"]) for rule in file["rule"]], [1, 1])
    one = this.path("one.toml")
    done = advise(this, trace.folder, "--apart=1", "-o", one)
    this.true("one site", done.stdout.startswith("1 of 2 call sites"), done.stdout + done.stderr)
    this.equal("one rule, that of the largest", read(one)["rule"], file["rule"][:1])
    same = this.path("same.toml")
    done = advise(this, rules, "-o", same)
    this.equal("nothing to renew", done.stdout, "of 2 sites 0 are recognised by the names of functions, 0 are not found\n", said=done.stderr)
    this.equal("the same file", read(same), file)


def check(this):
    program = (this.victim("two_sites"), "0.1")
    trace = this.trace(*program, options=("--stacks=16", *OPTIONS))
    blocks, small, large = map(int, trace.stdout.split())
    rules, missing, trial = this.path("apart.toml"), this.path("missing.toml"), this.path("trial")
    check_file(this, trace, rules)
    placed = this.trace(*program, options=("--preload=off", "--place", rules))
    counts = [(row["matches"], row["bytes"], row["fallbacks"]) for row in sorted(placed.rows("placement"), key=lambda row: row["rule"])]
    this.equal("blocks of each caller", counts, [(blocks, blocks * large, 0), (blocks, blocks * small, 0)])
    without_stacks = this.trace(*program, options=OPTIONS)
    for words, said in (((trace.folder, "--apart"), "-o FILE"),
                        ((trace.folder, "--apart", "--fast", "huge=1G", "-o", missing), "--apart chooses no memory: leave out --fast"),
                        ((trace.folder, "--apart", "--try", trial, "-o", missing), "--apart chooses no memory: leave out --fast"),
                        ((trace.folder, "--apart=0", "-o", missing), "from 1 to 64"),
                        ((trace.folder, "--apart=65", "-o", missing), "from 1 to 64"),
                        ((trace.folder, "--apart=all", "-o", missing), "from 1 to 64"),
                        ((trace.folder, "--apart", "-o", rules), "exists already"),
                        ((trace.folder, "-o", missing), "or --apart"),
                        ((without_stacks.folder, "--apart", "-o", missing), "record it with --stacks=16 --alloc-min=64K"),
                        ((rules, "--apart", "-o", missing), "--apart needs a trace"),
                        ((rules, "--try", trial), "leave out --try"),
                        ((rules, "--try", trial, "-o", missing), "leave out --try")):
        done = advise(this, *words)
        this.equal(f"{words}: status", done.returncode, 125, said=done.stderr)
        this.true(f"{words}: one line", done.stderr.count("\n") == 1 and said in done.stderr, done.stderr)
        this.true(f"{words}: nothing is there", not missing.exists() and not trial.exists())


if __name__ == "__main__":
    case.run(check)
