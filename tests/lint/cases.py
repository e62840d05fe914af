#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each numbered case of tests/e2e and tests/sweep is in the first column of a row of its README.md, by itself or in a range, and is
registered in CMakeLists.txt; a row begins and ends with cases that are there; each module of tests/e2e/lib has a row."""

import re
import sys
from pathlib import Path

FOLDERS = (("tests/e2e", "t"), ("tests/sweep", "s"))


def faults(folder, letter):
    page = Path(folder, "README.md").read_text(encoding="utf-8")
    registered = Path(folder, "CMakeLists.txt").read_text(encoding="utf-8")
    cases = {int(path.name[1:4]): path for path in Path(folder).glob(f"{letter}[0-9][0-9][0-9]_*.py")}
    named, ends = set(), set()
    for column in re.findall(rf"^\| ({letter}\d\d\d[^|]*)", page, re.MULTILINE):
        for first, last in re.findall(rf"{letter}(\d\d\d)(?: to {letter}(\d\d\d))?", column):
            ends |= {int(first), int(last or first)}
            named |= set(range(int(first), int(last or first) + 1))
    yield from (f"{cases[number]}: in no row of {folder}/README.md" for number in sorted(set(cases) - named))
    yield from (f"{folder}/README.md: there is no case {letter}{number}" for number in sorted(ends - set(cases)))
    yield from (f"{path}: not in {folder}/CMakeLists.txt" for path in cases.values() if f"_case({path.stem} " not in registered)
    yield from (f"{path}: in no row of {folder}/README.md" for path in sorted(Path(folder).glob("lib/[a-z]*.py")) if f"`{path.name}`" not in page)


def main():
    found = [fault for folder, letter in FOLDERS for fault in faults(folder, letter)]
    print("\n".join(found) or "each case has its row and is registered")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
