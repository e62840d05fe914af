#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is anything forgotten? Every function that libc exports is either in the hook table or in not_hooked.txt with a
reason, and the library exports the table, in libc's versions where these are different functions; every number of a
system call is in raw.def or in not_by_number.txt. Usage: hook_table_test.py LIBRARY. A new function of libc or number of the kernel fails by its name: hook it, or write down why
not."""

import fnmatch
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TABLES = sorted((HERE.parents[2] / "runner/events/hooks").glob("*.def"))
LIBC = "/lib/x86_64-linux-gnu/libc.so.6"
HEADERS = [Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"), Path("/usr/include/asm/unistd_64.h")]
BY_HAND = HERE.parents[2] / "preload/hooks/raw_hooks.c"
NAMED = re.compile(r"^(?:FUNCTION|HANDMADE)\(\d+, (\w+),", re.MULTILINE)
OTHER = re.compile(r"^(?:VARIANT|HANDMADE_VARIANT)\(\w+, (\w+)", re.MULTILINE)
PLAIN = re.compile(r"^(?:ALLOCATION|WATCHED)\((\w+)\)", re.MULTILINE)
BY_NUMBER = re.compile(r"^(?:RAW\(| +\[)SYS_(\w+)[,\]]", re.MULTILINE)
NUMBER = re.compile(r"^#define __NR_(\w+) \d+$", re.MULTILINE)
# Of C23; other allocators have them before libc does.
NEWER_THAN_LIBC = {"free_sized", "free_aligned_sized"}
# For the program itself: preload/include/mlrun_mark.h, and NVTX's way to its handler.
OURS = {"mlrun_mark_push", "mlrun_mark_pop", "mlrun_mark_instant", "InitializeInjectionNvtx2",
        "InitializeInjectionNvtxExtension", "mlrun_producer"}


def functions_of(library):
    """Names of the functions that an object exports, without those of its private version."""
    lines = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    symbols = [line.split()[1:] for line in lines.splitlines() if len(line.split()) == 3]
    return {name.split("@")[0] for kind, name in symbols if kind in "TWi" and "GLIBC_PRIVATE" not in name}


def versions_of(library):
    """{name: {"@VERSION" or, for new programs, "@@VERSION": address}} of the functions that have versions."""
    found = {}
    for line in subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout.splitlines():
        address, kind, symbol = line.split()
        name, at, version = symbol.partition("@")
        if kind in "TWi" and at and "GLIBC_PRIVATE" not in version:
            found.setdefault(name, {})[at + version] = address
    return found


def complaints_about_versions(library, table):
    ours = versions_of(library)
    for name, versions in sorted(versions_of(LIBC).items()):
        if name not in table or len(set(versions.values())) == 1:
            continue
        if set(versions) != set(ours.get(name, {})):
            yield f"{name}: libc has different functions in the versions {sorted(versions)}, we in {sorted(ours.get(name, {}))}"


def hooked():
    return {name for table in TABLES for form in (NAMED, OTHER, PLAIN) for name in form.findall(table.read_text())}


def reasons(name):
    """[(reason, patterns)] of a list."""
    found = []
    for line in (HERE / name).read_text().splitlines():
        if line.startswith("= "):
            found.append((line[2:], []))
        elif line and not line.startswith("#"):
            found[-1][1].extend(line.split())
    return found


def complaints(library):
    table, libc, listed = hooked(), functions_of(LIBC), reasons("not_hooked.txt")
    patterns = [pattern for _, own in listed for pattern in own]
    exported = functions_of(library)
    for name in sorted(libc - table):
        if not any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns):
            yield f"{name}: libc exports it; it is neither hooked nor in not_hooked.txt"
    for name in sorted(table - exported):
        yield f"{name}: in the table, but the library does not export it"
    for name in sorted(exported - table - OURS):
        yield f"{name}: exported by the library, but not in the table"
    for name in sorted(OURS - exported):
        yield f"{name}: for the program itself, but the library does not export it"
    for name in sorted(table - libc - NEWER_THAN_LIBC):
        yield f"{name}: in the table, but libc has no such function"
    for reason, own in listed:
        yield from (f"{name}: hooked, and yet listed as not hooked ({reason[:40]}...)" for name in own if name in table)
        yield from (f"{pattern}: matches nothing of libc" for pattern in own
                    if not any(fnmatch.fnmatchcase(name, pattern) for name in libc))


def complaints_by_number():
    header = next((path for path in HEADERS if path.exists()), None)
    kernel = set(NUMBER.findall(header.read_text())) if header else set()
    table = {name for text in [*TABLES, BY_HAND] for name in BY_NUMBER.findall(text.read_text())}
    patterns = [pattern for _, own in reasons("not_by_number.txt") for pattern in own]
    for name in sorted(kernel - table):
        if not any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns):
            yield f"{name}: the kernel has that number; it is neither in raw.def nor in not_by_number.txt"
    yield from (f"{name}: recorded by number, and yet listed as not" for name in sorted(table)
                if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns))
    # An older kernel's header lacks the newest numbers.
    yield from (f"{pattern}: matches no number" for pattern in patterns
                if kernel >= {"set_mempolicy_home_node"} and not fnmatch.filter(kernel, pattern))


def main():
    if not Path(LIBC).exists():
        print(f"skipped: there is no {LIBC}")
        return 77
    found = [*complaints(sys.argv[1]), *complaints_about_versions(sys.argv[1], hooked()), *complaints_by_number()]
    print("\n".join(found) or f"{len(hooked())} functions hooked, the rest of {len(functions_of(LIBC))} has a reason")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
