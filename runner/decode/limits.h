// SPDX-License-Identifier: Apache-2.0
// Upper bounds on what the merger keeps. No real run comes near them; they prevent a damaged or hostile spool from
// exhausting memory. What exceeds a limit is counted as lost.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mlrun::decode {

inline constexpr uint64_t kStringBytesMax = uint64_t{1} << 30;  // bytes of all strings together
inline constexpr size_t kStringMax = size_t{64} << 10;          // bytes of one string
inline constexpr size_t kPendingStringsMax = 4096;              // strings with missing fragments
inline constexpr size_t kChannelsMax = size_t{1} << 22;
inline constexpr size_t kThreadsMax = size_t{1} << 22;  // beyond this, the creation of a thread makes no row
// Connected or accepted sockets; the other end of further ones stays unknown.
inline constexpr size_t kSocketsMax = size_t{1} << 21;
inline constexpr size_t kFilesMax = size_t{1} << 24;
inline constexpr size_t kOpenFilesMax = size_t{1} << 26;
inline constexpr size_t kFailedExecsMax = size_t{1} << 22;
inline constexpr size_t kPendingFilesMax = size_t{1} << 20;
inline constexpr size_t kLossSpansMax = size_t{1} << 20;
inline constexpr size_t kAnchorsMax = size_t{1} << 18;  // beyond this, anchors are thinned out
inline constexpr size_t kModulesMax = size_t{1} << 20;  // mappings of all processes
inline constexpr size_t kStacksMax = size_t{1} << 22;   // definitions of all processes
inline constexpr size_t kFramesMax = size_t{1} << 25;   // frames of all stacks together
inline constexpr size_t kPythonNameMax = 4096;          // bytes of a file or function name; longer names are cut
inline constexpr size_t kPythonNameBytesMax = size_t{128} << 20;  // names of all frames, counting each copy
// Largest offset in a file; beyond it the end of a transfer may exceed a number's range.
inline constexpr int64_t kOffsetMax = int64_t{1} << 62;
inline constexpr size_t kLogWritesMax = size_t{1} << 20;  // newest writes of one MLLOG file; 24 bytes each
inline constexpr size_t kMarkLineMax = size_t{1} << 20;   // bytes of a line of an MLLOG file
inline constexpr size_t kGpusMax = 4096;
inline constexpr size_t kLaterCallsMax = size_t{1} << 16;  // CUDA calls in progress at the end of a slice
// How far beyond a slice's end the ends of these calls are searched.
inline constexpr int64_t kCallsBeyondNs = 20'000'000;
inline constexpr size_t kOpenRangesMax = size_t{1} << 20;
inline constexpr size_t kOpenRangeBytesMax = size_t{32} << 20;  // names and payloads of open ranges
inline constexpr size_t kMarkNamesMax = size_t{1} << 18;  // names with a name_id; other names are stored in their row
inline constexpr size_t kMarkNameBytesMax = size_t{32} << 20;  // bytes of these names
inline constexpr size_t kMarksMax = size_t{1} << 20;
inline constexpr size_t kLayoutsMax = 4096;                 // layouts of structured payloads
inline constexpr size_t kLayoutTextMax = size_t{16} << 10;  // bytes of one layout
inline constexpr size_t kLayoutMembersMax = 256;
inline constexpr size_t kPayloadTextMax = size_t{4} << 10;    // JSON text of one payload's members
inline constexpr size_t kPayloadTextsMax = size_t{64} << 20;  // JSON text of all payloads in a slice
inline constexpr size_t kCommunicatorsMax = size_t{1} << 16;  // pairs of process and communicator
inline constexpr size_t kKernelLossesMax = size_t{1} << 16;
inline constexpr size_t kPageAddsMax = size_t{1} << 23;     // additions to the page cache
inline constexpr size_t kWindowWaitsMax = size_t{1} << 20;  // waits of threads that calls may still need
// Entries that calls may still need: up to 3 for each bio fragment, up to 2 for each request to a disk or a server.
inline constexpr size_t kWindowFragmentsMax = size_t{1} << 20;
inline constexpr size_t kWindowFileOpsMax = size_t{1} << 20;  // file operations that calls may still need
inline constexpr size_t kDisksOfAFileSystem = 64;
inline constexpr uint32_t kWakerAgeMaxNs = 10'000'000;  // from a completion to the wake-up it causes, on a slow machine
inline constexpr size_t kJoinedFragmentsMax = size_t{1} << 23;  // bio fragments joined with their calls
inline constexpr size_t kJoinedFileOpsMax = size_t{1} << 23;    // file operations joined with their calls
inline constexpr size_t kJoinedGpuFilesMax = size_t{1} << 22;   // libcufile calls joined with the calls below them
inline constexpr size_t kGpuFileHandlesMax = size_t{1} << 20;   // live handles
inline constexpr size_t kGpuFileExecsMax = size_t{1} << 20;     // execs, which invalidate handles
inline constexpr size_t kOpenInBatchMax = 4096;                 // open operations of one libcufile batch
inline constexpr size_t kCufileArraysMax = 4096;                // threads whose call record has not arrived yet

inline constexpr size_t kCompletionsMax = size_t{1} << 23;     // completions of asynchronous file operations
inline constexpr size_t kRepeatedBytesMax = 256;               // bytes of a text that is stored in every row
inline constexpr size_t kSyncedInsideMax = size_t{1} << 20;    // operations in progress that contain an fsync
inline constexpr size_t kObservedEventsMax = size_t{4} << 20;  // fork, exec, exit and /proc snapshots of all processes
inline constexpr size_t kObservedFilesMax = size_t{1} << 22;   // name observations, and created files
inline constexpr size_t kOperationNameBytesMax = size_t{256} << 20;  // path names given to operations
inline constexpr size_t kObservedTextBytesMax = size_t{512} << 20;   // text kept from /proc samples and names

}  // namespace mlrun::decode
