# SPDX-License-Identifier: Apache-2.0
"""train.py with four forked loader workers: per process and path, the trace matches strace, and a rule explains each
difference outside the data. Every read of a training sample has the worker's own pid."""

from lib import case, training
from lib.truth import Truth


def check(this):
    training.need_torch()
    data = training.data_set(this)
    truth = Truth(this, *training.command(data, "--workers", 4))
    truth.report()
    truth.expect_nothing_unsorted()
    truth.expect_same_paths()
    truth.expect_same_bytes()
    totals = truth.expect_data_agrees(data)
    training.expect_workers_read(this, truth, totals, data, workers=4, epochs=2)


if __name__ == "__main__":
    case.run(check)
