# SPDX-License-Identifier: Apache-2.0
"""Arrows in Chrome's format, as tracers write them: between threads, to the next slice, in chains, at once, with ids of any kind, from the launch to
the kernel, and ends without the other."""

LARGE = 2**53 + 1


def slice_of(name, ts, dur, tid, **more):
    return {"ph": "X", "name": name, "cat": "work", "ts": ts, "dur": dur, "pid": 7, "tid": tid, "args": {"name": name}} | more


def end(phase, number, ts, tid, category="f", **more):
    return {"ph": phase, "id": number, "ts": ts, "pid": 7, "tid": tid, "cat": category, "name": "arrow"} | more


EVENTS = [
    slice_of("launch", 10, 5, 1), slice_of("inner", 12, 2, 1), slice_of("work", 20, 10, 2), slice_of("middle", 39, 6, 3), slice_of("late", 49, 6, 2),
    slice_of("early", 5, 60, 4),
    # Two at once, of which one ends at the next slice.
    end("s", 1, 11, 1), end("s", 2, 11.5, 1), end("f", 2, 18, 2), end("f", 1, 22, 2, bp="e"),
    # A chain; the innermost slice counts.
    end("s", 3, 13, 1), end("t", 3, 40, 3), end("f", 3, 50, 2, bp="e"),
    # The same number in another category is another arrow.
    end("s", 1, 11.2, 1, "g"), end("f", 1, 51, 2, "g", bp="e"),
    # Beyond what a double holds, and no number.
    end("s", str(LARGE), 21, 2), end("f", str(LARGE), 41, 3, bp="e"), end("s", "zeta", 23, 2), end("f", "zeta", 42, 3, bp="e"),
    # Into a slice that began before.
    end("s", 5, 24, 2), end("f", 5, 26, 4, bp="e"),
    # One start, two ends.
    end("s", 6, 25, 2), end("f", 6, 43, 3, bp="e"), end("f", 6, 52, 2, bp="e"),
    # Ends without the other.
    end("f", 99, 53, 2, bp="e"), end("t", 98, 44, 3), end("s", 97, 27, 2), end("f", 96, 1, 9, bp="e"),
    # As PyTorch's profiler has a launch: the same arrow by id and by correlation.
    slice_of("cudaLaunchKernel", 60, 5, 1, cat="cuda_runtime", args={"correlation": 8}),
    slice_of("kernel", 70, 10, 7, cat="kernel", pid=0, args={"device": 0, "context": 1, "stream": 7, "correlation": 8}),
    end("s", 8, 60, 1, "ac2g"), end("f", 8, 70, 7, "ac2g", pid=0, bp="e"),
]
# From slice to slice; an arrow to a slice that began before its own is between the points.
ARROWS = {("launch", "work"): 2, ("inner", "middle"): 1, ("middle", "late"): 1, ("launch", "late"): 1, ("work", "middle"): 3, ("work", "late"): 1,
          ("flow arrow", "flow arrow"): 1, ("cudaLaunchKernel", "kernel"): 1}
# Ids of what stays a point in Perfetto's format.
BETWEEN_POINTS = {5: 2}
LONE = BETWEEN_POINTS | {97: 1, 98: 1, 99: 1, 96: 1}
