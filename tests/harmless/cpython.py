#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CPython's own tests, plain and under mlrun: every test must end with the same verdict.

Needs Debian's libpython3.11-testsuite (exit status 77 without it). --quick: the modules that take seconds. A test whose verdict differs between two plain runs is left out, and named.
"""

import argparse
import pathlib
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

PYTHON = "/usr/bin/python3"
MODULES = [
    "test_os", "test_io", "test_subprocess", "test_mmap", "test_multiprocessing_fork", "test_multiprocessing_spawn",
    "test_signal", "test_threading", "test_tempfile", "test_faulthandler",
]

QUICK = ["test_os", "test_mmap", "test_tempfile", "test_faulthandler"]
SKIPPED = 77


def verdicts(xml_file):
    """{test id: verdict} of one JUnit file."""
    found = {}
    for case in xml.etree.ElementTree.parse(xml_file).iter("testcase"):
        bad = [child.tag for child in case if child.tag in ("failure", "error", "skipped")]
        found[case.get("name")] = bad[0] if bad else "passed"
    return found


def run_module(module, prefix, scratch):
    out = pathlib.Path(scratch) / "result.xml"
    out.unlink(missing_ok=True)
    command = [*prefix, PYTHON, "-m", "test", "--junit-xml", str(out), "--timeout", "1200", module]
    done = subprocess.run(command, cwd=scratch, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=3000,
                          check=False)
    if not out.exists():
        sys.exit(f"error: {' '.join(command)} wrote no result:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return verdicts(out)


def compare(module, mlrun, scratch):
    """Returns (tests compared, lines about different verdicts)."""
    first = run_module(module, [], scratch)
    traced_prefix = [str(mlrun), "--preload", "--quiet", "--defer-merge", "-o", f"{scratch}/trace-{module}"]
    traced = run_module(module, traced_prefix, scratch)
    suspects = {name for name in first.keys() | traced.keys() if first.get(name) != traced.get(name)}
    if suspects:  # only now is the second plain run worth its time
        second = run_module(module, [], scratch)
        unstable = {name for name in suspects if first.get(name) != second.get(name)}
        for name in sorted(unstable):
            print(f"  unstable without mlrun too: {name}")
        suspects -= unstable
    lines = [f"  {name}: {first.get(name)} untraced, {traced.get(name)} traced" for name in sorted(suspects)]
    print(f"{'FAIL' if lines else 'ok  '} {module}: {len(first)} tests", flush=True)
    return len(first), lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mlrun", type=pathlib.Path)
    parser.add_argument("modules", nargs="*")
    parser.add_argument("--quick", action="store_true", help=f"only {' '.join(QUICK)}")
    options = parser.parse_args()
    if subprocess.run([PYTHON, "-c", "import test.test_os"], capture_output=True, check=False).returncode != 0:
        print("skipped: needs libpython3.11-testsuite")
        sys.exit(SKIPPED)
    # A job in the background of a script ignores SIGINT, which these tests send.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    total, different = 0, []
    with tempfile.TemporaryDirectory(prefix="mlrun-cpython.") as scratch:
        for module in options.modules or (QUICK if options.quick else MODULES):
            count, lines = compare(module, options.mlrun.resolve(), scratch)
            total += count
            different += lines
    print("\n".join([*different, f"{total} tests compared, {len(different)} with another verdict"]))
    return 1 if different or total == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
