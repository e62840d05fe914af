# SPDX-License-Identifier: Apache-2.0
"""mlrun list FOLDER prints one line for each trace with its command, and omits folders that are not traces."""

from lib import case


def check(this):
    data = this.data_file()
    traces = [this.trace(this.victim("numbered"), data, count, "exit", status=7) for count in (10, 20)]
    this.path("no_trace").mkdir()
    done = this.run(case.MLRUN, "list", this.folder)
    this.equal("exit status", done.returncode, 0, said=done.stderr)
    for trace in traces:
        this.true("each trace has a line", sum(trace.folder.name in line and "numbered" in line
                                               for line in done.stdout.split("\n")) == 1, done.stdout)
    this.true("nothing else", "no_trace" not in done.stdout, done.stdout)


if __name__ == "__main__":
    case.run(check)
