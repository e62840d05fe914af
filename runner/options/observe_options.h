// SPDX-License-Identifier: Apache-2.0
// --pid, --cgroup, --system and --duration as checked values, or the error.
#pragma once

#include <string>
#include <vector>

#include "runner/options/options.h"
#include "runner/options/run_flags.h"

namespace mlrun {

// Leaves `options.observe` empty when there is a command to run. `rest`: the words after mlrun's own options. Requires:
// --kprobes has been read.
Status read_observe(const RunTexts& texts, const std::vector<std::string>& rest, RunOptions& options);

}  // namespace mlrun
