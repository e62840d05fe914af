// SPDX-License-Identifier: Apache-2.0
// How much the merger takes in at most. No honest run comes near these; they keep a damaged or hostile spool from
// taking all memory. What lies beyond is counted as lost.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mlrun::trace {

inline constexpr uint64_t kStringBytesMax = uint64_t{1} << 30;  // of all names together
inline constexpr size_t kStringMax = size_t{64} << 10;          // of one name
inline constexpr size_t kPendingStringsMax = 4096;              // with fragments missing
inline constexpr size_t kChannelsMax = size_t{1} << 22;
inline constexpr size_t kFilesMax = size_t{1} << 24;
inline constexpr size_t kOpenFilesMax = size_t{1} << 26;
inline constexpr size_t kPendingFilesMax = size_t{1} << 20;
inline constexpr size_t kLossSpansMax = size_t{1} << 20;
inline constexpr size_t kAnchorsMax = size_t{1} << 18;   // more are thinned out
inline constexpr size_t kModulesMax = size_t{1} << 20;   // mappings of all processes
inline constexpr size_t kMarkLineMax = size_t{1} << 20;  // bytes of a line of an MLLOG file
inline constexpr size_t kMarksMax = size_t{1} << 20;

}  // namespace mlrun::trace
