# SPDX-License-Identifier: Apache-2.0
"""Compares what `mlrun report --json` and the table `step` say of a run with the truth that the program printed."""

import bisect

STEP_TOLERANCE_NS = 20_000_000
ADDS_UP = 0.001
# Of the first finding: what it is worth.
SCORES = {"planted": 1.0, "accepted": 1.0, "also": 0.5, "cannot tell": 0.0, "none": 0.0, "wrong": 0.0}


def expected_wait_ns(truth):
    """What without_batch_ns of the report stands for: the first batch is start-up there, and waiting for another rank is waiting."""
    return truth["without_batch_ns"] - truth["first_batch_ns"] + truth.get("collective_ns", 0)


def verdict_of(truth, findings):
    if not findings:
        return "none"
    first = findings[0]
    named = [first["cause"], *(first.get("also") or ())]
    if first["cause"] == truth["expect"]:
        return "planted"
    if first["cause"] in truth["accept"]:
        return "accepted"
    if truth["expect"] in named:
        return "also"
    return "cannot tell" if first["cause"] == "not_followed" else "wrong"


def in_order(truth, findings):
    """Whether the further faults follow, in their order. None: there is one fault."""
    if not truth["then"]:
        return None
    causes = iter([finding["cause"] for finding in findings])
    return all(any(cause == wanted or (wanted == truth["expect"] and cause in truth["accept"]) for cause in causes)
               for wanted in (truth["expect"], *truth["then"]))


def near(truth, begins):
    """The share of the truth's steps with a step of the report within the tolerance."""
    begins, found = sorted(begins), 0
    for at in truth["step_begin_ns"]:
        i = bisect.bisect_left(begins, at - STEP_TOLERANCE_NS)
        found += i < len(begins) and begins[i] <= at + STEP_TOLERANCE_NS
    return found / max(1, len(truth["step_begin_ns"]))


def not_followed(report):
    """Its share of all waiting. None: less than a hundredth of the run was waiting."""
    driver = report["driver"]
    waits = driver and driver["waiting_ns"] > 0.01 * report["run"]["wall_ns"]
    return driver["not_followed_ns"] / driver["waiting_ns"] if waits else None


def in_interval(truth, report):
    """Whether the time without a batch lies in the interval that is printed with it. None: it has none, as what comes from calls alone."""
    low, high = report.get("without_batch_low_ns"), report.get("without_batch_high_ns")
    return None if low is None or high is None else low <= expected_wait_ns(truth) <= high


def compare(truth, report, begins):
    """begins: of the steps in the report's trace."""
    findings, wall = report["findings"], report["run"]["wall_ns"]
    said = report["without_batch_ns"]
    expected = expected_wait_ns(truth)
    others = [finding["share"] for finding in findings if finding["cause"] != "compute_bound"]
    return {
        "program": truth["truth"], "expect": truth["expect"], "healthy": truth["expect"] == "compute_bound",
        "loop_ns": truth["loop_ns"], "wall_ns": wall, "expected_wait_ns": expected, "without_batch_ns": said,
        "error_points": None if said is None else 100 * (said - expected) / truth["loop_ns"],
        "adds_up": abs(sum(row["ns"] for row in report["time"]) - wall) <= ADDS_UP * wall,
        "first": findings[0]["cause"] if findings else None, "verdict": verdict_of(truth, findings),
        "in_order": in_order(truth, findings), "largest_other": max(others, default=0.0),
        "ranked": [(finding["cause"], finding["share"]) for finding in findings[:4]],
        "steps": report["steps"]["count"], "true_steps": truth["steps"],
        "steps_near": near(truth, begins),
        "not_followed": not_followed(report), "in_interval": in_interval(truth, report),
    }


def share(values):
    values = list(values)
    return sum(values) / len(values) if values else None


def summarize(rows, points, other):
    """The figures that the thresholds are for; None where no row has one."""
    slow, healthy = [row for row in rows if not row["healthy"]], [row for row in rows if row["healthy"]]
    return {
        "runs": len(rows), "adds_up": share(row["adds_up"] for row in rows),
        "within": share(row["error_points"] is not None and abs(row["error_points"]) <= points for row in rows),
        "cannot_tell": sum(row["error_points"] is None for row in rows),
        "first": share(SCORES[row["verdict"]] for row in slow),
        "confident_and_wrong": sum(row["verdict"] == "wrong" for row in slow),
        "in_order": share(row["in_order"] for row in slow if row["in_order"] is not None),
        "healthy": share(row["verdict"] == "planted" and row["largest_other"] <= other for row in healthy),
        "steps_exact": share(row["steps"] == row["true_steps"] for row in rows),
        "steps_wrong": sum(row["steps"] not in (0, row["true_steps"]) for row in rows),
        "steps_near": share(row["steps_near"] for row in rows if row["steps_near"] is not None),
        "in_interval": share(row["in_interval"] for row in rows if row["in_interval"] is not None),
        "not_followed": max((row["not_followed"] for row in rows if row["not_followed"] is not None), default=None),
    }


def failures(figures, limits):
    """Which figures miss their limits, in words. A figure that no run has cannot miss one."""
    for name, limit in limits.items():
        figure = figures[name]
        if figure is not None and (figure > limit if name in ("confident_and_wrong", "not_followed", "steps_wrong") else figure < limit):
            yield f"{name} is {figure:.3g}, the limit {limit:g}"
