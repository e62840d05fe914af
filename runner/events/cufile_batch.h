// SPDX-License-Identifier: Apache-2.0
// Entries of the arrays that libcufile's batches take and fill, from the bytes of struct mlrun_cufile_part. The layouts
// are the same in cufile.h 1.11, 1.14, 1.15 and 1.19; mode 1 (CUFILE_BATCH) is the only one there.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "runner/events/kernel_record.h"

namespace mlrun::events {

// CUfileIOParams_t.
struct CufileOperation {
  uint32_t mode = 0, unused = 0;
  uint64_t buffer = 0;
  int64_t file_offset = 0, buffer_offset = 0;
  uint64_t bytes = 0;
  uint64_t handle = 0;
  uint32_t opcode = 0, unused2 = 0;  // 0: read, 1: write
  uint64_t cookie = 0;               // the program's own value, repeated in the result
};
static_assert(sizeof(CufileOperation) == MLRUN_CUFILE_OPERATION_BYTES);

// CUfileIOEvents_t.
struct CufileResult {
  uint64_t cookie = 0;
  uint32_t status = 0, unused = 0;
  int64_t moved = 0;  // or a negative error
};
static_assert(sizeof(CufileResult) == MLRUN_CUFILE_RESULT_BYTES);

// CUfileStatus_t.
enum CufileStatus : uint32_t {
  kCufileWaiting = 1,
  kCufilePending = 2,
  kCufileInvalid = 4,
  kCufileCancelled = 8,
  kCufileComplete = 16,
  kCufileTimeout = 32,
  kCufileFailed = 64,
};

// The complete entries in `bytes`, the first bytes of an array.
template <typename Entry>
std::vector<Entry> cufile_entries(std::string_view bytes) {
  std::vector<Entry> entries(bytes.size() / sizeof(Entry));
  if (!entries.empty()) std::memcpy(entries.data(), bytes.data(), entries.size() * sizeof(Entry));
  return entries;
}

}  // namespace mlrun::events
