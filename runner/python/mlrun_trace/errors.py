# SPDX-License-Identifier: Apache-2.0
"""What goes wrong when a trace or a sweep is read."""

import argparse
import importlib
from types import ModuleType
from typing import NoReturn


class TraceError(Exception):
    """A folder is no trace, or lacks what was asked for. The message says what failed, on what, and what to do."""


def first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


class WordParser(argparse.ArgumentParser):
    """Words of a command line; wrong ones are an error as any other."""

    def error(self, message: str) -> NoReturn:
        raise TraceError(f"{message}; see {self.prog} --help")


def need(module: str) -> ModuleType:
    """Imports a package of an extra; without it the message names the command that installs it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name != package:
            raise
        extra = {"matplotlib": "plot", "mcp": "mcp"}.get(package, "data")
        raise TraceError(f"this needs the package {package}: pip install {package}, or 'mlrun-tracer[{extra}]'") from None
