# SPDX-License-Identifier: Apache-2.0
"""The command line of tests/bench/run: chooses cases and tracers, measures, and writes text, JSON and a picture."""

import argparse
import os
import sys
import time
from pathlib import Path

from cases import CASES, TRAINING, TRAINING_ABOUT, TRAINING_TRACERS
from mlrun import make_mlrun_tracers, make_other_tracers
from peers import make_peers
from tracers import ByHand

CHECKOUT = Path(__file__).resolve().parents[3]
FULL = {"pairs": 31, "peer_pairs": 7, "training_pairs": 20, "training_peer_pairs": 3, "divisor": 1}
QUICK = {"pairs": 3, "peer_pairs": 1, "training_pairs": 1, "training_peer_pairs": 1, "divisor": 4}
ABOUT = """Measures what tracing costs, with mlrun and with its peers, beside the untraced program.
Installs the peers first (tests/setup/install.sh bench)."""
EXAMPLES = """examples:
  tests/bench/run                                everything, on a machine where nothing else runs
  tests/bench/run --quick                        does it all work? Minutes; its figures say little
  tests/bench/run --only pread_empty,malloc_large --pairs 101
  tests/bench/run --only training --tracers mlrun --training-pairs 40
  tests/bench/run --tracers mlrun,mlrun-all --other-build ../before/build     against the build of another commit
  tests/bench/run --list
"""


def names(text):
    return [name for name in text.split(",") if name]


def positive(text):
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number above 0")
    return int(text)


def cpu_list(text):
    try:
        cpus = [int(item) for item in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of CPUs such as 0,1") from None
    if not set(cpus) <= os.sched_getaffinity(0):
        raise argparse.ArgumentTypeError(f"'{text}': this process may use {sorted(os.sched_getaffinity(0))}")
    return cpus


def make_parser():
    parser = argparse.ArgumentParser(
        prog="tests/bench/run", description=ABOUT, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--list", action="store_true", help="say what can be measured and with which tracers")
    add("--only", type=names, metavar="NAMES", help=f"cases, separated by commas; '{TRAINING}' is one of them (all)")
    add("--tracers", type=names, metavar="NAMES", help="tracers, separated by commas (all)")
    add("--quick", action="store_true", help="few pairs of short loops")
    add("--pairs", type=positive, metavar="N", help=f"pairs of each loop with mlrun ({FULL['pairs']})")
    add("--peer-pairs", type=positive, metavar="N", help=f"pairs of each loop with a peer ({FULL['peer_pairs']})")
    add(
        "--training-pairs",
        type=positive,
        metavar="N",
        help=f"pairs of the training with mlrun ({FULL['training_pairs']})",
    )
    add(
        "--training-peer-pairs",
        type=positive,
        metavar="N",
        help=f"pairs of the training with a peer ({FULL['training_peer_pairs']})",
    )
    add("--limit", type=positive, default=60, metavar="S", help="seconds after which a run counts as hanging (60)")
    add(
        "--cpus", type=cpu_list, metavar="LIST", help="CPUs to use; loops run on the first ones (the first two allowed)"
    )
    add("--build", type=Path, default=CHECKOUT / "build", metavar="DIR", help="the build to measure (build)")
    add(
        "--other-build",
        type=Path,
        metavar="DIR",
        help="another build, of another commit: measured in the same turns, and compared with the first",
    )
    add("--output", type=Path, metavar="DIR", help="folder for results.txt, .json and .svg (BUILD/bench/results-TIME)")
    return parser


def parse_arguments(arguments):
    parser = make_parser()
    options = parser.parse_args(arguments)
    for name, value in (QUICK if options.quick else FULL).items():
        if getattr(options, name, None) is None:
            setattr(options, name, value)
    options.checkout = CHECKOUT
    options.build = options.build.resolve()
    options.cpus = options.cpus or sorted(os.sched_getaffinity(0))[:2]
    options.all_tracers = [*make_mlrun_tracers(options.build / "bin" / "mlrun"), ByHand(), *make_peers()]
    if options.other_build:
        options.other_build = options.other_build.resolve()
        options.all_tracers += make_other_tracers(options.other_build / "bin" / "mlrun")
    for wanted, known, what in (
        (options.only, [case.name for case in CASES] + [TRAINING], "case"),
        (options.tracers, [tracer.name for tracer in options.all_tracers], "tracer"),
    ):
        unknown = sorted(set(wanted or ()) - set(known))
        if unknown:
            parser.error(f"there is no {what} '{unknown[0]}'; there are: {', '.join(known)}")
    return options


def print_list(options):
    for case in CASES:
        print(f"{case.name:19s} {case.about} [{', '.join(case.tracers)}]")
    print(f"{TRAINING:19s} {TRAINING_ABOUT} [{', '.join(TRAINING_TRACERS)}]\n")
    for tracer in options.all_tracers:
        print(f"{tracer.name:19s} {tracer.about}{'; ' + tracer.missing() if tracer.missing() else ''}")


def needed_files(options):
    yield options.build / "bench" / "measure"
    if not options.tracers or any(tracer.is_mlrun for tracer in options.all_tracers if tracer.name in options.tracers):
        yield options.build / "bin" / "mlrun"
    if options.other_build:
        yield options.other_build / "bin" / "mlrun"


def main(arguments):
    options = parse_arguments(arguments)
    if options.list:
        print_list(options)
        return 0
    for needed in needed_files(options):
        if not needed.is_file():
            print(
                f"tests/bench/run: error: {needed} is missing; build first: "
                f"cmake -B {needed.parents[1]} -G Ninja && cmake --build {needed.parents[1]}",
                file=sys.stderr,
            )
            return 1
    from benchmark import Benchmark  # needs the Python environment, which --help and --list do without
    from loops import Unusable

    begin = time.monotonic()
    benchmark = Benchmark(options)
    status = 0
    try:
        benchmark.measure()
    except KeyboardInterrupt:
        print("tests/bench/run: interrupted; this is what was measured until then", file=sys.stderr)
        status = 130
    except (Unusable, OSError) as error:
        print(f"tests/bench/run: error: {error}", file=sys.stderr)
        status = 1
    print(benchmark.write())
    print(f"{(time.monotonic() - begin) / 60:.1f} minutes; {benchmark.output}/results.txt, .json, .svg")
    return status or int(benchmark.has_failed())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
