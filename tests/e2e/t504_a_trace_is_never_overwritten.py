# SPDX-License-Identifier: Apache-2.0
"""-o with an existing folder is refused with status 125 and one line, the command is not started and the folder is
unchanged; without -o each run takes the next number."""

from lib import case


def check(this):
    out, proof = this.new_trace(), this.path("started")
    out.mkdir()
    (out / "mine.txt").write_text("mine\n")
    done = this.run(*this.command("touch", proof, out=out))
    this.equal("exit status", done.returncode, 125, said=done.stderr)
    this.true("one line that names the folder", done.stderr.count("\n") == 1 and str(out) in done.stderr, done.stderr)
    this.true("the command was not started", not proof.exists())
    this.equal("the folder", [path.name for path in out.iterdir()], ["mine.txt"])
    for _ in range(2):
        this.run(case.MLRUN, "--preload", "--quiet", "/bin/true")
    made = sorted(path.name for path in this.folder.glob("mlrun-*"))
    this.equal("folders of two runs", made, ["mlrun-true-1", "mlrun-true-2"])


if __name__ == "__main__":
    case.run(check)
