// SPDX-License-Identifier: Apache-2.0
// mlrun --kprobes --pid, --cgroup, --system: attaches the kernel side to running processes. Runs no command and loads
// nothing into a process.
#pragma once

#include "runner/options/options.h"
#include "runner/session/installation.h"
#include "runner/util/result.h"

namespace mlrun::commands {

// Requires: options.observe is not empty.
Result<int> observe(const RunOptions& options, const session::Installation& installation);

}  // namespace mlrun::commands
