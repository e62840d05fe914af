// SPDX-License-Identifier: Apache-2.0
// Which streams a run records. Named streams are added to the default ones, and a list selects within its stream; only
// =off removes a stream.
#pragma once

#include "runner/options/options.h"
#include "runner/options/run_flags.h"

namespace mlrun {

// --kprobes and --stacks, which are also valid with --pid, --cgroup and --system.
Status read_kernel_streams(const RunTexts& texts, RunOptions& options);

// The others. Requires: read_kernel_streams.
Status read_streams(const RunTexts& texts, RunOptions& options);

// Rejects combinations that cannot be recorded together or record nothing. Requires: read_streams, and `summary_only`
// is set.
Status check_streams(const RunTexts& texts, RunOptions& options);

}  // namespace mlrun
