// SPDX-License-Identifier: Apache-2.0
// Which exports of libcufile (GPUDirect Storage) are probed from outside (struct mlrun_cufile_call), and what their
// arguments are. The signatures are those of cufile.h 1.14 and 1.20.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "runner/events/kernel_record.h"

namespace mlrun::events {

enum class CufileRole : uint8_t {
  kRegister,    // (handle *, CUfileDescr_t *)
  kDeregister,  // (handle), and returns nothing
  kTransfer,    // (handle, buffer, bytes, offset in the file, offset in the buffer) gives bytes
  kVector,      // (handle, CUfileIOVec_t *, count, offset in the file, flags) gives bytes
  kLater,  // (handle, buffer, bytes *, offset in the file *, offset in the buffer *, ...): done when the stream comes to it
  kBatch,  // (batch, count, CUfileIOParams_t *, flags): reads and writes of any files, done later
};

struct CufileCall {
  uint16_t number;  // never used again for another one
  std::string_view name;
  CufileRole role;
  bool is_write = false;
  uint32_t reads = 0;  // enum mlrun_cufile_reads
};

inline constexpr std::array<CufileCall, 9> kCufileCalls = {{
    {1, "cuFileHandleRegister", CufileRole::kRegister, false, MLRUN_CUFILE_READS_HANDLE},
    {2, "cuFileHandleDeregister", CufileRole::kDeregister},
    {3, "cuFileRead", CufileRole::kTransfer, false, MLRUN_CUFILE_RETURNS_BYTES},
    {4, "cuFileWrite", CufileRole::kTransfer, true, MLRUN_CUFILE_RETURNS_BYTES},
    {5, "cuFileReadv", CufileRole::kVector, false, MLRUN_CUFILE_RETURNS_BYTES},
    {6, "cuFileWritev", CufileRole::kVector, true, MLRUN_CUFILE_RETURNS_BYTES},
    {7, "cuFileReadAsync", CufileRole::kLater, false, MLRUN_CUFILE_READS_RANGE},
    {8, "cuFileWriteAsync", CufileRole::kLater, true, MLRUN_CUFILE_READS_RANGE},
    {9, "cuFileBatchIOSubmit", CufileRole::kBatch},
}};

// nullptr: of a later version.
[[nodiscard]] inline const CufileCall* cufile_call_of(uint32_t number) {
  for (const CufileCall& call : kCufileCalls) {
    if (call.number == number) return &call;
  }
  return nullptr;
}

}  // namespace mlrun::events
