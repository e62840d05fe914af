// SPDX-License-Identifier: Apache-2.0
// Exports of libcufile (GPUDirect Storage) that are probed from outside (struct mlrun_cufile_call), and their
// arguments. The signatures are those of cufile.h 1.11, 1.14, 1.15, 1.19 and 1.20. The last entries are no
// exports but the operations of batches, which have rows like calls.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "runner/events/kernel_record.h"

namespace mlrun::events {

enum class CufileRole : uint8_t {
  kRegister,    // (handle *, CUfileDescr_t *)
  kDeregister,  // (handle), and returns nothing
  kTransfer,    // (handle, buffer, bytes, offset in the file, offset in the buffer) returns bytes
  kVector,      // (handle, CUfileIOVec_t *, count, offset in the file, flags) returns bytes
  kLater,       // (handle, buffer, bytes *, offset in the file *, offset in the buffer *, ...): stream-ordered
  kBatch,       // (batch, count, CUfileIOParams_t *, flags): reads and writes of any files, done later
  kResults,     // (batch, least, count *, CUfileIOEvents_t *, timeout): of finished ones
  kCancel,      // (batch)
  kDestroy,     // (batch), and returns nothing
  kOperation,   // no export: a read or write submitted by a batch
};

// Functions without a result.
constexpr bool returns_nothing(CufileRole role) {
  return role == CufileRole::kDeregister || role == CufileRole::kDestroy;
}

struct CufileCall {
  uint16_t number;  // never reused
  std::string_view name;
  CufileRole role;
  bool is_write = false;
  uint32_t reads = 0;  // enum mlrun_cufile_reads
};

inline constexpr std::array<CufileCall, 15> kCufileCalls = {{
    {1, "cuFileHandleRegister", CufileRole::kRegister, false, MLRUN_CUFILE_READS_HANDLE},
    {2, "cuFileHandleDeregister", CufileRole::kDeregister},
    {3, "cuFileRead", CufileRole::kTransfer, false, MLRUN_CUFILE_RETURNS_BYTES},
    {4, "cuFileWrite", CufileRole::kTransfer, true, MLRUN_CUFILE_RETURNS_BYTES},
    {5, "cuFileReadv", CufileRole::kVector, false, MLRUN_CUFILE_RETURNS_BYTES},
    {6, "cuFileWritev", CufileRole::kVector, true, MLRUN_CUFILE_RETURNS_BYTES},
    {7, "cuFileReadAsync", CufileRole::kLater, false, MLRUN_CUFILE_READS_RANGE},
    {8, "cuFileWriteAsync", CufileRole::kLater, true, MLRUN_CUFILE_READS_RANGE},
    {9, "cuFileBatchIOSubmit", CufileRole::kBatch, false, MLRUN_CUFILE_LISTS_OPERATIONS},
    {10, "cuFileBatchIOGetStatus", CufileRole::kResults, false, MLRUN_CUFILE_LISTS_RESULTS},
    {11, "cuFileBatchIOCancel", CufileRole::kCancel},
    {12, "cuFileBatchIODestroy", CufileRole::kDestroy},
    {13, "batch read", CufileRole::kOperation},
    {14, "batch write", CufileRole::kOperation, true},
    {15, "batch operation", CufileRole::kOperation},  // of a kind that cufile.h does not have
}};

// nullptr: a call that only later versions of mlrun know.
[[nodiscard]] inline const CufileCall* cufile_call_of(uint32_t number) {
  for (const CufileCall& call : kCufileCalls) {
    if (call.number == number) return &call;
  }
  return nullptr;
}

// Whether a call of this role moves nothing itself, but is about operations that were or will be submitted.
constexpr bool is_about_batch(CufileRole role) {
  return role == CufileRole::kBatch || role == CufileRole::kResults || role == CufileRole::kCancel ||
         role == CufileRole::kDestroy;
}

// Whether the call submits operations, each of which has its own row.
[[nodiscard]] inline bool is_batch(uint32_t number) {
  const CufileCall* call = cufile_call_of(number);
  return call != nullptr && call->role == CufileRole::kBatch;
}

// The number of a batch's operation, by its CUfileOpcode_t.
constexpr uint16_t cufile_operation_number(uint32_t opcode) { return opcode == 0 ? 13 : opcode == 1 ? 14 : 15; }

}  // namespace mlrun::events
