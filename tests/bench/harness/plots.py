# SPDX-License-Identifier: Apache-2.0
"""One picture: what each tracer adds to a call (logarithmic), and to a whole training."""

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot

COLOURS = {
    "mlrun": "#0b6e4f",
    "mlrun-all": "#6bbf9a",
    "mlrun-cupti": "#a7c957",
    "strace": "#b23a48",
    "heaptrack-raw": "#8d99ae",
    "heaptrack": "#5c677d",
    "lttng-ust": "#7b6d8d",
    "mlrun-stacks": "#3a9d78",
    "uftrace": "#e09f3e",
    "memray": "#9e2a2b",
    "dftracer": "#335c67",
}
SMALLEST_NS = 0.1  # a bar for "nothing measurable" is drawn up to here


def draw(path, rows, training_rows):
    rows = [row for row in rows if row.traced]
    training_rows = [row for row in training_rows if row.traced]
    panels = [panel for panel in ((draw_loops, rows), (draw_training, training_rows)) if panel[1]]
    if not panels:
        return False
    heights = [0.22 * len(panel[1]) + 1 for panel in panels]
    figure, axes = pyplot.subplots(
        len(panels), 1, figsize=(9, sum(heights)), height_ratios=heights, squeeze=False, layout="constrained"
    )
    for (draw_panel, panel_rows), axis in zip(panels, axes[:, 0]):
        draw_panel(axis, panel_rows)
        axis.margins(y=0.01)
        axis.invert_yaxis()
        axis.grid(axis="x", alpha=0.3)
        axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(path)
    pyplot.close(figure)
    return True


def draw_bars(axis, rows, labels, estimates, smallest):
    for place, (row, estimate) in enumerate(zip(rows, estimates)):
        value = max(estimate.median, smallest)
        axis.barh(place, value, color=COLOURS.get(row.tracer.name, "#888888"), height=0.75)
        axis.plot(
            [max(estimate.low, smallest), max(estimate.high, smallest)], [place, place], color="black", linewidth=1
        )
    axis.set_yticks(range(len(rows)), labels, fontsize=7)


def draw_loops(axis, rows):
    axis.set_xscale("log")
    labels = [f"{row.case.name}  {row.tracer.name}" for row in rows]
    draw_bars(axis, rows, labels, [row.added("wall_ns") for row in rows], SMALLEST_NS)
    axis.set_xlabel("nanoseconds added to a call, median of pairs with 95 % interval", fontsize=8)


def draw_training(axis, rows):
    draw_bars(
        axis,
        rows,
        [f"training  {row.tracer.name}" for row in rows],
        [row.added_percent(lambda sample: sample.wall_s) for row in rows],
        -100.0,
    )
    axis.axvline(0, color="black", linewidth=0.8)
    axis.set_xlabel("percent added to the wall time of a training, median of pairs with 95 % interval", fontsize=8)
