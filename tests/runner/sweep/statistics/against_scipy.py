#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Intervals, tests and corrections are those of SciPy and statsmodels on 1,000 random samples each, change points those of Apache Otava.

Usage: against_scipy.py FIGURES, the program made of figures.cpp.
"""

import gc
import json
import pathlib
import subprocess
import sys

import numpy as np
from scipy import stats
from scipy.stats._resampling import BootstrapResult
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.weightstats import ttost_ind, ttost_paired

SAMPLES = 1000
TOLERANCE = 1e-6
LEVELS = (0.9, 0.95, 0.99)
HERE = pathlib.Path(__file__).parent


def sample(random, zeros):
    """Positive values of any scale and spread; with zeros, counts such as those of page faults."""
    n = int(random.integers(5, 40))
    if zeros:
        values = random.poisson(random.uniform(1, 5), n).astype(float)
        values[random.integers(n)] = 0
        values[random.integers(n)] += 3  # not all of them 0
        return values
    return 10 ** random.uniform(-6, 6) * np.exp(random.normal(0, 10 ** random.uniform(-3, 0), n))


def describe(random):
    values = sample(random, random.random() < 0.2)
    level = float(random.choice(LEVELS))
    is_log = values.min() > 0
    scaled = np.log(values) if is_log else values
    interval = stats.ttest_1samp(scaled, 0).confidence_interval(level)
    line = stats.linregress(np.arange(len(values)), scaled if is_log else values / values.mean())
    half = line.stderr * stats.t.ppf((1 + level) / 2, len(values) - 2)
    slopes = np.array([line.slope, line.slope - half, line.slope + half])
    slope, slope_low, slope_high = np.expm1(slopes) if is_log else slopes
    return {"task": "describe", "values": values.tolist(), "level": level}, {
        "mean": values.mean(),
        "sd": values.std(ddof=1),
        "median": np.median(values),
        "low": np.exp(interval.low) if is_log else interval.low,
        "high": np.exp(interval.high) if is_log else interval.high,
        "method": "t, logs" if is_log else "t",
        "slope": slope,
        "slope_low": slope_low,
        "slope_high": slope_high,
    }


def compare(random):
    by_block = bool(random.random() < 0.5)
    zeros = random.random() < 0.2
    a = sample(random, zeros)
    if by_block:
        b = a * np.exp(random.normal(0.02, 0.1, len(a)))
    elif zeros:
        b = sample(random, zeros)
    else:
        b = a[0] * np.exp(random.normal(0.02, 10 ** random.uniform(-3, 0), int(random.integers(5, 40))))
    level, margin = float(random.choice(LEVELS)), float(random.uniform(0.01, 0.5))
    is_log = min(a.min(), b.min()) > 0
    x, y = (np.log(a), np.log(b)) if is_log else (a / a.mean(), b / a.mean())
    low, high = (np.log1p(-margin), np.log1p(margin)) if is_log else (-margin, margin)
    if by_block:
        test = stats.ttest_rel(y, x)
        equal_p = ttost_paired(y, x, low, high)[0]
    else:
        test = stats.ttest_ind(y, x, equal_var=False)
        equal_p = ttost_ind(y, x, low, high, usevar="unequal")[0]
    interval = test.confidence_interval(level)
    fractions = np.array([y.mean() - x.mean(), interval.low, interval.high])
    difference, least, most = np.expm1(fractions) if is_log else fractions
    method = ("paired t" if by_block else "Welch t") + (", logs" if is_log else "")
    task = {"task": "compare", "a": a.tolist(), "b": b.tolist(), "by_block": by_block, "level": level, "margin": margin}
    return task, {
        "difference": difference,
        "low": least,
        "high": most,
        "p": test.pvalue,
        "equal_p": equal_p,
        "method": method,
    }


def bca(random):
    values = sample(random, False)
    n = len(values)
    level, quantile = float(random.choice(LEVELS)), float(random.choice((0.25, 0.5, 0.9)))
    resamples = random.integers(0, n, (100, n))

    def statistic(x, axis=-1):
        return np.quantile(x, quantile, axis=axis)

    replicates = statistic(np.sort(values)[resamples])
    given = BootstrapResult(confidence_interval=None, bootstrap_distribution=replicates, standard_error=None)
    result = stats.bootstrap(
        (values,), statistic, n_resamples=0, bootstrap_result=given, confidence_level=level, method="BCa"
    )
    interval = result.confidence_interval
    task = {"task": "bca", "values": values.tolist(), "quantile": quantile, "level": level}
    return task | {"resamples": resamples.tolist()}, {"low": interval.low, "high": interval.high}


def holm(random):
    p = random.random(int(random.integers(1, 20))) ** random.uniform(1, 6)
    return {"task": "holm", "p": p.tolist()}, multipletests(p, method="holm")[1].tolist()


def otava():
    """Series with the change points that Apache Otava finds; make_otava_series.py makes them."""
    for line in (HERE / "otava_series.jsonl").read_text().splitlines():
        case = json.loads(line)
        yield {"task": "changes", "values": case["values"], "least_change": case["least_change"]}, case["points"]


def differences(expected, actual, scale):
    """What differs by more than the tolerance, relative to `scale` or to the value."""
    if isinstance(expected, dict):
        if expected.keys() != actual.keys():
            return [f"{sorted(expected)} != {sorted(actual)}"]
        return [f"{key}: {text}" for key in expected for text in differences(expected[key], actual[key], scale)]
    if isinstance(expected, list):
        if len(expected) != len(actual):
            return [f"{expected} != {actual}"]
        return [text for pair in zip(expected, actual, strict=True) for text in differences(*pair, scale)]
    if isinstance(expected, str):
        return [] if expected == actual else [f"{expected} != {actual}"]
    if actual is not None and abs(expected - actual) <= TOLERANCE * max(abs(expected), scale):
        return []
    return [f"{expected} != {actual}"]


def main():
    gc.freeze()  # statsmodels collects garbage in each call: without this, through all of its modules
    random = np.random.default_rng(20261126)
    cases = [case(random) for case in (holm, describe, compare, bca) for _ in range(SAMPLES)] + list(otava())
    tasks = json.dumps([task for task, _ in cases])
    run = subprocess.run([sys.argv[1]], input=tasks, capture_output=True, text=True, check=True)
    answers = json.loads(run.stdout)
    wrong = 0
    for (task, expected), answer in zip(cases, answers, strict=True):
        scale = 0 if task["task"] in ("describe", "bca") else 1e-6
        for text in differences(expected, answer, scale):
            wrong += 1
            if wrong <= 20:
                print(f"{task['task']}: {text}\n  {str(task)[:300]}", file=sys.stderr)
    changes = sum(len(expected) for task, expected in cases if task["task"] == "changes")
    print(f"{len(cases)} tasks compared, {changes} change points, {wrong} differences")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
