# SPDX-License-Identifier: Apache-2.0
"""With mlrun inside mlrun, the inner trace has the inner program; the outer trace has its own programs and names the
inner session."""

from lib import case, serials
from lib.trace import Trace

CALLS = 2000


def check(this):
    data, inner = this.data_file(), this.path("inner")
    both = ("/bin/sh", "-c", '"$0" "$1" 100 exit; shift; "$@"')
    outer = this.trace(*both, this.victim("numbered"), data, case.MLRUN, "--preload", "--quiet", "-o", inner, "--",
                       this.victim("numbered"), data, CALLS, "exit", status=7)
    serials.expect_threads(this, Trace(inner).serials(data), [CALLS])
    serials.expect_threads(this, outer.serials(data), [100])
    this.true("the outer trace names the inner session", outer.covers("has a trace of its own"),
              outer.rows("coverage"))


if __name__ == "__main__":
    case.run(check)
