# SPDX-License-Identifier: Apache-2.0
"""Traces in which every call and operation is split into labels, and checks of their times.

MLRUN_EXACT_TIMES=1 requires the exact times of an idle machine; without it, a busy machine may stretch them, and only the
share of each label in a call's sleep is checked."""

from traces import EXACT, MS, Run, check
from lib.labels import LABELS  # behind traces, which says where lib is

ASLEEP = ("queue_ns", "device_ns", "remote_ns", "wait_ns")


def total(calls, *labels):
    return sum(call[label] for call in calls for label in labels)


def share(calls, *labels):
    """Of the time asleep."""
    return total(calls, *labels) / max(total(calls, *ASLEEP), 1)


def shown(calls):
    return [{label: round(call[label] / MS, 2) for label in ("dur", *LABELS) if call.get(label)} for call in calls]


def exactly(what, holds, calls):
    if EXACT:
        check(what, holds, shown(calls))
        print(what, shown(calls)[:5])


class Split(Run):
    """A trace whose calls are asked for their labels."""

    def of(self, func, requested=None):
        return sorted((call for call in self.calls.values() if call["func"] == func and
                       (requested is None or call["requested"] == requested)), key=lambda call: call["ts"])
