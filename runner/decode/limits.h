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
inline constexpr size_t kFailedExecsMax = size_t{1} << 22;
inline constexpr size_t kPendingFilesMax = size_t{1} << 20;
inline constexpr size_t kLossSpansMax = size_t{1} << 20;
inline constexpr size_t kAnchorsMax = size_t{1} << 18;  // more are thinned out
inline constexpr size_t kModulesMax = size_t{1} << 20;  // mappings of all processes
inline constexpr size_t kStacksMax = size_t{1} << 22;   // definitions of all processes
inline constexpr size_t kFramesMax = size_t{1} << 25;   // in all of these together
inline constexpr size_t kPythonNameMax = 4096;          // bytes of a file's or a function's, as they are read at most
inline constexpr size_t kPythonNameBytesMax = size_t{128} << 20;  // of those of all frames, as often as they are kept
inline constexpr int64_t kOffsetMax = int64_t{1}
                                      << 62;  // in a file; beyond it the end of a transfer may have no number
inline constexpr size_t kLogWritesMax = size_t{1} << 20;  // of one MLLOG file, the last ones; 24 bytes each
inline constexpr size_t kMarkLineMax = size_t{1} << 20;   // bytes of a line of an MLLOG file
inline constexpr size_t kGpusMax = 4096;
inline constexpr size_t kLaterCallsMax = size_t{1} << 16;  // of CUDA, under way at the end of a slice
inline constexpr int64_t kCallsBeyondNs = 20'000'000;      // how far behind a slice's end they are looked for
inline constexpr size_t kOpenRangesMax = size_t{1} << 20;
inline constexpr size_t kOpenRangeBytesMax = size_t{32} << 20;  // of the texts and payloads of those together
inline constexpr size_t kMarkNamesMax = size_t{1} << 18;        // with a name_id; others stand in their row
inline constexpr size_t kMarkNameBytesMax = size_t{32} << 20;   // of those together
inline constexpr size_t kMarksMax = size_t{1} << 20;
inline constexpr size_t kLayoutsMax = 4096;                 // of structured payloads
inline constexpr size_t kLayoutTextMax = size_t{16} << 10;  // of one
inline constexpr size_t kLayoutMembersMax = 256;
inline constexpr size_t kPayloadTextMax = size_t{4} << 10;    // of a payload's members as JSON
inline constexpr size_t kPayloadTextsMax = size_t{64} << 20;  // of those of one partition
inline constexpr size_t kCommunicatorsMax = size_t{1} << 16;  // by process
inline constexpr size_t kKernelLossesMax = size_t{1} << 16;
inline constexpr size_t kPageAddsMax = size_t{1} << 23;       // additions to the page cache
inline constexpr size_t kWindowWaitsMax = size_t{1} << 20;    // of threads, that calls may still ask for
inline constexpr size_t kWindowPartsMax = size_t{1} << 20;    // likewise; a part has up to 3 entries, a request 1
inline constexpr size_t kWindowFileOpsMax = size_t{1} << 20;  // likewise, file operations
inline constexpr size_t kDisksOfAFileSystem = 64;
inline constexpr uint32_t kWakerAgeMaxNs = 10'000'000;         // from a completion to whom it wakes, on a slow machine
inline constexpr size_t kJoinedPartsMax = size_t{1} << 23;     // block parts that are joined with their calls
inline constexpr size_t kJoinedFileOpsMax = size_t{1} << 23;   // file operations, likewise
inline constexpr size_t kJoinedGpuFilesMax = size_t{1} << 22;  // calls of libcufile, likewise
inline constexpr size_t kGpuFileHandlesMax = size_t{1} << 20;  // that are there at once
inline constexpr size_t kGpuFileExecsMax = size_t{1} << 20;    // at which they go
inline constexpr size_t kOpenInBatchMax = 4096;                // operations that a batch of libcufile has open
inline constexpr size_t kCufileArraysMax = 4096;               // of threads, whose call's record is still to come

inline constexpr size_t kCompletionsMax = size_t{1} << 23;           // of file operations that complete by themselves
inline constexpr size_t kRepeatedBytesMax = 256;                     // of a text that stands in every row
inline constexpr size_t kSyncedInsideMax = size_t{1} << 20;          // operations under way with an fsync in them
inline constexpr size_t kObservedEventsMax = size_t{4} << 20;        // begin, exec, end and look, of all processes
inline constexpr size_t kObservedFilesMax = size_t{1} << 22;         // times at which names were seen, and files made
inline constexpr size_t kOperationNameBytesMax = size_t{256} << 20;  // of paths that operations on names were given
inline constexpr size_t kObservedTextBytesMax = size_t{512} << 20;   // of these looks and names, as they are kept

}  // namespace mlrun::trace
