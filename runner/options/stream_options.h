// SPDX-License-Identifier: Apache-2.0
// Which streams a run records. Named streams are added to the default ones, and a list selects within its stream; only
// =off removes a stream.
#pragma once

#include <string_view>
#include <vector>

#include "runner/options/options.h"
#include "runner/options/run_flags.h"

namespace mlrun {

// The values of an option that selects within its stream. Each such option takes on, off, auto, require and all too.
struct OptionWords {
  std::string_view option;
  std::vector<std::string_view> all, named;  // those that "all" selects; those that have to be named
  [[nodiscard]] std::vector<std::string_view> values() const;
};
const std::vector<OptionWords>& option_words();
const OptionWords& words_of(std::string_view option);

// Reads --kprobes and --stacks, which are also valid with --pid, --cgroup and --system.
Status read_kernel_streams(const RunTexts& texts, RunOptions& options);

// The others. Requires: read_kernel_streams.
Status read_streams(const RunTexts& texts, RunOptions& options);

// Settles what depends on several options, and rejects a run that records nothing. Requires: check_needs.
Status check_streams(const RunTexts& texts, RunOptions& options);

}  // namespace mlrun
