# SPDX-License-Identifier: Apache-2.0
"""A command that does not exist gives status 127, one that cannot be executed 126, each with one line and no trace
folder."""

from lib import case


def check(this):
    not_executable = this.path("plain.txt")
    not_executable.write_text("text\n")
    for command, status in (("no-such-program-here", 127), (this.path("missing"), 127), (not_executable, 126),
                            (this.folder, 126)):
        out = this.new_trace()
        done = this.run(*this.command(command, out=out))
        this.equal(f"exit status of {command}", done.returncode, status, said=done.stderr)
        this.true("one clear line", done.stderr.count("\n") == 1 and str(command) in done.stderr, done.stderr)
        this.true("no folder is left", not out.exists())


if __name__ == "__main__":
    case.run(check)
