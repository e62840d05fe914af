# SPDX-License-Identifier: Apache-2.0
"""Every line of the hook table, called by its own symbol or number a known number of times, leaves that many rows of
its name; where each call is one system call, strace sees as many."""

import errno

from lib import case, family, hook_table

VICTIMS = ("data", "descriptors", "memory", "names", "numbers", "processes", "streams", "waits")
BESIDE_STRACE = ("data", "descriptors", "names", "numbers")
# Waits that end by timeout, whatever number the function returns for that.
TIMED_OUT = ("sem_timedwait", "sem_clockwait", "pthread_cond_timedwait", "pthread_cond_clockwait", "cnd_timedwait")


def folder_for(this, name):
    folder = this.path(name)
    folder.mkdir()
    (folder / "in").write_bytes(b"123456789\n" * 2500)
    return folder


def check_strace(this, victim, table):
    """Complaints about lines for which strace sees another number of system calls, and the number of compared lines."""
    trace, log = family.run_beside_strace(this, this.victim(f"lines_{victim}"), folder_for(this, f"{victim}_beside_strace"))
    reported = hook_table.called(trace)
    pid = next(call.pid for call in trace.calls_of("unlink") if call.path.startswith("/mlrun-line"))
    wrong, held = [], 0
    for line, calls in zip(reported, hook_table.windows_in(log, pid), strict=True):
        names = hook_table.syscalls_of(table[line.symbol], line.symbol)
        made = sum(call.name in names for call in calls)
        if names and made != line.wanted:
            wrong.append(f"{line.symbol}: strace sees {made} of {names}, wanted {line.wanted}")
        held += bool(names)
    return wrong, held


def check_victim(this, victim, table):
    """The lines that it called and that left what they must; complaints about the others."""
    folder = folder_for(this, victim)
    program = this.victim(f"lines_{victim}")
    options = ("--lossless", "--alloc-min", "0") if victim == "memory" else ("--lossless",)
    trace = this.trace(program, folder, options=options)
    this.equal(f"{victim}: dropped records", trace.dropped(), 0)
    imported, whole = hook_table.imports_of(program), hook_table.rows_without_functions()
    covered, wrong = set(), []
    for reported in hook_table.called(trace):
        line = table.get(reported.symbol)
        if line is None:
            wrong.append(f"{reported.symbol}: called by lines_{victim}, but not in the table")
            continue
        if line.via == "function" and reported.symbol not in imported | whole:
            wrong.append(f"{reported.symbol}: lines_{victim} does not call it by that name")
            continue
        rows = hook_table.rows_of(trace, line, reported)
        if len(rows) != reported.wanted:
            wrong.append(f"{reported.symbol}: {len(rows)} rows of {line.name}, wanted {reported.wanted}")
        if reported.symbol in TIMED_OUT and {row.err for row in rows} != {errno.ETIMEDOUT}:
            wrong.append(f"{reported.symbol}: ended with {[(row.ret, row.err) for row in rows]}, wanted ETIMEDOUT")
        covered.add(reported.symbol)
    return covered, wrong


def check(this):
    table = hook_table.lines()
    covered, wrong = set(), []
    for victim in VICTIMS:
        of_victim, faults = check_victim(this, victim, table)
        covered |= of_victim
        wrong += faults
    held = 0
    for victim in BESIDE_STRACE:
        faults, lines = check_strace(this, victim, table)
        wrong += faults
        held += lines
    wrong += [f"{symbol}: no victim calls this line of the table" for symbol in sorted(table.keys() - covered)]
    this.equal("lines of the hook table", wrong, [])
    this.true("lines were held against strace", held > 300, held)
    print(f"{len(covered)} of {len(table)} lines called, each with the rows that it must leave; strace agrees about {held}")


if __name__ == "__main__":
    case.run(check)
