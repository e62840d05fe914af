// SPDX-License-Identifier: Apache-2.0
// What the numbers of a column are, by its name: what a merge of nodes has to change.
#pragma once

#include <cstdint>
#include <string_view>

namespace mlrun::nodes {

// Keys that begin at 1 in each trace. A column with one of them refers to the table of that name, or to numbers that only
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
  kRequest,
  kOpenFile,
  kGap,
  kGpuFile,
  kSum,
  kSyscall,
  kSlice
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

// A column whose meaning is that of each row, by a text in it: `column` by the text in `by`. Empty: the table has none.
struct MeaningByRow {
  std::string_view column, by;
};
MeaningByRow meaning_by_row(std::string_view table);
ColumnMeaning meaning_of_row(std::string_view table, std::string_view text);

}  // namespace mlrun::nodes
