// SPDX-License-Identifier: Apache-2.0
// The verbs of mlrun-trace that make traces. Each returns the exit status.
#pragma once

#include "runner/util/result.h"
#include "runner/view/verbs.h"

namespace mlrun::view {

// merge [--threads N] [--quiet] TRACE: tables/ and run.json from spool.bin and session.json.
Result<int> run_merge(const Arguments& arguments);

// finish [--quiet] TRACE: the same, and the summary on standard error. mlrun calls it at the end of a run.
Result<int> run_finish(const Arguments& arguments);

}  // namespace mlrun::view
