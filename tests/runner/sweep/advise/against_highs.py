#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Chosen sites against the exact optimum by HiGHS on random cases and on runs of thousands of moments, most of them loops whose phases alternate: the
median has 99 % of the optimum's gain, none less than 90 %, what is chosen fits at every moment, and the bound is one. Two phases that never overlap both fit,
where a choice by totals has room for one.

Usage: against_highs.py CHOSEN CASES RUNS: the program made of chosen.cpp, the numbers of random cases and of runs.
"""

import random
import subprocess
import sys

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

SITES, MOMENTS = 40, 60
PAGE = 4096


def case(source):
    """Lifetimes of one to five blocks a site, sizes from 64 KiB to 1 GiB; room for 5 to 50 % of the most that lives at once."""
    use = np.zeros((SITES, MOMENTS))
    for site in range(SITES):
        for _ in range(source.choice([1, 1, 2, 5])):
            begin = source.randrange(MOMENTS)
            use[site, begin:begin + 1 + int(source.expovariate(4 / MOMENTS))] += int(2 ** source.uniform(16, 30))
    return use, *gain_and_capacity(source, use)


def gain_and_capacity(source, use):
    gain = np.array([source.lognormvariate(0, 1.5) for _ in use]) * use.max(axis=1) ** source.choice([0.5, 1])
    return gain, float(use.sum(axis=0).max() * source.uniform(0.05, 0.5))


def loop(source, noise):
    """Blocks of a loop of two to eight phases, each with its sites in an order of its own; some sites live all along. noise: of sizes and order."""
    sizes = [int(2 ** source.uniform(16, 30)) for _ in range(SITES)]
    count = source.randint(2, 8)
    phases = [list(range(phase, SITES - 5, count)) for phase in range(count)]
    turns = 12_000 // SITES
    blocks, now = [(site, 0, 10**9, sizes[site] // PAGE * PAGE) for site in range(SITES - 5, SITES)], 1
    for _ in range(turns):
        for phase in phases:
            if noise:
                source.shuffle(phase)
            begins = {site: now + order for order, site in enumerate(phase)}
            for order, site in enumerate(phase):
                end = now + len(phase) + (order * 7 % len(phase) if noise else order)
                blocks.append((site, begins[site], end, int(sizes[site] * (1 + noise * source.random())) // PAGE * PAGE))
            now += 2 * len(phase)
    return blocks


def wander(source):
    """Blocks of random sites at random moments; which sites are frequent changes in the course of the run."""
    sizes = [int(2 ** source.uniform(16, 30)) // PAGE * PAGE for _ in range(SITES)]
    blocks = []
    for number in range(6000):
        site = min(SITES - 1, max(0, int(source.gauss(number * SITES / 6000, 3))))
        begin = 3 * number
        blocks.append((site, begin, begin + 1 + int(source.expovariate(1 / 60)), sizes[site]))
    return blocks


def use_of(blocks):
    """Bytes of each site after each moment at which a block begins: each combination once."""
    changes = {}
    for site, begin, end, size in blocks:
        changes.setdefault(begin, []).append((site, size))
        changes.setdefault(end, []).append((site, -size))
    now, rows = np.zeros(SITES), []
    for moment in sorted(changes):
        for site, size in changes[moment]:
            now[site] += size
        if any(size > 0 for _, size in changes[moment]):
            rows.append(now.copy())
    return np.unique(rows, axis=0).T


def choose(program, texts, *words):
    lines = "\n".join(" ".join(str(number) for part in text for number in part) for text in texts)
    done = subprocess.run([program, *words], input=lines, capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        gain, bound, *sites = line.split()
        yield float(gain), float(bound), [int(site) for site in sites]


def by_moments(program, cases):
    return choose(program, [([len(gain), capacity], gain.tolist(), [use.shape[1]], use.ravel().tolist()) for use, gain, capacity in cases])


def optimum(use, gain, capacity):
    return -milp(-gain, constraints=LinearConstraint(use.T, -np.inf, capacity), integrality=np.ones(len(gain)), bounds=Bounds(0, 1),
                 options={"time_limit": 30, "mip_rel_gap": 1e-6}).fun


def compare(what, cases, chosen):
    shares, bounds = [], []
    for (use, gain, capacity), (got, bound, sites) in zip(cases, chosen, strict=True):
        assert (use[sites].sum(axis=0) <= capacity).all(), "what is chosen does not fit"
        assert abs(gain[sites].sum() - got) <= 1e-9 * got, "the gain is not that of the chosen sites"
        best = optimum(use, gain, capacity)
        assert bound >= best * (1 - 1e-6), f"the bound {bound} is below the optimum {best}"
        shares.append(got / best)
        bounds.append(bound / best)
    print(f"{what}: of the optimum: median {np.median(shares):.4f}, worst {min(shares):.4f}; bound: median {np.median(bounds):.3f}, worst {max(bounds):.3f}")
    assert np.median(shares) >= 0.99 and min(shares) >= 0.90, shares


def check_random(program, count):
    source = random.Random(20261126)
    cases = [case(source) for _ in range(count)]
    compare("random cases", cases, by_moments(program, cases))


def check_runs(program, count):
    source = random.Random(20261127)
    runs = [wander(source) if number % 4 == 3 else loop(source, number % 4 / 4) for number in range(count)]
    cases = []
    for blocks in runs:
        use = use_of(blocks)
        cases.append((use, *gain_and_capacity(source, use)))
    texts = [([SITES, capacity], gain.tolist(), [len(blocks)], [number for block in blocks for number in block])
             for blocks, (_, gain, capacity) in zip(runs, cases, strict=True)]
    compare("whole runs", cases, choose(program, texts, "lives"))


def check_phases(program):
    each = 12
    use = np.zeros((2 * each, 40))
    use[:each, :20] = 1
    use[each:, 20:] = 1
    ((gain, bound, sites),) = by_moments(program, [(use, np.ones(2 * each), float(each))])
    assert (gain, len(sites)) == (2 * each, 2 * each) and abs(bound - gain) < 1e-6, (gain, bound, sites)


check_random(sys.argv[1], int(sys.argv[2]))
check_runs(sys.argv[1], int(sys.argv[3]))
check_phases(sys.argv[1])
