// SPDX-License-Identifier: Apache-2.0
// One line of strace, taken apart.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace mlrun::exchange {

struct StraceLine {
  enum class Kind : uint8_t { kCall, kUnfinished, kResumed, kSignal, kExit, kOther };
  Kind kind = Kind::kOther;
  std::string_view tid;            // empty: without -f
  std::optional<int64_t> time_ns;  // of the clock that `is_epoch` names
  bool is_epoch = false;           // -ttt; else since midnight
  std::string_view name, args;     // args: between the parentheses, as far as the line has them
  bool again_unfinished = false;   // of a resumed call: it is interrupted again
  std::string_view ret, error;     // "3", "ENOENT"
  std::optional<int64_t> dur_ns;   // -T
};

[[nodiscard]] StraceLine parse_strace_line(std::string_view line);

// The arguments of a call, split at commas outside of texts and brackets.
[[nodiscard]] std::vector<std::string_view> strace_arguments(std::string_view args);

}  // namespace mlrun::exchange
