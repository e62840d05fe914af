# SPDX-License-Identifier: Apache-2.0
"""mlrun plot: pictures of a trace or a sweep."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from mlrun_trace.errors import TraceError, WordParser
from mlrun_trace.interrupt import ends_by_interrupt
from mlrun_trace.output import checks_output, emit
from mlrun_trace.plot.options import Options, parse_time
from mlrun_trace.plot.picture import KINDS, check_ending, draw
from mlrun_trace.plot.span import zoomed
from mlrun_trace.sweep import Sweep
from mlrun_trace.trace import Trace

EXAMPLES = """Examples:
  mlrun plot mlrun-train-1 --what timeline -o timeline.pdf
  mlrun plot mlrun-train-1 --what timeline --zoom epoch -o epochs.svg     a picture for each epoch
  mlrun plot mlrun-train-1 --what latency --from 10s --until 20s -o latency.png
  mlrun plot results --what sweep --figure wall_s -o sweep.pdf

Needs matplotlib and duckdb: pip install 'mlrun-tracer[data,plot]'."""


def parser() -> argparse.ArgumentParser:
    kinds = "\n".join(f"  {name:<9} {kind.shows}" for name, kind in KINDS.items())
    options = WordParser(prog="mlrun plot", description=f"Draws a trace or a sweep. Pictures (--what):\n{kinds}", epilog=EXAMPLES)
    options.add_argument("folder", metavar="TRACE|SWEEP")
    options.add_argument("--what", required=True, choices=KINDS, metavar="PICTURE")
    options.add_argument("-o", "--output", required=True, type=Path, metavar="FILE", help="a name that ends in .svg, .png or .pdf")
    options.add_argument("--from", dest="begin", metavar="TIME", help="start of the picture, as time since the start of the command: 2.5s, 300ms (default: the start)")
    options.add_argument("--until", metavar="TIME", help="end of the picture, as for --from (default: the end)")
    options.add_argument("--zoom", metavar="PART", help="whole, start, end (the first, the last 5 %%), each (a picture for each phase), or a phase: epoch, 'epoch 2', checkpoint")
    options.add_argument("--by", choices=("auto", "process", "role", "run"), default="auto", help="what each row shows (default: histograms: role; timeline: process, up to 12 of them)")
    options.add_argument("--columns", type=int, choices=(1, 2), default=2, help="width in columns of a paper: 3.5 or 7.16 inches (default: 2)")
    options.add_argument("--dark", action="store_true", help="for a dark background")
    options.add_argument("--title", default="", metavar="TEXT")
    options.add_argument("--no-data", action="store_true", help="do not write the data of the picture as CSV files (named like FILE, ending in .NAME.csv)")
    options.add_argument("--line", action="append", default=[], metavar="TIME=TEXT", help="timeline: a vertical line with TEXT at this time; may be repeated")
    options.add_argument("--figure", default="wall_s", metavar="NAME", help="sweep: the figure to draw (default: wall_s)")
    options.add_argument("--x", default="", metavar="PARAMETER", help="sweep: the parameter on the horizontal axis (default: configurations)")
    options.add_argument("--block-bits", type=int, default=12, metavar="N", help="scatter: addresses in blocks of 2^N bytes (default: 12)")
    options.add_argument("--block-min", type=int, default=0, metavar="N", help="scatter: the first block (default: 0)")
    options.add_argument("--block-max", type=int, metavar="N", help="scatter: the last block (default: none)")
    options.add_argument("--time-unit", default="1ms", metavar="TIME", help="scatter: accesses within this time are one dot (default: 1ms)")
    return options


def read_options(arguments: argparse.Namespace) -> Options:
    if not 0 <= arguments.block_bits <= 40:
        raise TraceError(f"--block-bits {arguments.block_bits}: it must be from 0 to 40")
    unit = parse_time(arguments.time_unit)
    if unit == 0:
        raise TraceError(f"--time-unit {arguments.time_unit}: it must be greater than 0")
    if arguments.zoom and (arguments.begin or arguments.until):
        raise TraceError("--zoom, --from and --until: give either --zoom, or --from and --until")
    for line in arguments.line:
        if "=" not in line:
            raise TraceError(f"--line {line}: write TIME=TEXT, such as 2.5s=first batch")
    lines = [(parse_time(moment), text) for moment, _, text in (line.partition("=") for line in arguments.line)]
    return Options(lines=lines, from_ns=parse_time(arguments.begin) if arguments.begin else None, until_ns=parse_time(arguments.until) if arguments.until else None,
                   by=arguments.by, columns=arguments.columns, dark=arguments.dark, title=arguments.title, figure=arguments.figure, parameter=arguments.x,
                   block_bits=arguments.block_bits, block_min=arguments.block_min, block_max=arguments.block_max, time_unit_ns=unit)


def run(arguments: argparse.Namespace) -> None:
    options = read_options(arguments)
    check_ending(arguments.output)
    is_sweep = (Path(arguments.folder) / "sweep.sqlite").exists()
    source = Sweep(arguments.folder) if is_sweep else Trace([arguments.folder])
    pictures = [(arguments.output, options)]
    if arguments.zoom:
        if isinstance(source, Sweep):
            raise TraceError("--zoom works only for a trace, not for a sweep")
        parts = zoomed(source, arguments.zoom)
        names = [arguments.output] if len(parts) == 1 else [named(arguments.output, number, name) for number, (name, _, _) in enumerate(parts, 1)]
        pictures = [(path, replace(options, from_ns=begin, until_ns=end, remarks=[])) for path, (_, begin, end) in zip(names, parts)]
    for path, chosen in pictures:
        for written in draw(source, arguments.what, path, chosen, data=not arguments.no_data):
            emit(f"{written}\n")
        for remark in chosen.remarks:
            print(f"mlrun: {remark}", file=sys.stderr)


def named(path: Path, number: int, name: str) -> Path:
    word = "".join(c if c.isalnum() else "_" for c in name)
    return path.with_name(f"{path.stem}.{number}.{word}{path.suffix}")


@ends_by_interrupt
@checks_output
def main() -> int:
    try:
        arguments = parser().parse_args()
        # Keeps matplotlib from writing its list of fonts into the home folder.
        with tempfile.TemporaryDirectory(prefix="mlrun-plot.") as scratch:
            os.environ.setdefault("MPLCONFIGDIR", scratch)
            run(arguments)
    except TraceError as error:
        print(f"mlrun: error: {error}", file=sys.stderr)
        return 125
    except OSError as error:
        print(f"mlrun: error: cannot write {error.filename or arguments.output}: {error.strerror}", file=sys.stderr)
        return 125
    return 0


if __name__ == "__main__":
    sys.exit(main())
