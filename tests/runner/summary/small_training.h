// SPDX-License-Identifier: Apache-2.0
// A training of a few rows, small enough to add up by hand. Times are milliseconds after kStart.
//
//   main (100) opens and reads a configuration, fails to stat a file, writes a checkpoint, listens to a pipe
//   two DataLoader workers (101, 102) read two cases: the first once each, the second in scattered parts
//   resource tracker (103) does nothing
#pragma once

#include <cstdint>

#include "runner/model/trace_info.h"
#include "runner/summary/meters/builder.h"

namespace mlrun::summary::testing {

inline constexpr int64_t kStart = 1'000'000'000'000;
inline constexpr int64_t kMillisecond = 1'000'000;

inline constexpr uint16_t kRead = 1, kPread = 2, kWrite = 6, kOpen = 11, kClose = 14, kStat = 20, kFread = 64,
                          kFork = 80;
inline constexpr int64_t kConfig = 1, kCaseA = 2, kCaseB = 3, kCheckpoint = 4, kMissing = 5, kPipe = 6;

// A call that starts `at` milliseconds after kStart and takes `dur_ns`.
model::CallRow call(int32_t proc_id, uint16_t func, int64_t file_id, double at, int64_t dur_ns);
// A transfer at an offset of a description; read or write by `func`.
model::CallRow transfer(int32_t proc_id, uint16_t func, int64_t file_id, int64_t ofd_id, double at, int64_t dur_ns,
                        int64_t offset, int64_t bytes);
model::AllocRow allocation(int32_t proc_id, double at, uint64_t address, int64_t bytes, int64_t library);
model::AllocRow release(int32_t proc_id, double at, uint64_t address);
model::AllocSmallRow reading(int32_t proc_id, double at, int64_t mallocs, int64_t bytes);

model::TraceInfo small_training_info();
Summary small_training();

}  // namespace mlrun::summary::testing
