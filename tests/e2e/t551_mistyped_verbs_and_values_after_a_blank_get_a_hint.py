# SPDX-License-Identifier: Apache-2.0
"""A word that is no command but looks like a verb, a request for help or an option's value is explained in one line; a
command of that name is run."""

import shutil

from lib import case

MEANT = [
    (["--preload", "files", "cat", "x"], "--preload=files"),
    (["--preload", "files,allocs", "cat"], "--preload=files,allocs"),
    (["--stacks", "16", "cat"], "--stacks=16"),
    (["--python-stacks", "50", "cat"], "--python-stacks=50"),
    (["--kprobes", "block", "cat"], "--kprobes=block"),
    (["--cupti", "require", "cat"], "--cupti=require"),
    (["run", "--sample", "gpu", "cat"], "--sample=gpu"),
    (["--sample", "cpu,net", "cat"], "--sample=cpu,net"),
    (["--access", "cold,10", "cat"], "--access=cold,10"),
    (["help"], "mlrun --help"),
    (["help", "show"], "mlrun show --help"),
    (["version"], "mlrun --version"),
    (["repotr", "trace"], "mlrun report TRACE"),
    (["docter"], "mlrun doctor"),
    (["--quiet", "report", "trace"], "mlrun report, the verb first"),
]
NOT_MEANT = [["--preload", "--", "files"], ["--preload", "fils"], ["--preload", "./files"], ["xyzzyx"], ["--", "repotr"],
             ["--quiet", "files"]]


def check(this):
    for words, meant in MEANT:
        done = this.run(case.MLRUN, *words)
        this.equal(f"{words}: exit status", done.returncode, 127, said=done.stderr)
        this.true(f"{words}: one line", done.stderr.endswith(f": command not found; did you mean: {meant}\n") and
                  done.stderr.count("\n") == 1, done.stderr)
    for words in NOT_MEANT:
        done = this.run(case.MLRUN, *words)
        this.equal(f"{words}: exit status", done.returncode, 127, said=done.stderr)
        this.true(f"{words}: nothing is guessed", "did you mean" not in done.stderr, done.stderr)
    this.equal("no trace is made", [path.name for path in this.folder.glob("mlrun-*")], [])
    folder = this.path("bin")
    folder.mkdir()
    found = this.environment | {"PATH": f"{folder}:{this.environment['PATH']}"}
    for name, words in (("files", ["--preload"]), ("16", ["--stacks"]), ("help", []), ("repotr", []), ("block", ["--kprobes=off"])):
        shutil.copy(shutil.which("true"), folder / name)
        for command in (name, str(folder / name)):
            done = this.run(case.MLRUN, *words, "--quiet", "-o", this.new_trace(), command, env=found)
            this.equal(f"a program {command} is run", (done.returncode, done.stderr), (0, ""))
            if words:
                done = this.run(case.MLRUN, "--quiet", "-o", this.new_trace(), *words, command, env=found)
                this.equal(f"a program {command} behind {words} is run", (done.returncode, done.stderr), (0, ""))
    (folder / "marks").mkdir()
    done = this.run(case.MLRUN, "--preload", "marks", env=found)
    this.true("a folder of that name is no command", "--preload=marks" in done.stderr, done.stderr)


if __name__ == "__main__":
    case.run(check)
