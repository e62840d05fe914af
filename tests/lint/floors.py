#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Includes go down: floors.txt has the floor of each folder. Producers include the contract (runner/events) and themselves,
mlrun-probes also runner/util, libmlrun_cupti.so also what preload/base has no code for; the runner includes no producer. No
folder holds more than 5,000 lines, and each source is named in the README of its folder, or in the nearest one above."""

import fnmatch
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

MAX_FOLDER_LINES = 5000
TREES = ("preload", "kprobes", "cupti", "runner")
MAY_INCLUDE = {"preload": (), "kprobes": ("runner/util",), "cupti": ("preload/base",), "runner": ("preload/include",)}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
NAMED = re.compile(r"`([\w*?{},./+-]+)`")


def sources():
    patterns = [f"{tree}/*{ending}" for tree in TREES for ending in (".c", ".cpp", ".h", ".def")]
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns],
                            capture_output=True, text=True, check=True)
    return sorted(path for path in map(Path, set(listed.stdout.split())) if path.exists())


def folder_of(path):
    folder = str(path.parent)
    return "runner/events" if folder == "runner/events/hooks" else folder


def floors():
    table = {}
    for line in Path("tests/lint/floors.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            number, *folders = line.split()
            table.update(dict.fromkeys(folders, int(number)))
    return table


def wrong_includes(path, table):
    here = folder_of(path)
    if here not in table:
        yield f"{path}: {here} has no floor in tests/lint/floors.txt"
        return
    tree = path.parts[0]
    for included in INCLUDE.findall(path.read_text(encoding="utf-8")):
        there = folder_of(Path(included))
        if there == here or Path(included).parts[0] not in (*TREES, "tests") or there == "runner/events":
            continue
        if there not in table or (not there.startswith(tree) and there not in MAY_INCLUDE[tree]):
            yield f"{path}: {tree} does not include {included}"
        elif there.startswith(tree) and table[there] >= table[here]:
            yield f"{path}: floor {table[here]} includes {included} of floor {table[there]}"


def alternatives(pattern):
    """`a.{h,cpp}` -> a.h, a.cpp"""
    braces = re.search(r"\{([^{}]*)\}", pattern)
    if not braces:
        return [pattern]
    return [found for choice in braces[1].split(",")
            for found in alternatives(pattern[:braces.start()] + choice + pattern[braces.end():])]


def unnamed(paths):
    names = {}
    for path in paths:
        folder = next(folder for folder in path.parents if (folder / "README.md").exists())
        if folder not in names:
            text = (folder / "README.md").read_text(encoding="utf-8")
            names[folder] = [each for pattern in NAMED.findall(text) for each in alternatives(pattern)]
        local, stem = str(path.relative_to(folder)), str(path.relative_to(folder).with_suffix(""))
        if not any(fnmatch.fnmatchcase(name, pattern) for pattern in names[folder]
                   for name in (local, path.name, stem, path.stem)):
            yield f"{path} is not named in {folder}/README.md"


def main():
    paths, table, lines = sources(), floors(), Counter()
    found = []
    for path in paths:
        lines[folder_of(path)] += sum(1 for _ in path.open(encoding="utf-8"))
        found += wrong_includes(path, table)
    found += [f"{folder}: {count} lines (at most {MAX_FOLDER_LINES})" for folder, count in lines.items() if count > MAX_FOLDER_LINES]
    found += unnamed(paths)
    print("\n".join(found) or "all includes go down, and all sources are named")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
