# SPDX-License-Identifier: Apache-2.0
"""torchrun with two gloo ranks, each with two forked loader workers: the trace matches strace and has the ranks."""

from lib import case, training
from lib.truth import Truth


def check(this):
    training.need_torch()
    data = training.data_set(this)
    truth = Truth(this, *training.torchrun(data, "--workers", 2, ranks=2), timeout=180)
    truth.report()
    truth.expect_nothing_unsorted()
    truth.expect_same_paths()
    truth.expect_same_bytes()
    truth.expect_data_agrees(data)
    ranks = {row["rank"] for row in truth.trace.rows("process") if row["world_size"] == 2}
    this.true("both ranks are known", {0, 1} <= ranks, ranks)


if __name__ == "__main__":
    case.run(check)
