// SPDX-License-Identifier: Apache-2.0
// What the numbers of a column are, by its name: what a merge of nodes has to change.
#pragma once

#include <cstdint>
#include <string_view>

namespace mlrun::nodes {

// Keys that are counted anew in each trace. A column with one of them refers to the table of that name, or to numbers that only
// such columns have.
enum class KeySpace : uint8_t {
  kProcess,
  kImage,
  kThread,
  kFile,
  kName,
  kStack,
  kFrame,
  kMark,
  kPhase,
  kGpu,
  kCall,
  kOperation,
  kRequest,
  kOpenFile,
  kGap,
  kGpuFile,
  kSum,
  kSyscall
};
inline constexpr size_t kKeySpaces = 18;

enum class ColumnKind : uint8_t {
  kPlain,
  kMoment,           // of CLOCK_MONOTONIC
  kMomentOrUnknown,  // the same; 0: unknown
  kDuration,         // of the row: from `ts` to its end, on the node's clock
  kKey               // 0 and negative: none
};

struct ColumnMeaning {
  ColumnKind kind = ColumnKind::kPlain;
  KeySpace space = KeySpace::kProcess;
};

ColumnMeaning meaning_of(std::string_view table, std::string_view column);

// The same for a row of `summary_value`, whose names are those of figures.
ColumnMeaning meaning_of_figure(std::string_view name);

}  // namespace mlrun::nodes
