// SPDX-License-Identifier: Apache-2.0
// A call of libcufile (GPUDirect Storage), or an operation of one of its batches: a row of gpu_file.
// Columns: runner/trace/TABLES.md.
#pragma once

#include <cstdint>

#include "runner/model/rows.h"

namespace mlrun::model {

// The part of a call's bytes that libcufile moved by its own read and write calls (compatibility mode), which have rows in `call`.
struct PosixPart {
  int64_t calls = 0, bytes = 0;
  int64_t own_thread_ns = 0;  // time of these calls in the thread that called libcufile
};

// Outcome of a batch operation.
enum class BatchStatus : uint8_t {
  kNone,     // not a batch operation
  kUnknown,  // the program never asked for the operation's status
  kComplete,
  kFailed,
  kInvalid,
  kTimeout,
  kCancelled,
  kDestroyed,  // the batch was destroyed before the program asked
};

struct GpuFileRow {
  Origin origin;
  int64_t gpu_file_id = 0;
  int64_t dur_ns = 0;
  uint16_t func = 0;              // number in cufile_calls.h
  int32_t fd = -1;                // the descriptor that the handle was created with
  int64_t device = 0, inode = 0;  // as in stat; inode 0: the file is unknown
  int64_t file_id = 0;            // 0: unknown
  int64_t offset = -1;            // -1: unknown, or the call has none; the same for `requested`
  int64_t requested = -1;         // bytes
  int64_t ret = -1;               // bytes moved; -1: failed, or not reported
  int32_t err = 0;                // CUfileOpError; 1: an unknown errno; 0: none
  int64_t operations = 1;         // number of reads and writes
  uint64_t address = 0;           // address of the buffer; 0: not recorded
  int64_t buffer_offset = -1;     // -1: not recorded
  bool has_posix = false;         // libcufile's own reads and writes were recorded
  PosixPart posix;
  int64_t batch_id = 0;  // of a batch operation: gpu_file_id of the submitting call; 0: none
  BatchStatus status = BatchStatus::kNone;
};

}  // namespace mlrun::model
