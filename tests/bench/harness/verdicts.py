# SPDX-License-Identifier: Apache-2.0
"""Whether mlrun is within its budgets: a row against its limit and against the best peer of the same case."""

MAX_SHARE_OF_PEER = 0.5
MAX_TRAINING_CPU_PERCENT = 2
MAX_TRAINING_WALL_PERCENT = 3


def is_peer(tracer):
    return tracer.records and not tracer.is_mlrun


def added_by_hand(row, rows):
    """Added nanoseconds per call of the program that does by hand what mlrun has to do; 0: the case has no such row."""
    found = [other for other in rows if other.case is row.case and other.traced and not other.tracer.records]
    return found[0].added("wall_ns").median if found else 0.0


def best_peer(row, rows):
    """(name, added nanoseconds) of the peer that adds least to the same case and recorded all of it, or None."""
    peers = [
        other
        for other in rows
        if other.case is row.case and other.traced and is_peer(other.tracer) and not other.shortfall()
    ]
    return min(
        ((peer.tracer.name, peer.added("wall_ns").median) for peer in peers), key=lambda one: one[1], default=None
    )


def judge(row, rows):
    """None for a row without a budget; else what the budget is in figures, and whether the median is within it."""
    budget = row.budget()
    if not budget or not row.traced:
        return None
    added = row.added("wall_ns").median
    limit = budget.limit_ns(row.rdtsc(), added_by_hand(row, rows))
    peer = best_peer(row, rows)
    share = added / peer[1] if peer and peer[1] > 0 else None
    met = added <= limit and not (budget.half_of_peer and share is not None and share > MAX_SHARE_OF_PEER)
    return {
        "text": budget.text,
        "limit_ns": limit,
        "best_peer": peer[0] if share is not None else None,
        "share_of_best_peer": share,
        "met": met,
    }


def training_met(wall, cpu):
    """mlrun with default options; `wall` and `cpu` are estimates in percent."""
    return cpu.median <= MAX_TRAINING_CPU_PERCENT and wall.high <= MAX_TRAINING_WALL_PERCENT
