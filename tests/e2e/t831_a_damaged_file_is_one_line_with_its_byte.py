# SPDX-License-Identifier: Apache-2.0
"""Files that are empty, cut, damaged, nested too deep or of no known format are one line with the byte, status 125, and leave nothing behind."""

import gzip

from lib import case
from lib.imported import imported, refused

EVENT = b'{"ph":"X","ts":1,"dur":2,"pid":1,"tid":1,"name":"e"}'


def check(this):
    packed = gzip.compress(b"[" + EVENT * 2000 + b"]")
    cases = {"empty": (b"", "empty", "byte 0"), "garbage.json": (b"[" + EVENT + b",{\"ph\" \"X\"}]", f"byte {len(EVENT) + 2}"),
             "deep.json": (b"[" + EVENT + b"," + b'{"a":' * 100_000, "nested", f"byte {len(EVENT) + 2}"),
             "between.json": (b"[" + EVENT + b";" + EVENT + b"]", "byte"), "text.txt": (b"hello\nworld\n", "byte 0"),
             "rest.json": (b"[" + EVENT + b"] x", f"byte {len(EVENT) + 3}"), "no_base.sqlite": (b"SQLite format 3\0" + b"x" * 5000, "damaged"),
             "archive.otf2": (b"\x03\x42OTF2\0\3" + b"x" * 300, "cannot import"), "perf.data": (b"PERFILE2" + b"\xff" * 200, "perf"),
             "flipped.gz": (packed[:200] + bytes(byte ^ 0xff for byte in packed[200:260]) + packed[260:], "byte")}
    for name, (content, *parts) in cases.items():
        path = this.path(name)
        path.write_bytes(content)
        refused(this, path, *parts)
    refused(this, this.path("absent"), "absent")
    path = this.path("numbers.json")
    path.write_bytes(b'[{"ph":"X","ts":1e400,"dur":1,"pid":1,"tid":1,"name":"a"},{"ph":"X","ts":' + b"9" * 5000 + b',"dur":1,"pid":1,"name":"b"},'
                     b'{"ph":"X","ts":1,"dur":-5,"pid":-3,"tid":1e30,"name":"c"}]')
    trace = imported(this, path)
    this.equal("enormous numbers are listed", trace.left_out(), {"a time that is no number, or out of range": 2, "a negative duration": 1})


if __name__ == "__main__":
    case.run(check)
