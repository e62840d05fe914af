# SPDX-License-Identifier: Apache-2.0
"""Every line of the hook table is called by its own symbol or number, a known number of times, and leaves so many rows of
its name. What cannot be called here is listed with its reason, and must not be callable."""

import errno

from lib import case, hook_table

VICTIMS = ("data", "descriptors", "memory", "names", "numbers", "processes", "streams", "waits")
# Lines that no program can call on this system, and why. One that has rows all the same fails.
NOT_CALLED = {}
# How waits end that nobody wakes, whatever numbers the function itself has for that.
TIMED_OUT = ("sem_timedwait", "sem_clockwait", "pthread_cond_timedwait", "pthread_cond_clockwait", "cnd_timedwait")


def check_victim(this, victim, table):
    """The lines that it called and that left what they must; complaints about the others."""
    folder = this.path(victim)
    folder.mkdir()
    (folder / "in").write_bytes(b"123456789\n" * 2500)
    program = this.victim(f"lines_{victim}")
    options = ("--lossless", "--alloc-min", "0") if victim == "memory" else ("--lossless",)
    trace = this.trace(program, folder, options=options)
    this.equal(f"{victim}: dropped records", trace.dropped(), 0)
    imported, whole = hook_table.imports_of(program), hook_table.rows_without_functions()
    covered, wrong = set(), []
    for told in hook_table.called(trace):
        line = table.get(told.symbol)
        if line is None:
            wrong.append(f"{told.symbol}: called by lines_{victim}, but not in the table")
            continue
        if line.via == "function" and told.symbol not in imported | whole:
            wrong.append(f"{told.symbol}: lines_{victim} does not call it by that name")
            continue
        rows = hook_table.rows_of(trace, line, told)
        if len(rows) != told.wanted:
            wrong.append(f"{told.symbol}: {len(rows)} rows of {line.name}, wanted {told.wanted}")
        if told.symbol in TIMED_OUT and {row.err for row in rows} != {errno.ETIMEDOUT}:
            wrong.append(f"{told.symbol}: ended with {[(row.ret, row.err) for row in rows]}, wanted ETIMEDOUT")
        covered.add(told.symbol)
    return covered, wrong


def check(this):
    table = hook_table.lines()
    covered, wrong = set(), []
    for victim in VICTIMS:
        of_victim, faults = check_victim(this, victim, table)
        covered |= of_victim
        wrong += faults
    wrong += [f"{symbol}: no victim calls this line of the table" for symbol in sorted(table.keys() - covered - NOT_CALLED.keys())]
    wrong += [f"{symbol}: called, and yet listed as not callable ({NOT_CALLED[symbol]})" for symbol in sorted(NOT_CALLED.keys() & covered)]
    wrong += [f"{symbol}: listed as not callable, but not in the table" for symbol in sorted(NOT_CALLED.keys() - table.keys())]
    this.equal("lines of the hook table", wrong, [])
    print(f"{len(covered)} of {len(table)} lines called, each with the rows that it must leave")


if __name__ == "__main__":
    case.run(check)
