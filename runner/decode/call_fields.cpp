// SPDX-License-Identifier: Apache-2.0
#include "runner/decode/call_fields.h"

#include <cerrno>
#include <cstdio>

#include "runner/decode/func_class.h"
#include "runner/decode/limits.h"

namespace mlrun::decode {

namespace {

using model::CallRow;
namespace func = events::func;

constexpr int64_t kErrnoMax = 4095;
constexpr uint64_t kLow32 = 0xffffffff;

bool is_offset(uint64_t word) { return word <= static_cast<uint64_t>(kOffsetMax); }
int64_t signed_of(uint64_t word) { return static_cast<int64_t>(word); }
int32_t signed_low(uint64_t word) { return static_cast<int32_t>(word & kLow32); }
int32_t signed_high(uint64_t word) { return static_cast<int32_t>(word >> 32); }

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
    row.served_calls = signed_low(call.arg2);
    row.flags = (call.flags & MLRUN_CALL_AT_EXIT) != 0 ? 1 : 0;
  } else {
    row.arg2 = signed_of(call.arg2);
  }
  if (is_offset(call.offset)) {
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
    case func::k_mkdirat:
    case func::k_mkdtemp:
    case func::k_truncate:
    case func::k_chown:
    case func::k_lchown:
    case func::k_fchownat: row.arg2 = signed_of(call.w3); return;
    case func::k_readlink:
    case func::k_readlinkat:
    case func::k_getxattr:
    case func::k_lgetxattr:
    case func::k_setxattr:
    case func::k_lsetxattr:
    case func::k_listxattr:
    case func::k_llistxattr: row.requested = signed_of(call.w3); return;
    default:  // O_ flags and mode, AT_ flags and mask or mode, or only flags
      row.flags = signed_low(call.w3);
      row.arg2 = signed_high(call.w3);
      return;
  }
}

void fill_seek(const CallEvent& call, CallRow& row) {
  row.arg2 = signed_of(call.arg2);
  if (is_offset(call.offset)) row.offset2 = signed_of(call.offset);
  if (signed_low(call.arg2) != SEEK_SET) return;
  row.offset = signed_of(call.w3);
  row.offset_source = model::OffsetSource::kArgument;
}

void fill_range(const CallEvent& call, CallRow& row) {
  row.requested = signed_of(call.w3);
  row.flags = signed_low(call.arg2);
  row.offset = signed_of(call.offset);
  row.offset_source = model::OffsetSource::kArgument;
}

void fill_copy(const CallEvent& call, CallRow& row) {
  row.requested = signed_of(call.w3);
  row.arg2 = signed_low(call.arg2);
  row.flags = signed_high(call.arg2);
  row.offset_source = model::OffsetSource::kUnknown;
  if (is_offset(call.offset)) {
    row.offset = signed_of(call.offset);
    row.offset_source = model::OffsetSource::kArgument;
  }
  if (is_offset(call.second_offset)) row.offset2 = signed_of(call.second_offset);
}

void fill_mapping(const CallEvent& call, CallRow& row) {
  row.arg2 = signed_of(call.arg2);
  if (call.wanted_address) row.wanted_addr = signed_of(*call.wanted_address);
  switch (call.func) {
    case func::k_mmap:
      row.requested = signed_of(call.w3);
      row.arg2 = signed_low(call.arg2);
      row.flags = signed_high(call.arg2);
      if (call.mapped_by) row.offset2 = signed_of(*call.mapped_by);
      if (call.open_file == 0 || call.offset == MLRUN_NO_OFFSET) return;
      row.offset = signed_of(call.offset);
      row.offset_source = model::OffsetSource::kArgument;
      return;
    case func::k_munmap: row.requested = signed_of(call.w3); return;
    case func::k_mremap:
      row.requested = signed_of(call.w3);
      row.flags = static_cast<int32_t>(call.remap_flags);
      if (call.mapped_by) row.offset2 = signed_of(*call.mapped_by);
      return;
    case func::k_mprotect:
    case func::k_pkey_mprotect:
      row.requested = signed_of(call.w3);
      row.flags = signed_low(call.offset);
      return;
    case func::k_madvise:
    case func::k_posix_madvise:
    case func::k_msync:
      row.requested = signed_of(call.offset == MLRUN_NO_OFFSET ? call.w3 & kLow32 : call.w3);
      // Records of earlier versions pack both values into w3.
      row.flags = call.offset == MLRUN_NO_OFFSET ? signed_high(call.w3) : signed_low(call.offset);
      return;
    case func::k_sbrk: row.arg2 = signed_of(call.w3); return;
    default: return;
  }
}

// Calls that create or copy descriptors, or change the file that one refers to.
void fill_descriptor_call(const CallEvent& call, CallRow& row) {
  switch (call.func) {
    case func::k_fcntl:
    case func::k_ioctl:
    case func::k_flock:
    case func::k_lockf:
      row.flags = signed_low(call.w3);
      row.arg2 = signed_of(call.arg2);
      return;
    case func::k_pipe:
    case func::k_pipe2:
    case func::k_socketpair:
    case func::k_openpty:
      row.arg2 = signed_low(call.arg2);
      row.flags = signed_high(call.arg2);
      return;
    case func::k_aio_read:
    case func::k_aio_write: return fill_range(call, row);
    default:
      row.arg2 = signed_low(call.w3);
      row.flags = signed_low(call.arg2);
      return;
  }
}

// Calls on a descriptor that do not move bytes.
void fill_other_call(const CallEvent& call, CallRow& row) {
  switch (call.func) {
    case func::k_lseek:
    case func::k_fseek: return fill_seek(call, row);
    case func::k_ftruncate:
    case func::k_fchmod:
    case func::k_fchown: row.arg2 = signed_of(call.w3); return;
    case func::k_fallocate:
    case func::k_posix_fallocate:
    case func::k_posix_fadvise:
    case func::k_readahead:
    case func::k_sync_file_range: return fill_range(call, row);
    case func::k_getdents64:
    case func::k_fgetxattr:
    case func::k_fsetxattr:
    case func::k_flistxattr: row.requested = signed_of(call.w3); return;
    case func::k_msync: return fill_mapping(call, row);
    case func::k_close_range:
    case func::k_closefrom:
      row.arg2 = signed_low(call.w3);
      row.flags = signed_low(call.arg2);
      return;
    case func::k_fdopen: row.flags = signed_low(call.arg2); return;
    case func::k_readdir:
    case func::k_fclose: row.served_calls = signed_low(call.arg2); return;
    case func::k_pthread_create: row.arg2 = signed_of(call.arg2); return;
    case func::k_system:
    case func::k_popen: row.flags = signed_low(call.w3); return;
    default: return;
  }
}

void fill_by_class(mlrun_call_class call_class, const CallEvent& call, CallRow& row) {
  switch (call_class) {
    case MLRUN_CLASS_READ:
    case MLRUN_CLASS_WRITE: return fill_transfer(call, row);
    case MLRUN_CLASS_COPY: return fill_copy(call, row);
    case MLRUN_CLASS_MAP: return fill_mapping(call, row);
    case MLRUN_CLASS_FD: return fill_descriptor_call(call, row);
    case MLRUN_CLASS_WAIT:
      row.flags = signed_low(call.w3);
      row.arg2 = signed_of(call.arg2);
      return;
    case MLRUN_CLASS_OPEN:
    case MLRUN_CLASS_CLOSE:
    case MLRUN_CLASS_SEEK:
    case MLRUN_CLASS_SYNC:
    case MLRUN_CLASS_META:
    case MLRUN_CLASS_PROCESS: return fill_other_call(call, row);
  }
}

}  // namespace

void fill_fields(const CallEvent& call, CallRow& row) {
  row.func = call.func;
  row.fd = call.arg < 0 ? -1 : call.arg;
  fill_result(call, row);
  if ((call.flags & MLRUN_CALL_RAW) != 0) row.via = model::Via::kSyscall;
  if (call.on_path) return fill_path_call(call, row);
  if (const auto call_class = class_of_func(call.func)) fill_by_class(*call_class, call, row);
}

uint32_t ender_of(const CallEvent& call) {
  const bool names_thread = call.result == 0 && call.offset <= UINT32_MAX;
  return names_thread && class_of_func(call.func) == MLRUN_CLASS_WAIT ? static_cast<uint32_t>(call.offset) : 0;
}

Motion motion_of(const CallEvent& call) {
  Motion motion;
  if (call.on_path || call.open_file == 0) return motion;
  motion.moves = call.offset == MLRUN_NO_OFFSET && (transfers(call.func) || copies(call.func));
  motion.stdio = (call.flags & MLRUN_CALL_STDIO) != 0;
  motion.unseen = (call.flags & MLRUN_CALL_UNSEEN) != 0;
  const bool relative = call.func == func::k_fseek && motion.stdio && call.offset == MLRUN_NO_OFFSET;
  if (relative && call.result == 0 && signed_low(call.arg2) == SEEK_CUR) motion.by = signed_of(call.w3);
  return motion;
}

}  // namespace mlrun::decode
