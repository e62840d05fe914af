# SPDX-License-Identifier: Apache-2.0
"""What io_uring and Linux's aio are handed is in no call, and io_uring's bytes are not in the kernel's counts: coverage says that
there was a ring, whether libc's mmap mapped it or nothing of libc's was called. Without a ring it says nothing."""

from lib import case

NO_RING, LONG_MS = 77, 3000


def expect(this, how, milliseconds, subject):
    plain = this.run(this.victim("rings"), how, milliseconds)
    if plain.returncode == NO_RING:
        print(f"{how}: this kernel gives none")
        return
    trace = this.untraced_and_traced(this.victim("rings"), how, milliseconds)
    rows = [row["subject"] for row in trace.rows("coverage")]
    this.equal(f"coverage of {how}", rows, [subject] if subject else [])


def check(this):
    expect(this, "none", LONG_MS, None)
    expect(this, "libc", 10, "what io_uring was handed")
    expect(this, "past", LONG_MS, "what io_uring was handed")
    expect(this, "aio", LONG_MS, "what Linux's aio was handed")


if __name__ == "__main__":
    case.run(check)
