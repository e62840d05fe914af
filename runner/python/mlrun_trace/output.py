# SPDX-License-Identifier: Apache-2.0
"""Standard output of the verbs that are written in Python: if it cannot be written they end as the C++ verbs do
(runner/util/program.h)."""

from __future__ import annotations

import errno
import os
import signal
import sys
from typing import Callable, Optional


class OutputError(Exception):
    """Standard output cannot be written. Not an OSError, which would be taken for one of a file."""

    def __init__(self, number: int) -> None:
        super().__init__(os.strerror(number))
        self.number = number


def emit(text: str) -> None:
    """Writes to standard output and flushes it, so that a failure is noticed here and not at exit."""
    output: Optional[object] = sys.stdout  # Python has none if descriptor 1 is closed
    if output is None:
        raise OutputError(errno.EBADF)
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        raise OutputError(error.errno or errno.EIO) from None


def checks_output(main: Callable[[], int]) -> Callable[[], int]:
    """Wraps `main`: if emit() fails, the error is one line and the status 125. If the reader of a pipe has closed it, the process ends by
    SIGPIPE without a message, even if SIGPIPE is ignored."""

    def run() -> int:
        try:
            return main()
        except OutputError as error:
            if error.number != errno.EBADF:  # Python flushes what is left once more when it exits
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            if error.number == errno.EPIPE:
                signal.signal(signal.SIGPIPE, signal.SIG_DFL)
                os.kill(os.getpid(), signal.SIGPIPE)
            print(f"mlrun: error: cannot write to standard output: {error}", file=sys.stderr)
            return 125

    return run
