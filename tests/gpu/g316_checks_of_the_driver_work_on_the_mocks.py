# SPDX-License-Identifier: Apache-2.0
"""The checks of `run` that need only the driver work with the mocks: each comparison has both of its sides, counts are
exact, and a comparison that should fail does. Without a driver `run` says so and exits with 77."""

import sys
from pathlib import Path

import checking
import cupti_case
from driver_checks import KILLED, SMALL_DEVICE_BYTES, Programs, check_two_libraries, driver_checks, last_checks
from gpu_case import need_no_driver
from lib import case

LAUNCHES, ROUNDS, END_LAUNCHES, NODES = 5_000, 2, 300, 300_000
# Times on the mocks mean nothing.
TIMES = {"cost_of_a_launch_by_the_driver"}


def until_fetched(name, check):
    """The check, repeated if the machine stalled for longer than the end of a process waits. A library that does not fetch
    CUPTI's records fails each time."""
    def repeated():
        for _ in range(cupti_case.FETCH_TRIES):
            seen = check()
            if not cupti_case.is_held(seen):
                break
        return seen
    return check if name in {f"end_by_{how}" for how in KILLED} else repeated


def checks_with(this, major, **settings):
    environment = cupti_case.mock_environment(this, major, driver=major, OVERHEAD=1, **settings)
    library = str(cupti_case.PLACE / str(major) / f"libcupti.so.{major}")
    report = checking.Report(this.path(f"report-{major}-{len(settings)}.json"), {})
    programs = Programs(case.BUILD, this.new_trace(), environment, library)
    programs.folder.mkdir()
    checks = driver_checks(programs, LAUNCHES, ROUNDS, END_LAUNCHES) + last_checks(programs, END_LAUNCHES, NODES)
    report.run([(name, until_fetched(name, check)) for name, check in checks])
    return report.checks


def check_refused(this):
    """A driver that takes no second client: that is an answer, and mlrun has to have all the same."""
    programs = Programs(case.BUILD, this.new_trace(), cupti_case.mock_environment(this, 13, driver=13),
                        str(cupti_case.PLACE / "13" / "libcupti.so.13"))
    programs.folder.mkdir()
    seen = check_two_libraries(programs, END_LAUNCHES, kinds="63")  # no kind of any version
    this.true("a second client that is refused", seen["agrees"] and seen["second_client"] is None
              and "did not start" in seen["said"], seen)


def check_major(this, major):
    seen = checks_with(this, major)
    for name, check in seen.items():
        this.true(f"CUPTI {major}: {name}", "reason" not in check and (check["agrees"] is not False or name in TIMES), check)
    own_work = [row for row in seen["end_by_return"]["losses"] if row["reason"].startswith(checking.OWN_WORK)]
    this.true("CUPTI's own work is in the loss table, and is no loss", own_work, seen["end_by_return"])
    cost = seen["cost_of_a_launch_by_the_driver"]["ns_per_launch"]
    this.true("to record takes time", cost["nothing"] < cost["calls and kernels"], cost)
    for name in ("end_by_fork", "end_by_fork_exit"):
        this.equal("launches and rows: " + name, [(seen[name][key]) for key in ("launches", "kernels", "calls")],
                   [2 * END_LAUNCHES] * 3)
    this.equal("a second client of a second libcupti was started", "buffers" in (seen["two_libcupti"]["second_client"] or {}),
               True, said=str(seen["two_libcupti"]))
    small = {name: seen[name]["minimal_client"].get("device_bytes") for name in seen if name.startswith("buffers_")}
    this.equal("sizes that the client was given", small, {"buffers_that_are_too_small": 0,
                                                "buffers_of_the_gpu_that_are_too_small": SMALL_DEVICE_BYTES})
    nodes = seen["many_nodes_of_graphs"]
    this.equal("nodes launched", nodes["launched"], NODES)
    this.true("some were added up", nodes["folded_nodes"] > 0, nodes)
    this.equal("other code than the export's", seen["symbols_of_the_driver"]["same"]["cuMemAlloc"], False)
    this.equal("the export's code", seen["symbols_of_the_driver"]["same"]["cuLaunchKernel"], True)
    this.true("many small buffers", seen["buffers_that_are_too_small"]["minimal_client"]["buffers"] > LAUNCHES / 50,
              seen["buffers_that_are_too_small"])


def check(this):
    for major in (12, 13):
        check_major(this, major)
    check_refused(this)
    lossy = checks_with(this, 13, DROPPED=7)
    this.equal("a loss does not agree", [lossy[name]["agrees"] for name in ("end_by_return", "many_nodes_of_graphs",
                                                                            "buffers_that_are_too_small")], [False] * 3)
    need_no_driver()
    report = this.path("none.json")
    here = this.run(sys.executable, Path(__file__).parent / "run", case.BUILD, "--out", report)
    this.equal("without a driver", here.returncode, 77, said=here.stderr)
    this.true("it says so", "GPU samples" in here.stderr and here.stdout == "" and not report.exists(), here.stderr)
    nothing = this.run(sys.executable, Path(__file__).parent / "run", this.path("nothing"))
    this.equal("without a build", nothing.returncode, 2, said=nothing.stderr)
    this.true("it says what to give", "does not start" in nothing.stderr, nothing.stderr)


if __name__ == "__main__":
    case.run(check)
