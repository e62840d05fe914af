// SPDX-License-Identifier: Apache-2.0
// mlrun --kprobes --pid, --cgroup, --system: the kernel side attached to what runs already. No command is run, and nothing
// is loaded into a process.
#pragma once

#include "runner/options/options.h"
#include "runner/session/installation.h"
#include "runner/util/result.h"

namespace mlrun::commands {

// Requires: options.observe says whom.
Result<int> observe(const RunOptions& options, const launch::Installation& installation);

}  // namespace mlrun::commands
