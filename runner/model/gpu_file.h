// SPDX-License-Identifier: Apache-2.0
// A call of libcufile (GPUDirect Storage), or an operation of one of its batches, as a row of gpu_file. What the columns mean to a reader: runner/trace/TABLES.md.
#pragma once

#include <cstdint>

#include "runner/model/rows.h"

namespace mlrun::model {

// What of a call's bytes libcufile moved by reads and writes of its own, which have rows (its compatibility mode).
struct PosixPart {
  int64_t calls = 0, bytes = 0;
  int64_t own_thread_ns = 0;  // in the calling thread
};

// What became of an operation of a batch.
enum class BatchStatus : uint8_t {
  kNone,     // of what is none
  kUnknown,  // the program did not ask
  kComplete,
  kFailed,
  kInvalid,
  kTimeout,
  kCancelled,
  kDestroyed,  // its batch was, before the program asked
};

struct GpuFileRow {
  Origin origin;
  int64_t gpu_file_id = 0;
  int64_t dur_ns = 0;
  uint16_t func = 0;              // number in cufile_calls.h
  int32_t fd = -1;                // as the handle was made with it
  int64_t device = 0, inode = 0;  // as stat has them; inode 0: the file is not known
  int64_t file_id = 0;            // 0: not known
  int64_t offset = -1;            // -1: the call has none, or it is not known; so is the next
  int64_t requested = -1;         // bytes
  int64_t ret = -1;               // bytes; -1: it failed, or does not tell
  int32_t err = 0;                // CUfileOpError, 1: an errno that is not known, 0: none
  int64_t operations = 1;         // reads and writes
  uint64_t address = 0;           // of the buffer; 0: not told
  int64_t buffer_offset = -1;     // -1: not told
  bool has_posix = false;         // reads and writes below it were recorded
  PosixPart posix;
  int64_t batch_id = 0;  // of an operation of a batch: gpu_file_id of the call that handed it in; 0: none
  BatchStatus status = BatchStatus::kNone;
};

}  // namespace mlrun::model
