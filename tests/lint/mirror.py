#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests mirror sources: tests/FOLDER/X_test.{c,cpp} has a source FOLDER/X.{h,c,cpp}, or is on the list of tests of several sources."""

import subprocess
import sys
from pathlib import Path

TREES = ("cupti", "kprobes", "preload", "runner")
# A folder or a file, and why no one source has its name.
OF_SEVERAL_SOURCES = {
    "tests/preload": "the whole library in programs with known calls (victims/)",
    "tests/preload/files": "the hooks of libc, by kinds of calls",
    "tests/runner/collect/hostile_test.cpp": "the whole collector, beside processes that write anything into the arena",
    "tests/runner/collect/live_test.cpp": "the whole collector, beside threads that record",
    "tests/runner/collect/program_test.cpp": "mlrun as a program, with the real library",
    "tests/runner/idle/gpu_idle_test.cpp": "idle time of a GPU through the whole merge",
    "tests/runner/samplers/machine/machine_sources_test.cpp": "the sources of processors, disks, interfaces and memory, from texts of one kind",
    "tests/runner/summary/meters/cache_misses_test.cpp": "page cache misses from the rows to both reports",
    "tests/runner/summary/meters/large_numbers_test.cpp": "sums that overflow, from the rows to both reports",
    "tests/runner/summary/meters/waits_and_copies_test.cpp": "waits and copies from the rows to the report",
    "tests/runner/sweep/plan/bad_plans_test.cpp": "each kind of bad plan, whichever source refuses it",
    "tests/runner/sweep/statistics/simulated_sweeps_test.cpp": "all verdicts, on simulated sweeps",
    "tests/runner/trace/gpu/gpu_work_test.cpp": "GPU work through the whole merge",
    "tests/runner/trace/hostile_spool_test.cpp": "the whole merge of damaged spools",
    "tests/runner/trace/marks/marks_test.cpp": "marks through the whole merge",
    "tests/runner/util/spilled_table_test.cpp": "flat_map.h in spilled_memory.h, for minutes: of the second tier",
}


def tests():
    patterns = [f"tests/{tree}/*_test.{end}" for tree in TREES for end in ("c", "cpp")]
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns],
                            capture_output=True, text=True, check=True)
    return sorted(path for path in map(Path, set(listed.stdout.split())) if path.exists())


def has_source(test):
    source = test.relative_to("tests").with_name(test.stem.removesuffix("_test"))
    return any(Path(f"{source}.{end}").exists() for end in ("h", "c", "cpp"))


def main():
    found = [path for path in OF_SEVERAL_SOURCES if not Path(path).exists()]
    found = [f"{path}: listed in tests/lint/mirror.py and not there" for path in found]
    for test in tests():
        is_listed = str(test) in OF_SEVERAL_SOURCES or str(test.parent) in OF_SEVERAL_SOURCES
        if str(test) in OF_SEVERAL_SOURCES and has_source(test):
            found.append(f"{test}: has a source of its name, and needs no line in tests/lint/mirror.py")
        elif not is_listed and not has_source(test):
            found.append(f"{test}: there is no {test.relative_to('tests').parent}/{test.stem.removesuffix('_test')}.{{h,c,cpp}}; name it after its "
                         "source, in the mirrored folder, or list it in tests/lint/mirror.py with a reason")
    print("\n".join(found) or "each test has the name of its source, or a reason to have none")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
