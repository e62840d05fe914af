// SPDX-License-Identifier: Apache-2.0
// Makes one run: its folder and logs, the command under a supervisor, its figures and its row.
#pragma once

#include "runner/sweep/execute/helper.h"
#include "runner/sweep/store/rows.h"
#include "runner/util/result.h"

namespace mlrun::sweep {

// Makes the run and returns its row as stored: done, failed or timed out. `interrupted`: a signal stopped the sweep, or the disk is full.
Result<RunRow> make_run(Making& making, RunRow run);

// Runs the command of `run` once to fill the page cache; its trace is not kept, its output goes to warm_up.log. False: a signal
// stopped the sweep.
Result<bool> warm_up(Making& making, const RunRow& run);

}  // namespace mlrun::sweep
