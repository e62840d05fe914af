# SPDX-License-Identifier: Apache-2.0
"""What goes wrong when a trace or a sweep is read."""

import argparse
import importlib
from types import ModuleType
from typing import NoReturn


class TraceError(Exception):
    """A folder is not a trace, or lacks the requested data. The message says what failed, on what, and what to do."""


def first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


class WordParser(argparse.ArgumentParser):
    """Parser of a command line. Wrong words raise TraceError like any other error."""

    def error(self, message: str) -> NoReturn:
        raise TraceError(f"{message}; see {self.prog} --help")


def need(module: str) -> ModuleType:
    """Imports an optional package. If it is missing, the error names the command that installs it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name != package:
            raise
        extra = {"matplotlib": "plot", "mcp": "mcp"}.get(package, "data")
        raise TraceError(f"this needs the package {package}: pip install {package}, or 'mlrun-tracer[{extra}]'") from None
