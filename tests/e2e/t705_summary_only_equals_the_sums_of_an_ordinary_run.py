# SPDX-License-Identifier: Apache-2.0
"""--summary-only: no event has a row, and calls, bytes and errors by process, file and function equal those of an
ordinary run and of strace; the report has heap peaks and all other figures."""

import os
import shutil

from lib import case, sums

ISSUED = 20000
RENAMED = ("a/one", "a/two", "a/b/three", "four")  # of hooks_names: one file
EVENT_TABLES = ("call", "alloc", "alloc_small")


def without_time(totals):
    return {key: value for key, value in totals.items() if key not in ("time_ns", "metadata_share_of_calls")}


def by_name(items, *names):
    return {tuple(sums.plain(str(item[name])) for name in names): item for item in items}


# Sums keep no order of calls: a renamed file is in them under each of its names, and in a report of rows under the last
# one.
def under_last_name(files, work):
    last, rest = [], {}
    for key, file in files.items():
        if key[0] in [str(work / name) for name in RENAMED]:
            last.append(file["totals"])
        else:
            rest[key] = file["totals"]
    rest["renamed"] = {figure: sum(totals[figure] for totals in last) for figure in without_time(last[0])}
    return {key: without_time(totals) for key, totals in rest.items()}


# Whether a wait, and with it its error, is recorded at all depends on how long it was: `waits` are those functions.
def equal_reports(this, mine, theirs, waits, work):
    for group in ("files", "channels", "other"):
        this.equal(f"totals of {group}", without_time(mine["totals"][group]), without_time(theirs["totals"][group]))
    functions = [by_name((func for func in report["functions"] if func["group"] != "waits"), "func", "group")
                 for report in (mine, theirs)]
    this.equal("functions", sorted(functions[0]), sorted(functions[1]))
    for key, func in functions[0].items():
        for figure in ("class", "calls", "errors", "bytes"):
            this.equal(f"{figure} of {key}", func[figure], functions[1][key][figure])
        latency = func["latency_ns"]
        this.true(f"latency of {key}", latency["min"] <= latency["p50"] <= latency["p99"] <= latency["max"] and
                  latency["min"] * func["calls"] <= func["time_ns"] <= latency["max"] * func["calls"], func)
    files = [under_last_name(by_name(report["files"], "path", "kind"), work) for report in (mine, theirs)]
    this.equal("files", sorted(map(str, files[0])), sorted(map(str, files[1])))
    for key, totals in files[0].items():
        this.equal(f"totals of {key}", totals, files[1][key])
    for figure in ("errors", "sizes"):
        rows = [sorted(str(sorted(row.items())) for row in report[figure] if row.get("func") not in waits)
                for report in (mine, theirs)]
        this.equal(figure, rows[0], rows[1])
    moved = [sum(report["timeline"]["bytes_read"]) for report in (mine, theirs)]
    this.equal("bytes read in the time line", moved[0], moved[1])


# The libraries of a very short process may not have been read: then its heap has no library, in one run or both. Its mappings and its dynamic
# linker name them by different paths where /lib is a link.
def equal_libraries(this, command, mine, theirs):
    if all(row["library"] for row in mine + theirs):
        mine, theirs = ([row | {"library": os.path.realpath(row["library"])} for row in rows] for rows in (mine, theirs))
        this.equal(f"whose the heap of {command} is", mine, theirs)
    live = [sum(row["live_bytes"] for row in rows) for rows in (mine, theirs)]
    this.equal(f"heap of {command} by library", live[0], live[1])


def equal_processes(this, mine, theirs):
    for one, other in zip(mine["processes"], theirs["processes"], strict=True):
        for figure in ("command", "role"):
            this.equal(f"{figure} of a process", one[figure], other[figure])
        this.equal(f"calls on files of {one['command']}", without_time(one["files"]), without_time(other["files"]))
        if one["command"].startswith("/bin/sh"):  # it keeps its environment, which names mlrun's process
            continue
        heaps = one["heap"], other["heap"]
        this.true("cat has a buffer", not one["command"].startswith("cat") or heaps[0]["peak_recorded_bytes"] > 4096)
        this.equal(f"allocations of {one['command']}", heaps[0]["recorded_allocations"], heaps[1]["recorded_allocations"])
        this.equal(f"recorded heap peak of {one['command']}", heaps[0]["peak_recorded_bytes"],
                   heaps[1]["peak_recorded_bytes"])
        equal_libraries(this, one["command"], *(heap["live_at_peak"] for heap in heaps))


def beside_strace(this, command, trace):
    case.need_program("strace")
    log = this.path("strace.log")
    this.run("strace", "-f", "-e", "trace=pread64", "-o", log, *command)
    traced = sum("pread64(" in line and ", 1, " in line for line in log.read_text().splitlines())
    this.equal("numbered calls, by strace", traced, ISSUED)
    this.equal("numbered calls, in the sums", sums.calls_of(trace, "pread", this.data_file()), traced)


def in_a_new_folder(this, work, command, options):
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    return this.trace(*command, options=options)


def check(this):
    data, work = this.data_file(), this.path("work")
    script = (f"{this.victim('numbered')} {data} {ISSUED} exit; cat {data} /nowhere > /dev/null; "
              f"{this.victim('hooks_data')} {work}/data; {this.victim('hooks_names')} {work}; exit 0")
    command = ("/bin/sh", "-c", script)
    options = ["--lossless", "--alloc-min", "64"]
    whole = in_a_new_folder(this, work, command, options)
    only = in_a_new_folder(this, work, command, [*options, "--summary-only"])
    for table in EVENT_TABLES:
        this.equal(f"rows of {table}", only.rows(table), [])
    this.true("the raw files are gone", not list(only.folder.glob("*.bin")) + list(only.folder.glob("session.json")))
    mine, theirs = sums.report(this, only), sums.report(this, whole)
    waits = {func["func"] for report in (mine, theirs) for func in report["functions"] if func["group"] == "waits"}
    this.equal("calls by process, file, function and errno", sums.by_file_and_function(only, "sum", waits),
               sums.by_file_and_function(whole, "call", waits))
    sums.check_buckets(this, only)
    equal_reports(this, mine, theirs, waits, work)
    equal_processes(this, mine, theirs)
    this.true("the report says the rule", mine["tracing"]["summary_only"] and not theirs["tracing"]["summary_only"])
    this.equal("nothing is lost or unseen", (mine["losses"], mine["coverage"]), (theirs["losses"], theirs["coverage"]))
    shown = this.run(case.MLRUN, "report", "--full", only.folder).stdout
    this.true("the summary says the rule", "ADDED UP" in shown, shown)
    shown = this.run(case.MLRUN, "show", only.folder, "sum", "--limit", "5")
    this.true("show knows the table", shown.returncode == 0, shown.stderr)
    beside_strace(this, command, only)


if __name__ == "__main__":
    case.run(check)
