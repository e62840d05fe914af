# SPDX-License-Identifier: Apache-2.0
"""After mlockall, new placed blocks are locked and filled where those of libc are: with MCL_FUTURE, not with MCL_CURRENT alone, and no more after
munlockall. What blocks that had grown leave is locked no more, and goes to no later block. Free memory between blocks does not use up the process's
mappings. Locked and resident memory by /proc, with the recorder and without. A block that grows may also be locked where libc's old mapping was
not."""

from lib import case

CURRENT, FUTURE, ONFAULT = 1, 2, 4
ROOM = 12  # MiB: a block that grew is copied, and the old one kept


def sizes(this, said):
    rows = {name: (int(locked), int(resident)) for name, locked, resident in (line.split() for line in said.splitlines())}
    this.equal("cases", list(rows), ["block", "grown", "after"])
    return rows


def check(this):
    victim = this.victim("locks_memory")
    for flags in (CURRENT, FUTURE, CURRENT | FUTURE, FUTURE | ONFAULT, CURRENT | FUTURE | ONFAULT):
        done = this.run(victim, flags)
        if done.returncode == 77:
            raise case.Skip("mlockall is refused")
        wanted = sizes(this, done.stdout)
        if flags & (CURRENT | FUTURE) == FUTURE:
            del wanted["grown"]
        for options in (("--place", "-> default"), ("--preload=off", "--place", "-> default")):
            found = sizes(this, this.trace(victim, flags, options=options).stdout)
            for name, (locked, resident) in wanted.items():
                this.true(f"{name} after mlockall({flags}), {options}: locked", abs(found[name][0] - locked) <= ROOM, (found, wanted))
                this.true(f"{name} after mlockall({flags}), {options}: resident", abs(found[name][1] - resident) <= ROOM, (found, wanted))
    for flags in (CURRENT, CURRENT | FUTURE, CURRENT | FUTURE | ONFAULT):
        said = this.trace(victim, flags, "again", options=("--preload=off", "--place", "-> default")).stdout
        added = {name: int(number) for name, number in (line.split() for line in said.splitlines())}
        this.equal(f"cases after mlockall({flags})", list(added), ["freed", "smaller", "new"])
        this.true(f"mlockall({flags}): a freed block is locked no more", added["freed"] <= -22, added)
        this.true(f"mlockall({flags}): the end of a block that became smaller is locked no more", added["smaller"] <= -14, added)
        this.equal(f"mlockall({flags}): a new block is locked", added["new"], int(flags != CURRENT))
    for flags, most in ((CURRENT | FUTURE, 1000), (FUTURE, 34000), (CURRENT, 34000)):
        for options in (("--place", "size >= 4K -> default"), ("--preload=off", "--place", "size >= 4K -> default")):
            mappings = int(this.trace(victim, flags, "many", options=options).stdout)
            this.true(f"mappings after mlockall({flags}), {options}", mappings < most, mappings)


if __name__ == "__main__":
    case.run(check)
