# SPDX-License-Identifier: Apache-2.0
"""What goes wrong when a trace or a sweep is read."""

import argparse
import importlib
import re
import textwrap
from types import ModuleType
from typing import Any, NoReturn

from mlrun_trace.output import emit


class TraceError(Exception):
    """A folder is not a trace, or lacks the requested data. The message says what failed, on what, and what to do."""


def first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


class LineFormatter(argparse.HelpFormatter):
    """Keeps the lines of a description, and wraps those that are too wide. Commands of examples stay whole, to be copied."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(indent + self._filled(line, width) for line in text.splitlines())

    @staticmethod
    def _filled(line: str, width: int) -> str:
        name = re.match(r"(  \w+ +)?", line)
        if line.startswith("  mlrun ") or name is None:
            return line
        return textwrap.fill(line, width, subsequent_indent=" " * name.end(), break_on_hyphens=False)


class WordParser(argparse.ArgumentParser):
    """Parser of a command line. Wrong words raise TraceError like any other error."""

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=LineFormatter, **options)

    def print_help(self, file: Any = None) -> None:  # pylint: disable=unused-argument
        emit(self.format_help())

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
