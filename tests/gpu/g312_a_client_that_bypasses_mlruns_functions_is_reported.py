# SPDX-License-Identifier: Apache-2.0
"""A client that takes CUPTI's functions by dlsym, and with them the buffers that mlrun gave CUPTI, runs as without
mlrun, whether it frees them or not; the trace says since when it has nothing."""

import re

import cupti_case
from lib import case

LAUNCHES = 100
UNSEEN = "a client that bypassed mlrun's functions had CUPTI"


def seen_kernels(text):
    return int(re.search("^saw ([0-9]+)", text, re.MULTILINE)[1])


def times(text):
    return tuple(map(int, re.search(r"from (\d+) began (\d+) to (\d+)", text).groups()))


def check(this):
    library = cupti_case.PLACE / "libmock_unseen_client.so"
    for past in ("free", "read"):
        plain = this.run(cupti_case.APP, "unseen", LAUNCHES, library,
                         env=cupti_case.mock_environment(this, 13, PAST=past))
        this.equal("exit status without mlrun: " + past, plain.returncode, 0, said=plain.stderr)
        this.equal("kernels that it sees without mlrun", seen_kernels(plain.stdout), LAUNCHES + 1)
        trace = cupti_case.traced(this, "unseen", LAUNCHES, library=library, PAST=past)
        # With those that CUPTI held for mlrun.
        this.equal("kernels that it sees: " + past, seen_kernels(trace.stdout), 2 * (LAUNCHES + 1))
        this.equal("kernels of the trace: " + past, trace.rows("gpu_kernel"), [])
        gaps = [row for row in trace.rows("loss") if row["reason"] == UNSEEN]
        _, began, end = times(trace.stdout)
        this.equal("gaps: " + past, len(gaps), 1)
        this.true("the gap begins before what is missing and lasts to the end",
                  gaps[0]["first"] < began and gaps[0]["last"] > end + 2_000_000_000, (gaps, began, end))


if __name__ == "__main__":
    case.run(check)
