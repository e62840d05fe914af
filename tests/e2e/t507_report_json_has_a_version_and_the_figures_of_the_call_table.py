# SPDX-License-Identifier: Apache-2.0
"""mlrun report --json has a schema version, and its figures equal those of the call table."""

import json

from lib import case


def check(this):
    data = this.data_file()
    trace = this.trace(this.victim("numbered"), data, 700, "exit", status=7)
    done = this.run(case.MLRUN, "report", "--json", trace.folder)
    this.equal("exit status", done.returncode, 0, said=done.stderr)
    report = json.loads(done.stdout)
    this.true("a schema version", isinstance(report["schema_version"], int), report.keys())
    text = json.dumps(report)
    this.true("the file that was read", data in text)
    moved = sum(call.ret for call in trace.calls_of("pread") if call.ret > 0)
    this.true("its bytes", str(moved) in text, moved)
    missing = this.run(case.MLRUN, "report", this.path("nothing"))
    this.true("a folder that is not there is refused in one line",
              missing.returncode == 125 and missing.stderr.count("\n") == 1, missing.stderr)


if __name__ == "__main__":
    case.run(check)
