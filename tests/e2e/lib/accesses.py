# SPDX-License-Identifier: Apache-2.0
"""Traces of the victim touches.c with --access."""

from lib import case

PAGE = 4096


def record(this, what, mib, seconds, rung, *more, env=None):
    """Runs it. (trace, addresses of its hot and cold block, pages that it touched again and again, its lines)"""
    options = ("--access=" + rung, "--alloc-min", "64K", "--python-stacks=off", "--sample=off", *more)
    trace = this.trace(this.victim("touches"), what, str(mib), str(seconds), options=options, timeout=300, env=env or this.environment)
    lines = [[int(word) for word in line.split()] for line in trace.stdout.splitlines()]
    return trace, lines[0][:2], lines[-1][0], lines


def tried(trace, rung):
    """Its entry of run.json; skips the case if this machine does not have it."""
    for one in trace.run["access"]["tried"]:
        if one["rung"] == rung and one["problem"]:
            raise case.Skip(f"{rung}: {one['problem']}")
    return next(one for one in trace.run["access"]["rungs"] if one["rung"] == rung)


def site_rows(trace, rung):
    return [row for row in trace.rows("access_site") if row["rung"] == rung]
