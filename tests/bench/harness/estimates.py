# SPDX-License-Identifier: Apache-2.0
"""A median of paired differences with its 95 % interval, by a percentile bootstrap over pairs."""

from dataclasses import asdict, dataclass

import numpy

RESAMPLES = 10000
SEED = 20260101


@dataclass
class Estimate:
    median: float
    low: float  # of the 95 % interval
    high: float
    pairs: int

    def as_dict(self):
        return asdict(self)


def estimate(values):
    """`values` holds one figure of each pair. The same values always give the same interval."""
    values = numpy.asarray(values, dtype=float)
    picks = numpy.random.default_rng(SEED).integers(0, len(values), (RESAMPLES, len(values)))
    low, high = numpy.percentile(numpy.median(values[picks], axis=1), (2.5, 97.5))
    return Estimate(float(numpy.median(values)), float(low), float(high), len(values))
