# SPDX-License-Identifier: Apache-2.0
"""How traces and sweeps are opened."""

import os
from collections.abc import Iterable
from typing import Union

from mlrun_trace.sweep import Sweep
from mlrun_trace.trace import PathLike, Trace


def open(folder: PathLike) -> Trace:
    """Opens the trace in this folder."""
    return Trace([folder])


def open_all(folders: Union[PathLike, Iterable[PathLike]]) -> Trace:
    """Opens several traces as one: each table gets the column `run`, the name of the trace's folder."""
    return Trace([folders] if isinstance(folders, (str, os.PathLike)) else list(folders))


def open_sweep(folder: PathLike) -> Sweep:
    """Opens the sweep in this folder."""
    return Sweep(folder)
