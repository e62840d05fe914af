# SPDX-License-Identifier: Apache-2.0
"""One picture: its data from the tables, the drawing, the files."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import Any, Callable, NamedTuple

from mlrun_trace.errors import TraceError, need
from mlrun_trace.plot import histogram, scatter, steps, sweep, timeline
from mlrun_trace.plot.options import Options
from mlrun_trace.plot.style import WIDTHS_INCHES, plain, settings
from mlrun_trace.sweep import Sweep
from mlrun_trace.trace import Trace

Table = list[dict[str, Any]]
ENDINGS = (".svg", ".png", ".pdf")


class Kind(NamedTuple):
    """A kind of picture: how its data is collected (tables by name, also written as CSV) and how these are drawn."""

    shows: str
    collect: Callable[[Any, Options], dict[str, Table]]
    draw: Callable[[Any, dict[str, Table], Options], None]
    of_sweep: bool = False


KINDS = {
    "timeline": Kind("phases, processors, GPUs, disks, and reads, writes and opens by process", timeline.collect, timeline.draw),
    "latency": Kind("histograms of the durations of opens, reads, writes and requests to disks", histogram.collect_latency, histogram.draw),
    "sizes": Kind("histograms of the sizes of reads, writes and requests to disks", histogram.collect_sizes, histogram.draw),
    "scatter": Kind("addresses over time: blocks of memory, and accesses to them with --access", scatter.collect, scatter.draw),
    "steps": Kind("steps of the training and its marks: waiting, computing, checkpoint", steps.collect, steps.draw),
    "sweep": Kind("a figure of a sweep, configuration by configuration", sweep.collect, sweep.draw, of_sweep=True),
}


def check_ending(path: Path) -> None:
    if path.suffix.lower() not in ENDINGS:
        raise TraceError(f"{path}: the name must end in {', '.join(ENDINGS)}")
    if not path.parent.is_dir():
        raise TraceError(f"{path}: there is no folder {path.parent}")


def write_csv(path: Path, rows: Table) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def draw(source: Trace | Sweep, what: str, output: str | os.PathLike[str], options: Options | None = None, data: bool = True) -> list[Path]:
    """Writes the picture, and with `data` its tables as CSV files beside it. Returns the files, the picture first."""
    options = options or Options()
    path = Path(output)
    check_ending(path)
    kind = KINDS.get(what)
    if kind is None:
        raise TraceError(f"there is no picture {what}; choose one of {', '.join(KINDS)}")
    if kind.of_sweep != isinstance(source, Sweep):
        raise TraceError(f"--what {what} needs a {'sweep' if kind.of_sweep else 'trace'}; {source} is not one")
    tables = {name: rows for name, rows in kind.collect(source, options).items() if rows}
    matplotlib = need("matplotlib")
    figures = need("matplotlib.figure")
    with matplotlib.rc_context(settings(options.dark)):
        figure = figures.Figure(figsize=(WIDTHS_INCHES[options.columns], 2.4), layout="constrained")
        kind.draw(figure, tables, options)
        if options.title:
            figure.suptitle(plain(options.title, 100))
        unfinished = path.with_name(f".{path.name}.part{path.suffix}")
        try:
            figure.savefig(unfinished)
            os.replace(unfinished, path)
        finally:
            unfinished.unlink(missing_ok=True)
    written = [path]
    for name, rows in tables.items() if data else ():
        written.append(path.with_name(f"{path.stem}.{name}.csv"))
        write_csv(written[-1], rows)
    return written
