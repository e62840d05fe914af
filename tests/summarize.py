#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the slowest tests, the time by label, the skipped tests and the failed ones of the last run of ctest.

Usage: summarize.py BUILD
BUILD/tests.xml is ctest's report, BUILD/tests_again.xml, if there, that of the failed tests' second run, and
tests/allowed_skips.txt the list of tests that may be skipped. Fails when a test was skipped that is not on the list, or failed
and then was skipped."""

import functools
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as xml
from collections import Counter
from pathlib import Path

SLOWEST = 10
LAST_LINES = 25  # of the output of a test that failed
ALLOWED = Path(__file__).with_name("allowed_skips.txt")


def labels_of_tests(build):
    shown = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], capture_output=True, text=True, check=True)
    return {test["name"]: next((each["value"] for each in test["properties"] if each["name"] == "LABELS"), [])
            for test in json.loads(shown.stdout)["tests"]}


@functools.cache
def allowed_skips():
    """[(expression for the name, expression for the reason)]"""
    lines = ALLOWED.read_text(encoding="utf-8").splitlines()
    entries = [line.partition("# ")[0].strip() for line in lines if not line.startswith("#")]
    return [re.split(r"  +", entry, maxsplit=1) for entry in entries if entry]


def reason_of(case):
    """What it printed behind "skipped: ", or GoogleTest below "FILE:LINE: Skipped"; else its last line, as a guest's that cannot start."""
    output = (case.findtext("system-out") or "").rstrip()
    found = re.search(r"skipped: (.*)|^\S+:\d+: Skipped\n(.*)", output, re.MULTILINE)
    return (found[1] or found[2] or "").strip() if found else output.rpartition("\n")[2].strip()


def is_allowed(name, reason):
    return any(re.fullmatch(names, name) and re.fullmatch(reasons, reason) for names, reasons in allowed_skips())


def cases_of(report):
    return xml.parse(report).getroot().findall("testcase") if report.exists() else []


def tests_with(mark, cases):
    """{name: case} of those that ctest marked as "failure" or "skipped"."""
    return {case.get("name"): case for case in cases if case.find(mark) is not None}


def print_failures(cases, again):
    """Last, since logs are often cut off at their begin. Returns how many failed and did not run again because they were skipped."""
    failed, skipped_again = tests_with("failure", cases), tests_with("skipped", again)
    passed_again = {case.get("name") for case in again} - set(tests_with("failure", again)) - set(skipped_again)
    print(f"Failed: {len(failed)}" + (f", {len(passed_again)} of them passed when run again, alone" if again else ""))
    for name, case in failed.items():
        then = ", then passed" if name in passed_again else ", then was skipped" if name in skipped_again else ""
        print(f"\n  {name} failed{' once' if then else ''}{then}:")
        for line in (case.findtext("system-out") or "").rstrip().splitlines()[-LAST_LINES:]:
            print("    " + line)
    return len(skipped_again)


def main():
    build = Path(sys.argv[1])
    cases, again = cases_of(build / "tests.xml"), cases_of(build / "tests_again.xml")
    labels, by_label = labels_of_tests(build), Counter()
    for case in cases:
        for label in labels.get(case.get("name"), []) or ["none"]:
            by_label[label] += float(case.get("time"))
    print(f"\nThe {SLOWEST} slowest of {len(cases)} tests, in seconds:")
    for case in sorted(cases, key=lambda case: -float(case.get("time")))[:SLOWEST]:
        print(f"{float(case.get('time')):8.1f}  {case.get('name')}")
    print("Seconds by label, added up over tests:", ", ".join(f"{label} {time:.0f}" for label, time in by_label.most_common()))
    skipped = tests_with("skipped", cases)
    print(f"Skipped: {len(skipped)}")
    unexpected = 0
    for name, case in skipped.items():
        reason = reason_of(case)
        may_be = is_allowed(name, reason)
        unexpected += not may_be
        print(f"  {name}: {reason or 'no reason given'}{'' if may_be else ' (not allowed by tests/allowed_skips.txt)'}")
    unproven = print_failures(cases, again)
    if unproven:
        print(f"summarize: {unproven} tests failed and were skipped the second time: this does not show that they pass")
    if unexpected:
        print(f"summarize: {unexpected} tests were skipped that must run: install what they need, or list them with the reason")
    return 1 if unexpected or unproven else 0


if __name__ == "__main__":
    sys.exit(main())
