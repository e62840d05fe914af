# SPDX-License-Identifier: Apache-2.0
"""Invariants of every trace with kernel data: the labels of each call and each file operation add up to its time, none is
negative, and where they are unknown something was lost at that time."""

OF_OPERATION = ("runq_ns", "vfs_ns", "queue_ns", "device_ns", "remote_ns", "wait_ns")
LABELS = ("own_ns", *OF_OPERATION)
LATER = 8  # flag of an asynchronous operation
COMPLETION = "its completion was not seen"  # one bio fragment is missing, but no interval is unknown


def are_recorded(trace):
    """Without waits there is no split."""
    signals = (trace.run.get("kernel_side") or {}).get("signals") or []
    return any(signal["signal"] == "waits" and signal.get("mechanism") for signal in signals)


def gaps(trace):
    """Intervals with losses, as pairs of times."""
    return [(row["first"], row["last"]) for row in trace.rows("loss")
            if row["channel"] == "kernel side" and row["first"] and row["reason"] != COMPLETION]


def wrong(row, labels, lasted_ns, lost):
    """The fault of a row, or None."""
    values = [row[label] for label in labels]
    if values.count(None) == len(values):
        inside = any(first <= row["ts"] + lasted_ns and row["ts"] <= last for first, last in lost)
        return None if inside else "not known, and nothing was lost at that time"
    if None in values or sum(values) != lasted_ns or min(values) < 0:
        return "its labels do not add up to its time"
    if not 0 <= row["device_shared_ns"] <= row["device_ns"]:
        return "device_shared_ns is no part of device_ns"
    return None


def faults(trace):
    """All faults of a trace, as lines of text. Traces without kernel data have no labels."""
    calls = trace.rows("call")
    if not are_recorded(trace):
        return [f"call: labels, though no waits were recorded: {row}" for row in calls if row["own_ns"] is not None]
    lost, found = gaps(trace), []
    for row in calls:
        if reason := wrong(row, LABELS, row["dur"], lost):
            found.append(f"call: {reason}: {row}")
    for row in trace.rows("vfs"):
        if row["flags"] & LATER and row["ts_done"] is None:
            continue  # its end is among those that `loss` counts
        lasted_ns = row["dur"] if row["ts_done"] is None else max(row["ts_done"] - row["ts"], 0)
        if reason := wrong(row, OF_OPERATION, lasted_ns, lost):
            found.append(f"vfs: {reason}: {row}")
    for row in trace.rows("summary_split"):
        if sum(row[label] for label in LABELS) != row["time_ns"]:
            found.append(f"summary_split: its labels do not add up: {row}")
    return found
