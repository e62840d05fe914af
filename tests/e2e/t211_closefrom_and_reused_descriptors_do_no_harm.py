# SPDX-License-Identifier: Apache-2.0
"""After closefrom(3), files opened again on the same numbers receive no bytes from mlrun, and each call names its
file."""

from pathlib import Path

from lib import case, serials

CALLS = 5000


def check(this):
    data, out = this.data_file(), this.path("out.bin")
    trace = this.trace(this.victim("closefrom_reuse"), data, out, CALLS)
    this.equal("content of the program's own file", Path(out).read_bytes(), b"01234567")
    serials.expect_threads(this, trace.serials(data), [CALLS])
    written = trace.calls_of("write", path=out)
    this.equal("writes to it", [(call.requested, call.ret) for call in written], [(8, 8)])


if __name__ == "__main__":
    case.run(check)
