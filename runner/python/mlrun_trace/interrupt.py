# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C in the verbs that are written in Python: they clean up, then end by SIGINT without a traceback, as the C++ verbs do."""

from __future__ import annotations

import os
import signal
from typing import Any, Callable


def ends_by_interrupt(main: Callable[[], int]) -> Callable[[], int]:
    """Wraps `main`: Ctrl-C raises KeyboardInterrupt, and after clean-up the process ends by SIGINT, even if a library has
    converted the exception. If SIGINT is ignored, as in the background of a script, it stays ignored."""

    def run() -> int:
        interrupted = False

        def interrupt(*_: Any) -> None:
            nonlocal interrupted
            interrupted = True
            raise KeyboardInterrupt

        if signal.getsignal(signal.SIGINT) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(signal.SIGINT, interrupt)
        try:
            return main()
        finally:
            if interrupted:
                signal.signal(signal.SIGINT, signal.SIG_DFL)
                os.kill(os.getpid(), signal.SIGINT)

    return run
