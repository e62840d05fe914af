// SPDX-License-Identifier: Apache-2.0
// --pid, --cgroup, --system and --duration: values of what was given, or why it cannot be meant.
#pragma once

#include <string>
#include <vector>

#include "runner/options/options.h"
#include "runner/options/run_flags.h"

namespace mlrun {

// Leaves `options.observe` empty when a command is to be run. `rest`: the words behind mlrun's own options. Requires:
// --kprobes is read already.
Status read_observe(const RunTexts& texts, const std::vector<std::string>& rest, RunOptions& options);

}  // namespace mlrun
