# SPDX-License-Identifier: Apache-2.0
"""The slow programs by themselves, untraced and short: each prints a truth that adds up. Usage: slow_test.py CXX [PROGRAM]..."""

import sys
import tempfile

import compare
import runs

CAUSES = {
    "data_device", "data_remote", "data_transform_cpu", "data_serialisation", "data_lock", "data_slow_worker", "data_in_driver", "python_lock",
    "timer", "page_cache_miss", "reread", "small_requests", "small_files", "random_requests", "metadata", "worker_startup", "loader_end",
    "checkpoint", "logging", "oversubscription", "allocation", "rank_skew", "remote_call", "compute_bound"}
PARTS = ("without_batch_ns", "compute_ns", "checkpoint_ns", "logging_ns", "loader_end_ns")


def faults(name, truth):
    """What is wrong with a truth, whatever the machine does meanwhile."""
    begins, loop = truth["step_begin_ns"], truth["loop_ns"]
    parts = sum(truth[part] for part in PARTS) + truth.get("collective_ns", 0)
    if truth["truth"] != {"bash_imap": "imap_zlib"}.get(name, name):
        yield f"it is of {truth['truth']}"
    if not {truth["expect"], *truth["accept"], *truth["then"]} <= CAUSES:
        yield "it expects a cause that there is not"
    if len(begins) != truth["steps"] or truth["steps"] < 4 or begins != sorted(begins):
        yield f"{truth['steps']} steps, {len(begins)} begins"
    if not truth["begin_ns"] <= begins[0] <= begins[-1] <= truth["end_ns"] or loop != truth["end_ns"] - truth["begin_ns"]:
        yield "a step lies outside of the loop"
    if begins[0] - truth["begin_ns"] < truth["first_batch_ns"] or not 0 < truth["first_batch_ns"] <= truth["without_batch_ns"]:
        yield "the first batch took longer than the loop had been running"
    if not 0.9 * loop <= parts <= loop:
        yield f"its parts are {parts / loop:.3f} of the loop"
    if truth["then"] and not 0 < sum(truth["faults_ns"].values()) <= loop:
        yield "no time for several faults"
    if not 0 < truth[truth["planted"]] <= loop or compare.expected_wait_ns(truth) < 0:
        yield "no time for what it plants"


def main():
    table = runs.programs()
    names, failed = sys.argv[2:] or list(table), False
    with tempfile.TemporaryDirectory(dir="/var/tmp") as data, runs.Runner(data, "0.3", sys.argv[1]) as runner:
        for name in names:
            try:
                found = list(faults(name, runner.run(table[name], timeout_s=60)))
            except RuntimeError as error:
                found = [str(error)]
            failed = failed or bool(found)
            print(f"{name}: {'; '.join(found) or 'ok'}", flush=True)
    return 1 if failed or not names else 0


if __name__ == "__main__":
    sys.exit(main())
