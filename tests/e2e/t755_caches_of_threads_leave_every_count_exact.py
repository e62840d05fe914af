# SPDX-License-Identifier: Apache-2.0
"""Threads allocate and free blocks, their own and each other's, while the process forks: matches, bytes and what is alive are what the program has counted
itself, to the byte, though it ends by SIGKILL. The peak is what was alive at once, whatever freed blocks threads have at hand. Resident memory
behind the last free is within the limit, and a child's count begins with what it has inherited, not with what its parent has later."""

from lib import case

LIMIT_MIB = 64


def rules(this, program, what, options):
    """What the program prints, and its rules by process."""
    out = this.new_trace()
    done = this.run(*this.command(program, what, out=out, options=options))
    this.equal(f"{what} ends", done.returncode, 128 + 9, said=done.stderr)
    return [int(word) for word in done.stdout.split()], {process["pid"]: process["rules"][0] for process in this.opened(out).run["placement"]["processes"]}


def check(this):
    program = this.victim("places_threads")
    for options in (("--place", "-> default"), ("--preload=off", "--place", "-> default"), ("--preload=off", "--place", "-> default budget 1G")):
        (matches, asked, alive, wrong), found = rules(this, program, "counts", options)
        this.equal("wrong contents, and children that did not end well", wrong, 0)
        rule = max(found.values(), key=lambda one: one["matches"])
        this.equal("of the program", (rule["matches"], rule["bytes"], rule["live_bytes"]), (matches, asked, alive), said=found)
        this.true("its peak", alive <= rule["peak_bytes"] <= rule["bytes"], rule)
        this.equal("its children", {(one["matches"], one["fallbacks"]) for one in found.values() if one is not rule}, {(100, 0)})
    options = ("--preload=off", "--place", "-> default")
    for what in ("turns", "together"):
        (peak,), found = rules(this, program, what, options)
        this.equal(f"{what}: peak, alive", [(rule["peak_bytes"], rule["live_bytes"]) for rule in found.values()], [(peak, 0)])
    (stay,), found = rules(this, program, "kept", options)
    print("MiB that stay", stay)
    this.true("MiB that stay", stay <= LIMIT_MIB, stay)
    (pid, alive), found = rules(this, program, "inherits", options)
    this.equal("alive in the child", (found[pid]["live_bytes"], found[pid]["matches"]), (alive, 1), said=found)


if __name__ == "__main__":
    case.run(check)
