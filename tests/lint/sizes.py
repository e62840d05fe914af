#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No file over 500 lines or 25 includes, no function over 60 lines, no class over 20 private data members: what a person can hold in the head.
Public members, as of a row or of options, and classes inside others are not counted.
Exceptions are in EXCEPTIONS, each with its reason."""

import re
import subprocess
import sys

import lizard

MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 60
MAX_INCLUDES = 25
MAX_MEMBERS = 20
CLASS = re.compile(r"^(?:class|struct) (\w+)[^;{]*\{$")
MEMBER = re.compile(r"^  [\w:<>,*& \[\]()]+?[ &*]\w+_(?: = [^;]*|\{[^;]*\})?;|^  \} \w+_;")
BRACKETS = re.compile(r"<[^<>]*>|\([^()]*\)|\{[^{}]*\}|\[[^\[\]]*\]")
DECLARED = re.compile(r"(?<![\w.])\w+_(?= *(?:=|,|$))")
# file or class -> why it may be larger
EXCEPTIONS = {
    "kprobes/attach/probes.cpp": "attaches every kind of probe",
    "kprobes/server.cpp": "starts and ends every part of mlrun-probes",
    "Server": "one member a part of mlrun-probes",
    "CallTable": "one member a column",
    "DamonRung": "the state of one session of DAMON",
    "preload/hooks/hooks.c": "expands the whole table of hooks: the headers that declare the functions",
    "runner/commands/doctor.cpp": "asks every part whether it works here",
    "runner/commands/run.cpp": "starts and ends every part of a run",
    "Monitor": "one member a part of the live view",
    "SpoolIndex": "one member a thing that the first pass learns",
    "runner/trace/merge/merge.cpp": "feeds every table and figure",
    "tests/e2e/victims/by_number.c": "calls one function of each system header",
    "tests/fuzz/spool_target.cpp": "reaches every decoder",
    "tests/preload/fuzz/calls.c": "calls functions of every system header",
}


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


def members_of(line):
    """How many a line declares: size_t a_ = 0, b_ = 0; has two."""
    if not MEMBER.match(line):
        return 0
    names = line.split(";")[0]
    while (shorter := BRACKETS.sub("", names)) != names:
        names = shorter
    return len(DECLARED.findall(names))


def classes_of(lines):
    """(line, name, data members) of each class at the top level whose members are private, that is named with a _ at the end."""
    began, name, members = 0, "", 0
    for number, line in enumerate(lines, 1):
        if found := CLASS.match(line):
            began, name, members = number, found[1], 0
        elif name and line.startswith("}"):
            yield began, name, members
            name = ""
        elif name:
            members += members_of(line)


def shape_offences(path):
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    includes = sum(line.startswith("#include") for line in lines)
    if includes > MAX_INCLUDES and path not in EXCEPTIONS:
        yield f"{path}: {includes} includes (at most {MAX_INCLUDES})"
    for began, name, members in classes_of(lines):
        if members > MAX_MEMBERS and name not in EXCEPTIONS:
            yield f"{path}:{began}: {name} has {members} data members (at most {MAX_MEMBERS})"


def main():
    found = [text for path in sources() for text in (*offences(path), *shape_offences(path))]
    print("\n".join(found) or "all files and functions are within bounds")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
