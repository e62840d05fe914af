# SPDX-License-Identifier: Apache-2.0
"""What placed blocks cost in a steady state, as counts that no machine changes: a program that allocates, grows, aligns and frees the same
blocks again and again, also from one thread to another, takes no page fault in mlrun's heap and changes no mapping, as with libc's allocator once
it has adapted."""

from lib import case

ROUNDS = 300
CHANGES = ("mmap", "munmap", "mremap", "madvise", "mprotect", "brk")
MOST = {"loop": 0, "pass": 2, "grow": 0, "two": 0, "shrink": 0, "aligned": 0}  # of each a round; pass: how many blocks are alive varies
ONCE = 16  # the loop's own


def changes_of(log):
    """The calls that change mappings, between the two calls of getppid that enclose the measured rounds."""
    between = False
    for line in log.read_text(encoding="utf-8").splitlines():
        if "getppid(" in line:
            between = not between
        elif between and any(f"{name}(" in line for name in CHANGES):
            yield line


def check(this):
    case.need_program("strace")
    program = this.victim("places_rounds")
    for name, most in MOST.items():
        log = this.path(f"{name}.strace")
        traced = ("strace", "-f", "-o", log, "-e", "trace=getppid," + ",".join(CHANGES), program, name, str(ROUNDS))
        done = this.run(*this.command(*traced, out=this.new_trace(), options=("--preload=off", "--place", "-> default")))
        this.equal(f"{name}: exit status", done.returncode, 0, said=done.stderr)
        faults, changes = int(done.stdout), list(changes_of(log))
        print(f"{name}: {faults} page faults and {len(changes)} changes of mappings in {ROUNDS} rounds")
        this.true(f"{name}: page faults", faults <= most * ROUNDS + ONCE, faults)
        this.true(f"{name}: changes of mappings", len(changes) <= most * ROUNDS + ONCE, changes[:20])


if __name__ == "__main__":
    case.run(check)
