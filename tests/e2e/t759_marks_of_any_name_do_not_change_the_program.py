# SPDX-License-Identifier: Apache-2.0
"""A program whose marks have names that are no texts, no UTF-8 or cannot be made a text ends as it does untraced, and every mark has
its row."""

import sys

from lib import case

PROGRAM = f"""
import sys
sys.path.insert(0, {str(case.SOURCE / "runner" / "python")!r})
import mlrun_mark
class Bad:
    def __str__(self):
        print("a side effect")
        raise ValueError
class Text(str):
    __str__ = encode = Bad.__str__
for name in [Text("a"), b"b", 3, None, "\\udcff", "\\ud800", Bad()]:
    mlrun_mark.push(name)
    mlrun_mark.instant(name)
    mlrun_mark.pop()
with mlrun_mark.range(5):
    pass
mlrun_mark.pop()
print("the end")
"""


def check(this):
    trace = this.untraced_and_traced(sys.executable, "-c", PROGRAM)
    texts = {row["name_id"]: row["name"] for row in trace.rows("name")}
    names = [texts[row["name_id"]] for row in sorted(trace.rows("mark"), key=lambda row: (row["ts"], row["mark_id"]))]
    wanted = ["a", "b", "3", "NoneType", "\\xff", "\\ud800", "Bad"]
    this.equal("marks", names, [name for name in wanted for _ in range(2)] + ["5"])


if __name__ == "__main__":
    case.run(check)
