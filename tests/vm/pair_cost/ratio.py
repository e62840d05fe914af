#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The added cost of a pair of probes per call: ours compared with empty ones, by rounds.

Usage: ratio.py OUT KERNEL"""

import pathlib
import random
import statistics
import sys

OUT, KERNEL = pathlib.Path(sys.argv[1]), sys.argv[2]
RESAMPLES = 4000


def medians(way):
    """Median of each round, in order of the rounds, to be compared with the same round of the other variants."""
    return [statistics.median(float(line) for line in (OUT / f"{way}.{number}").read_text().split())
            for number in range(len(list(OUT.glob(f"{way}.*"))))]


def interval(values):
    drawn = random.Random(1)
    found = sorted(statistics.median(drawn.choices(values, k=len(values))) for _ in range(RESAMPLES))
    return f"{statistics.median(values):.2f} ({found[RESAMPLES // 40]:.2f} to {found[-RESAMPLES // 40]:.2f})"


PAIRS = {"followed": "pair", "followed_general": "pairs"}  # with as many functions that are probed
added = {way: [probed - plain for probed, plain in zip(medians(way), medians("bare"))] for way in ("pair", "pairs", *PAIRS)}
print(f"{KERNEL}: {len(added['pair'])} rounds, medians with 95 % intervals, ns of CPU a call")
print(f"  bare                                  {interval(medians('bare'))}")
print(f"  an empty pair adds                    {interval(added['pair'])}")
print(f"  one on each of two functions          {interval(added['pairs'])}")
print(f"  ours, recorded, adds                  {interval(added['followed'])}")
print(f"  the same on the two functions         {interval(added['followed_general'])}")
for ours, least in PAIRS.items():
    ratios = [recorded / empty for recorded, empty in zip(added[ours], added[least])]
    print(f"  times as many empty pairs ({least})   {interval(ratios)}")
