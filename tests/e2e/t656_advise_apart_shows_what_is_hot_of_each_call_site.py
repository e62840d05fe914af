# SPDX-License-Identifier: Apache-2.0
"""Two callers whose blocks alternate in one mapping, as in t745, but without knowing them: from a short recording with stacks, `mlrun advise --apart` writes a rule for
each. Run again with these rules and --access=cold, one caller is hot and the other one cold."""

from lib import accesses, case


def check(this):
    plain = this.trace(this.victim("two_sites"), "0.1", options=("--stacks=16", "--alloc-min=64K", "--python-stacks=off", "--sample=off"))
    rules = this.path("apart.toml")
    done = this.run(case.MLRUN, "advise", plain.folder, "--apart", "-o", rules)
    this.equal("exit status", done.returncode, 0, said=done.stderr)
    hot, cold = accesses.check_told_apart(this, "--stacks=16", "--place", rules)
    print("hot", hot["hot_ppm"], "cold", cold["hot_ppm"])


if __name__ == "__main__":
    case.run(check)
