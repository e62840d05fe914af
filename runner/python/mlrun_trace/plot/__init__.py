# SPDX-License-Identifier: Apache-2.0
"""Pictures of traces and sweeps, by matplotlib without a display. `mlrun plot` is python -m mlrun_trace.plot."""

from mlrun_trace.plot.picture import KINDS, draw

__all__ = ["KINDS", "draw"]
