# SPDX-License-Identifier: Apache-2.0
"""For memory mapped without an address, with a hint and at a fixed address, by function and by number, the trace has
the requested address, as in strace, and the returned one."""

import mmap

from lib import case, family

MAP_FIXED = 16
FUNCTIONS = 7, 2  # of mmap and mremap, by function
NUMBERS = 3, 2    # and by number


def argument(call):
    """The requested address of a system call in strace's log; None if it has no such argument."""
    arguments = [text.strip() for text in call.text.split(",")]
    if call.name == "mremap":
        return int(arguments[4], 16) if "MREMAP_FIXED" in arguments[3] else None
    return 0 if arguments[0] == "NULL" else int(arguments[0], 16)


def as_signed(address):
    return address if address is None or address < 2**63 else address - 2**64


def check(this):
    trace, log = family.run_beside_strace(this, this.victim("maps_at"), this.data_file())
    rows = family.rows_between_marks(this, trace)
    calls = family.syscalls_between_marks(this, log, rows[0].pid)
    family.expect_same_sequence(this, rows, calls)
    this.equal("rows by function and by number", tuple(
        sum(row.func == func and row.via == via for row in rows) for via in ("function", "syscall") for func in ("mmap", "mremap")),
        FUNCTIONS + NUMBERS)
    this.equal("addresses asked for", [row.wanted_addr for row in rows], [as_signed(argument(call)) for call in calls])
    none = [row for row in rows if row.func == "mmap" and row.wanted_addr == 0]
    this.equal("at no address", [row.via for row in none], ["function", "syscall"])
    fixed = [row for row in rows if row.err == 0 and (row.flags & MAP_FIXED or row.func == "mremap" and row.wanted_addr is not None)]
    this.equal("fixed: given as asked", [row.ret for row in fixed], [row.wanted_addr for row in fixed])
    hints = [row for row in rows if row.func == "mmap" and row.flags & mmap.MAP_SHARED and row.wanted_addr]
    this.true("a hint is not what was given", len(hints) == 2 and all(row.ret != row.wanted_addr for row in hints), hints)


if __name__ == "__main__":
    case.run(check)
