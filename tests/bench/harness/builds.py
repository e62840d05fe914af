# SPDX-License-Identifier: Apache-2.0
"""Two builds of mlrun in the same turns: what one adds to a call beside what the other adds."""

from dataclasses import dataclass

from estimates import Estimate, estimate

ALLOWED_NS = 1.0  # by which a call may become slower,
ALLOWED_SHARE = 0.02  # or by this share of the traced call, whichever is larger


@dataclass
class Difference:
    """Of one case and one tracer. Times are nanoseconds a call; exits are seconds from the command's end to the prompt."""

    case: str
    tracer: str
    build: float
    other: float
    difference: Estimate
    allowed_ns: float
    exit_build_s: float
    exit_other_s: float

    def is_worse(self):
        return self.difference.median > self.allowed_ns


def differences(rows):
    """Each row of the other build against the row of the first one, turn by turn; a turn that one of them lacks leaves both out."""
    first = {(row.case.name, row.tracer.name): row for row in rows}
    found = []
    for other in rows:
        row = first.get((other.case.name, other.tracer.stands_for))
        if row is None or row is other or not row.traced or len(row.traced) != len(other.traced):
            continue
        before, now = added(other), added(row)
        found.append(
            Difference(
                case=row.case.name,
                tracer=row.tracer.name,
                build=estimate(now).median,
                other=estimate(before).median,
                difference=estimate([b - a for a, b in zip(before, now)]),
                allowed_ns=max(ALLOWED_NS, ALLOWED_SHARE * estimate([s.wall_ns for s in other.traced]).median),
                exit_build_s=estimate([s.exit_s for s in row.traced]).median,
                exit_other_s=estimate([s.exit_s for s in other.traced]).median,
            )
        )
    return found


def added(row):
    return [b.wall_ns - a.wall_ns for a, b in zip(row.untraced, row.traced)]
