# SPDX-License-Identifier: Apache-2.0
"""Ranges and points in time that a program adds to its trace: push(), pop(), instant(), range(). Without mlrun they do nothing."""

from mlrun_mark import instant, pop, push, range

__all__ = ["instant", "pop", "push", "range"]
