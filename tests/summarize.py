#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the slowest tests, the time by label and the skipped tests of the last run of ctest.

Usage: summarize.py BUILD   (BUILD/tests.xml is ctest's report, tests/allowed_skips.txt the list of tests that may be skipped)
Fails when a test was skipped that is not on the list."""

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as xml
from collections import Counter
from pathlib import Path

SLOWEST = 10
ALLOWED = Path(__file__).with_name("allowed_skips.txt")


def labels_of_tests(build):
    shown = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], capture_output=True, text=True, check=True)
    return {test["name"]: next((each["value"] for each in test["properties"] if each["name"] == "LABELS"), [])
            for test in json.loads(shown.stdout)["tests"]}


def allowed_skips():
    """[(expression, reason)]"""
    lines = ALLOWED.read_text(encoding="utf-8").splitlines()
    return [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]


def main():
    build = sys.argv[1]
    cases = xml.parse(Path(build) / "tests.xml").getroot().findall("testcase")
    labels, by_label = labels_of_tests(build), Counter()
    for case in cases:
        for label in labels.get(case.get("name"), []) or ["none"]:
            by_label[label] += float(case.get("time"))
    print(f"\nThe {SLOWEST} slowest of {len(cases)} tests, in seconds:")
    for case in sorted(cases, key=lambda case: -float(case.get("time")))[:SLOWEST]:
        print(f"{float(case.get('time')):8.1f}  {case.get('name')}")
    print("Seconds by label, added up over tests:", ", ".join(f"{label} {time:.0f}" for label, time in by_label.most_common()))
    skipped = [case.get("name") for case in cases if case.find("skipped") is not None and case.get("status") != "disabled"]
    allowed = allowed_skips()
    print(f"Skipped: {len(skipped)}")
    unexpected = []
    for name in skipped:
        reason = next((reason for expression, reason in allowed if re.fullmatch(expression, name)), None)
        print(f"  {name}: {reason or 'not on the list of tests/allowed_skips.txt'}")
        if reason is None:
            unexpected.append(name)
    if unexpected:
        print(f"summarize: {len(unexpected)} tests were skipped that must run: install what they need, or list them with the reason")
    return 1 if unexpected else 0


if __name__ == "__main__":
    sys.exit(main())
