// SPDX-License-Identifier: Apache-2.0
// Which streams a run records. What is named is added to what is recorded by default, and a list chooses within its stream;
// =off alone takes a stream away.
#pragma once

#include "runner/options/options.h"
#include "runner/options/run_flags.h"

namespace mlrun {

// --kprobes and --stacks, which go with --pid, --cgroup and --system too.
Status read_kernel_streams(const RunTexts& texts, RunOptions& options);

// The others. Requires: read_kernel_streams.
Status read_streams(const RunTexts& texts, RunOptions& options);

// What cannot be recorded together, or leaves nothing to record. Requires: read_streams, and `summary_only` is known.
Status check_streams(const RunTexts& texts, RunOptions& options);

}  // namespace mlrun
