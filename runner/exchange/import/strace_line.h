// SPDX-License-Identifier: Apache-2.0
// One line of strace, taken apart.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace mlrun::exchange {

struct StraceLine {
  enum class Kind : uint8_t { kCall, kUnfinished, kResumed, kSignal, kExit, kHalf, kOther };
  // What times count from: kMidnight with -t and -tt; kEpoch with -ttt; kLine, the line before, with -r.
  enum class Since : uint8_t { kMidnight, kEpoch, kLine };
  Kind kind = Kind::kOther;        // kHalf: the end of the line before, which a message of strace has cut
  std::string_view tid;            // empty: without -f
  std::optional<int64_t> time_ns;  // counted from `since`
  Since since = Since::kMidnight;
  std::string_view name, args;    // args: between the parentheses, as far as the line has them
  bool again_unfinished = false;  // of a resumed call: it is interrupted again
  std::string_view ret, error;    // "3", "ENOENT"
  std::string_view detail;        // what the result's comment adds, such as "(Timeout)"
  std::optional<int64_t> dur_ns;  // -T
};

[[nodiscard]] StraceLine parse_strace_line(std::string_view line);

// The arguments of a call, split at commas outside of texts and brackets.
[[nodiscard]] std::vector<std::string_view> strace_arguments(std::string_view args);

}  // namespace mlrun::exchange
