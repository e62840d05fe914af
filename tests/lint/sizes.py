#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No file over 500 lines, no function over 60 (flat tables excepted by name): what a person can hold in the head."""

import subprocess
import sys

import lizard

MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 60


def sources():
    patterns = ["preload/*.[ch]", "cupti/*.[ch]", "kprobes/*.h", "kprobes/*.c", "kprobes/*.cpp", "runner/*.h", "runner/*.cpp", "tests/*.[ch]", "tests/*.cpp", "tests/*.py"]
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns],
        capture_output=True, text=True, check=True,
    )
    return sorted(set(listed.stdout.split()))


def offences(path):
    with open(path, encoding="utf-8") as file:
        lines = sum(1 for _ in file)
    if lines > MAX_FILE_LINES:
        yield f"{path}: {lines} lines (at most {MAX_FILE_LINES})"
    for function in lizard.analyze_file(path).function_list:
        if function.length > MAX_FUNCTION_LINES:
            yield f"{path}:{function.start_line}: {function.name} has {function.length} lines (at most {MAX_FUNCTION_LINES})"


def main():
    found = [text for path in sources() for text in offences(path)]
    print("\n".join(found) or "all files and functions are within bounds")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
