# SPDX-License-Identifier: Apache-2.0
"""A program with its own strlen, memcpy, getenv ..., as with ThreadSanitizer linked in: recording calls none of them,
neither before the program is set up nor later, and all its calls are recorded."""

from lib import case, serials

CALLS = 1000


def check(this):
    data = this.data_file()
    for options in ((), ("--alloc-min", "0", "--stacks"), ("--include", data, "--fold", "1us")):
        trace = this.untraced_and_traced(this.victim("own_functions"), data, CALLS, options=options)
        if "--fold" not in options:
            serials.expect_threads(this, trace.serials(data), [CALLS])
        images = [image["exe"] for image in trace.rows("image")]
        this.equal("programs that were recorded, itself and the two that it started", len(images), 3, said=str(images))


if __name__ == "__main__":
    case.run(check)
