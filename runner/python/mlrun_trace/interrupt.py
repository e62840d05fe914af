# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C in the verbs that are written in Python: they clean up and end by the signal, without a traceback, as the other verbs do."""

from __future__ import annotations

import os
import signal
from typing import Any, Callable


def ends_by_interrupt(main: Callable[[], int]) -> Callable[[], int]:
    """`main`, with KeyboardInterrupt at Ctrl-C; afterwards the process ends by SIGINT, whatever became of the exception: a library may have
    turned it into one of its own. Where SIGINT is ignored, as in the background of a script, it stays so."""

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
