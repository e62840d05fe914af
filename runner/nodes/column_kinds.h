// SPDX-License-Identifier: Apache-2.0
// Which columns hold times, durations and keys, by their names: a merge of nodes has to change these.
#pragma once

#include <cstdint>
#include <string_view>

namespace mlrun::nodes {

// Kinds of keys, each of which begins at 1 in every trace. A column of such keys refers to the table of that name; where there is no such
// table, to equal numbers in other columns of the kind.
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
  kMomentOrUnknown,  // as kMoment; 0: unknown
  kDuration,         // of the row: from `ts` to its end, on the node's clock
  kKey               // 0 and negative: none
};

struct ColumnMeaning {
  ColumnKind kind = ColumnKind::kPlain;
  KeySpace space = KeySpace::kProcess;
};

ColumnMeaning meaning_of(std::string_view table, std::string_view column);

// A column whose meaning differs by row: the text in column `by` determines what `column` holds. Empty: the table has no such column.
struct MeaningByRow {
  std::string_view column, by;
};
MeaningByRow meaning_by_row(std::string_view table);
ColumnMeaning meaning_of_row(std::string_view table, std::string_view text);

}  // namespace mlrun::nodes
