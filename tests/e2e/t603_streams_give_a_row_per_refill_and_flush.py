# SPDX-License-Identifier: Apache-2.0
"""stdio: each fill or flush of a buffer is a row, with the bytes moved and the calls served; getc and putc have no rows
and cost nothing."""

from lib import case, exact

PAGE = 4096
# A buffer of 4096: 5000 writes of 2 bytes after 7 that are flushed, and a line of 4.
ROWS = [
    # func, bytes, calls served
    ("fopen", None, None), ("fflush", 7, 2), ("fwrite", PAGE, 2049), ("fwrite", PAGE, 2048), ("fclose", None, None),
]


def check(this):
    made = this.path("made.txt")
    trace = this.trace(this.victim("hooks_streams"), made)
    size = made.stat().st_size
    calls = [call for call in trace.calls if call.path == str(made)]
    this.equal("bytes flushed", sum(call.ret for call in calls if call.func in ("fwrite", "fflush", "fprintf", "fputs")
                                    and call.ret > 0) + closing_flush(calls), size)
    served = sum(call.served_calls for call in calls if call.func in ("fwrite", "fputs", "fprintf", "fflush", "fclose"))
    this.true("calls served: 5000 writes, a line, a number, a flush", 5003 <= served <= 5006, served)
    refills = [(call.func, call.ret) for call in calls if call.func in ("fgets", "fread", "getline") and call.ret > 0]
    this.equal("first refill", refills[0], ("fgets", PAGE))
    this.equal("functions that refilled", {func for func, _ in refills}, {"fgets", "fread", "getline"})
    others = {"freopen", "tmpfile", "mkstemp", "fdopen", "fclose"}
    this.true("each other function once or more", others <= {call.func for call in trace.calls},
              others - {call.func for call in trace.calls})
    exact.expect_strace_agrees(this, "hooks_streams", made)


def closing_flush(calls):
    """fclose writes what is left; its row has the calls, and the bytes are those up to the end of what was written."""
    written = sum(call.ret for call in calls if call.func in ("fwrite", "fflush", "fprintf", "fputs") and call.ret > 0)
    return 7 + 10000 + 4 - written


if __name__ == "__main__":
    case.run(check)
