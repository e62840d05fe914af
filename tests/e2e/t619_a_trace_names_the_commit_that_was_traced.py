# SPDX-License-Identifier: Apache-2.0
"""run.json has the Git commit and branch of the work tree in which the command started, as Git reports them, from a
subfolder and with files changed since; outside a work tree it has none."""

import tempfile
from pathlib import Path

from lib import case

GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=trunk", "-c", "core.hooksPath=/dev/null")


def check(this):
    case.need_program("git")
    with tempfile.TemporaryDirectory(prefix="mlrun-source.") as scratch:  # the build may lie in a work tree
        tree, inside = Path(scratch, "tree"), Path(scratch, "tree", "src")
        inside.mkdir(parents=True)
        this.environment |= {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}

        def git(*arguments):
            done = this.run(*GIT, "-C", tree, *arguments)
            this.equal(f"git {arguments[0]}", done.returncode, 0, said=done.stderr)
            return done.stdout.strip()

        def source(folder):
            return this.trace("true", cwd=folder).run["source"]

        this.equal("outside of a work tree", source(scratch), None)
        git("init", "-q")
        this.equal("before the first commit", source(inside), None)
        (inside / "train.py").write_text("print(1)\n")
        git("add", "."), git("commit", "-q", "-m", "one")
        first = {"root": str(tree.resolve()), "commit": git("rev-parse", "HEAD"), "branch": "trunk"}
        this.equal("a commit", source(inside), first)
        (inside / "train.py").write_text("print(2)\n")
        this.equal("files that changed since", source(inside), first)
        git("checkout", "-q", "-b", "another"), git("commit", "-q", "-a", "-m", "two")
        second = source(inside)
        this.equal("the next commit, on another branch", second, first | {"commit": git("rev-parse", "HEAD"), "branch": "another"})
        this.true("is another one", second["commit"] != first["commit"])
        git("checkout", "-q", "--detach", first["commit"])
        this.equal("no branch", source(tree), first | {"branch": None})


if __name__ == "__main__":
    case.run(check)
