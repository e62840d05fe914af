# SPDX-License-Identifier: Apache-2.0
"""A rule that cannot be kept ends mlrun before the command starts: status 125, one line that says what is wrong and what to write, no trace."""

from lib import case

BAD = {
    "size >= 1M -> node 77": "node 77 does not exist",
    "size >= 1K -> default": "size >= 4096",
    "size >= 0 -> default": "size >= 4096",
    "size 0..2M -> default": "size >= 4096",
    "size 2M..1M -> default": "no size fits",
    "size >= 1M -> nodes 0": "is no target",
    "size >= 1M -> node 0 stict": "'stict' is not understood",
    "colour red -> default": "is no condition",
    "main and worker -> default": "a rule can have one",
    "site 12+x -> default": "is no frame of a signature",
    "site 1f2e3d4c+0x20-10 -> default": "is no frame of a signature",
    "size >= 1M and -> default": "'and' needs a condition before and after it",
    "and size >= 1M -> default": "'and' needs a condition before and after it",
    "size >= 1M -> 1::1 node 0,1": "'1::1' is no ratio",
    "size >= 1M -> :1 node 0": "':1' is no ratio",
    "-> node 0 budget 5G budget 9K": "two budgets",
    "-> default strict": "names none",
    "-> interleave 0 strict": "write a ratio",
    "-> node 0 budget 0": "a budget below 4096 bytes",
    "mmap size >= 1M -> node 0 budget 1G": "a budget limits blocks, not mappings",
    "size > 18446744073709551615 -> default": "no size is above that",
    "-> 3:1 node 0": "the ratio has 2 numbers and 1",
    "-> 1:1 node 0,0": "in rising order",
    "size < 4K -> default": "no size fits",
    "-> near gpu 99": "GPU 99 does not exist",
    "-> hbw": "this machine has no hbw memory",
    "nothing.toml": "everything else is the name of a file",
}
FILES = {
    'rule = 1': "has no [[rule]]",
    '[[rule]]\nto = "node 0"\nsizes = "1M"': "line 3: 'sizes' is no key of a rule; did you mean size?",
    '[[rule]]\nsize = ">= 1M"': "has no key 'to'",
    '[[rule]]\nsize = 5\nto = "default"': "line 2: 'size' must be a text",
    '[[rule]]\nto = "default"\nhuge = "yes"': "line 3: 'huge' must be true or false",
    '[[rule]\n': "line 1:",
    '[[rule]]\nto = "default"\n[other]\n': "'other' is unknown",
}


def refused(this, said, *options):
    out = this.new_trace()
    done = this.run(case.MLRUN, "run", "-o", out, *options, "--", "touch", this.path("ran"))
    this.equal(f"status of {options}", done.returncode, 125, said=done.stderr)
    this.equal(f"lines for {options}", done.stderr.count("\n"), 1, said=done.stderr)
    this.true(f"{options}: says {said!r}", said in done.stderr, done.stderr)
    this.true("nothing is left", not out.exists() and not this.path("ran").exists())


def check(this):
    for rule, said in BAD.items():
        refused(this, said, "--place", rule)
    for text, said in FILES.items():
        this.path("rules.toml").write_text(text + "\n", encoding="utf-8")
        refused(this, said, "--place", this.path("rules.toml"))
    refused(this, "there are dax-kmem", "--mem-kind", "fast")
    refused(this, "--mem-kind hbw: this machine has no hbw memory", "--mem-kind", "hbw")
    refused(this, "/dev/zero has more than 16 MiB", "--place", "/dev/zero")
    refused(this, "--place: the value is missing", "--place")
    this.environment["MEMKIND_HBW_NODES"] = "fast"
    refused(this, "MEMKIND_HBW_NODES is no list of nodes", "--place", "-> hbw")
    refused(this, "64 are the most", *(["--place", "-> default"] * 65))


if __name__ == "__main__":
    case.run(check)
