#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes otava_series.jsonl: series with the change points that Apache Otava finds in them. By hand: Otava wants another NumPy.

Where Otava 0.8.0 leaves a change point out, it renews the statistics of the point after the next instead of those of the point
before. Of series where that changes the result, the points are those with all statistics renewed, and `renewed` is true.

Usage: PYTHONPATH=OTAVA make_otava_series.py OTAVA > otava_series.jsonl, where OTAVA is its unpacked source distribution (0.8.0).
"""

import ast
import csv
import json
import pathlib
import sys

import numpy as np
from otava.analysis import TTestSignificanceTester, merge, split


def own_series(folder):
    """What Otava is tested with: the tables of its tests, and every list of 10 numbers or more in them."""
    for path in sorted((folder / "tests/resources").glob("sample*.csv")):
        with path.open() as file:
            rows = list(csv.DictReader(file, delimiter=";" if "semicolons" in path.name else ","))
        for metric in ("metric1", "metric2"):
            yield f"{path.name} {metric}", [float(row[metric]) for row in rows]
    for path in sorted((folder / "tests").glob("*_test.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.List) or len(node.elts) < 10:
                continue
            try:
                values = [float(value) for value in ast.literal_eval(node)]
            except (ValueError, TypeError):
                continue
            yield f"{path.name} line {node.lineno}", values


def made_series():
    random = np.random.default_rng(20261126)
    for number in range(60):
        n = int(random.integers(3, 130))
        values = 100 * np.exp(random.normal(0, 0.02, n))
        for _ in range(random.integers(0, 4)):
            values[random.integers(n) :] *= 1 + random.normal(0, 0.1)
        yield f"made {number}", np.round(values, 3).tolist()


def renewed_merge(points, values, max_pvalue, least_change):
    """Otava's merge, one point at a time, with the statistics of all points renewed before each."""
    tester = TTestSignificanceTester(max_pvalue)
    while True:
        intervals = tester.get_intervals(points)
        points = [tester.change_point(point.to_candidate(), values, intervals) for point in points]
        if not points:
            return points
        weakest = max(points, key=lambda point: point.stats.pvalue)
        if weakest.stats.pvalue < max_pvalue:
            weakest = min(points, key=lambda point: point.stats.change_magnitude())
            if weakest.stats.change_magnitude() > least_change:
                return points
        points.remove(weakest)


def found(points):
    return [{"index": p.index, "before": p.stats.mean_1, "after": p.stats.mean_2, "p": p.stats.pvalue} for p in points]


def main():
    for source, values in [*own_series(pathlib.Path(sys.argv[1])), *made_series()]:
        for least_change in (0.0, 0.05):
            own = found(merge(split(values, 50, 0.01), values, 0.001, least_change))
            points = found(renewed_merge(split(values, 50, 0.01), values, 0.001, least_change))
            case = {"source": source, "least_change": least_change, "values": values, "points": points, "renewed": own != points}
            print(json.dumps(case, default=float))


if __name__ == "__main__":
    main()
