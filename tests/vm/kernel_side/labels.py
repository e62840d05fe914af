# SPDX-License-Identifier: Apache-2.0
"""Traces in which every call and every operation is split into labels, and what their times are asked for.

MLRUN_EXACT_TIMES=1 asks for times as exact as a machine gives them that does nothing else; else a busy machine may stretch
them, and what counts is what part of its sleep a call spent on what."""

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
