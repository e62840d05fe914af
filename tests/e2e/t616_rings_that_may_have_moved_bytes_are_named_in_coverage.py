# SPDX-License-Identifier: Apache-2.0
"""I/O submitted to io_uring and Linux's aio is in no call, and io_uring's bytes are not in the kernel's counts:
coverage names a ring that may have moved bytes, because it was made past libc or has an operation that moves bytes. A
ring without such an operation, as libuv's for epoll_ctl, gives a remark; an unused ring or no ring gives nothing."""

from lib import case

NO_RING, LONG_MS = 77, 3000


def expect(this, how, milliseconds, subject, level="unseen"):
    plain = this.run(this.victim("rings"), how, milliseconds)
    if plain.returncode == NO_RING:
        print(f"{how}: this kernel gives none")
        return
    trace = this.untraced_and_traced(this.victim("rings"), how, milliseconds)
    rows = [(row["subject"], row["level"]) for row in trace.rows("coverage")]
    this.equal(f"coverage of {how}", rows, [(subject, level)] if subject else [])
    if level == "remark":
        text = this.run(case.MLRUN, "report", "--full", trace.folder).stdout
        this.true("the run is complete", "NOT ALL SEEN" not in text and "epoll_ctl" in text.split("REMARKS")[1], text)


def check(this):
    expect(this, "none", LONG_MS, None)
    expect(this, "libc", 10, None)
    expect(this, "epoll", 10, "operations submitted to io_uring", "remark")
    expect(this, "reads", 10, "operations submitted to io_uring")
    expect(this, "past", LONG_MS, "operations submitted to io_uring")
    expect(this, "aio", LONG_MS, "operations submitted to Linux's aio")


if __name__ == "__main__":
    case.run(check)
