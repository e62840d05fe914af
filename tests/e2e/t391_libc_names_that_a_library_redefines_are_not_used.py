# SPDX-License-Identifier: Apache-2.0
"""A library before libc defines its own __libc_malloc, clock_gettime, dirfd, environ ...: recording neither calls nor
reads them, and the trace has the program's calls."""

import errno

from lib import case


def check(this):
    written = this.path("written")
    for options in ((), ("--alloc-min", "0", "--stacks"), ("--python-stacks",)):
        trace = this.trace(this.victim("uses_streams"), written, options=options, status=7)
        this.equal("bytes written", sum(call.ret for call in trace.calls if call.path == str(written)
                                        and call.func in ("fputs", "fwrite", "fflush")), 2 * 5000 * 11)
        this.equal("the call that failed", [call.err for call in trace.calls if call.path == "/nothing/here"], [errno.ENOENT])
        blocks = [row for row in trace.rows("alloc") if row["size"] == 100000]
        this.equal("usable bytes of a block", [row["usable"] for row in blocks], [100008])
        shells = [image["exe"] for image in trace.rows("image") if "uses_streams" not in image["exe"]]
        this.true("the shells were followed", len(shells) >= 2, shells)


if __name__ == "__main__":
    case.run(check)
