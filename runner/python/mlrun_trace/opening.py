# SPDX-License-Identifier: Apache-2.0
"""How traces and sweeps are opened."""

from collections.abc import Iterable

from mlrun_trace.sweep import Sweep
from mlrun_trace.trace import PathLike, Trace


def open(folder: PathLike) -> Trace:
    """The trace in this folder."""
    return Trace([folder])


def open_all(folders: Iterable[PathLike]) -> Trace:
    """Several traces as one: each table has the column `run`, the name of the trace's folder."""
    return Trace(list(folders))


def open_sweep(folder: PathLike) -> Sweep:
    """The sweep in this folder."""
    return Sweep(folder)
