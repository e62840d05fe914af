// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/call_fields.h"

#include <cerrno>
#include <cstdio>

#include "runner/trace/func_class.h"

namespace mlrun::trace {

namespace {

using events::CallEvent;
using model::CallRow;
namespace func = events::func;

constexpr int64_t kErrnoMax = 4095;
constexpr uint64_t kLow32 = 0xffffffff;

int64_t signed_of(uint64_t word) { return static_cast<int64_t>(word); }
int32_t low(uint64_t word) { return static_cast<int32_t>(word & kLow32); }
int32_t high(uint64_t word) { return static_cast<int32_t>(word >> 32); }

void fill_result(const CallEvent& call, CallRow& row) {
  row.ret = call.result;
  row.err = 0;
  if (call.result < 0 && call.result >= -kErrnoMax) {
    row.err = static_cast<int32_t>(-call.result);
    row.ret = -1;
  }
  if ((call.flags & MLRUN_CALL_CANCELLED) != 0) row.err = ECANCELED;
}

void fill_transfer(const CallEvent& call, CallRow& row) {
  row.requested = signed_of(call.w3);
  if ((call.flags & MLRUN_CALL_STDIO) != 0) {
    row.served_calls = low(call.arg2);
  } else {
    row.arg2 = signed_of(call.arg2);
  }
  if (call.offset != MLRUN_NO_OFFSET && signed_of(call.offset) >= 0) {
    row.offset = signed_of(call.offset);
    row.offset_source =
        (call.flags & MLRUN_CALL_STDIO) != 0 ? model::OffsetSource::kDerived : model::OffsetSource::kArgument;
  } else {
    row.offset_source = model::OffsetSource::kUnknown;
  }
}

void fill_path_call(const CallEvent& call, CallRow& row) {
  switch (call.func) {
    case func::k_mkdir:
    case func::k_mkdirat: row.arg2 = signed_of(call.w3); return;
    default:  // O_ flags and mode, AT_ flags and mask, flags alone
      row.flags = low(call.w3);
      row.arg2 = high(call.w3);
      return;
  }
}

void fill_seek(const CallEvent& call, CallRow& row) {
  row.arg2 = signed_of(call.arg2);
  if (low(call.arg2) != SEEK_SET) return;
  row.offset = signed_of(call.w3);
  row.offset_source = model::OffsetSource::kArgument;
}

// Calls on a descriptor that move no bytes.
void fill_other_call(const CallEvent& call, CallRow& row) {
  switch (call.func) {
    case func::k_lseek:
    case func::k_fseek: return fill_seek(call, row);
    case func::k_ftruncate: row.arg2 = signed_of(call.w3); return;
    case func::k_mmap:
      row.requested = signed_of(call.w3);
      row.arg2 = low(call.arg2);
      row.flags = high(call.arg2);
      if (call.open_file == 0 || call.offset == MLRUN_NO_OFFSET) return;
      row.offset = signed_of(call.offset);
      row.offset_source = model::OffsetSource::kArgument;
      return;
    case func::k_munmap:
      row.requested = signed_of(call.w3);
      row.arg2 = signed_of(call.arg2);
      return;
    case func::k_dup:
    case func::k_dup2:
    case func::k_dup3:
    case func::k_close_range:
    case func::k_closefrom:
      row.arg2 = low(call.w3);
      row.flags = low(call.arg2);
      return;
    case func::k_fcntl:
      row.flags = low(call.w3);
      row.arg2 = signed_of(call.arg2);
      return;
    case func::k_pipe:
    case func::k_pipe2:
      row.arg2 = low(call.arg2);
      row.flags = high(call.arg2);
      return;
    case func::k_readdir:
    case func::k_fclose: row.served_calls = low(call.arg2); return;
    default: return;
  }
}

}  // namespace

void fill_fields(const CallEvent& call, CallRow& row) {
  row.func = call.func;
  row.fd = call.arg < 0 ? -1 : call.arg;
  fill_result(call, row);
  if (call.on_path) return fill_path_call(call, row);
  if (transfers(call.func)) return fill_transfer(call, row);
  fill_other_call(call, row);
}

bool moves_position(const CallEvent& call) {
  return !call.on_path && call.open_file != 0 && call.offset == MLRUN_NO_OFFSET && transfers(call.func);
}

}  // namespace mlrun::trace
