# SPDX-License-Identifier: Apache-2.0
"""What goes wrong when a trace or a sweep is read."""

import importlib
from types import ModuleType


class TraceError(Exception):
    """A folder is no trace, or lacks what was asked for. The message says what failed, on what, and what to do."""


def need(module: str) -> ModuleType:
    """Imports a package of the extra [data]; without it the message names the command that installs it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise
        raise TraceError(f"this needs the package {module}: pip install {module}, or 'mlrun-tracer[data]'") from None
