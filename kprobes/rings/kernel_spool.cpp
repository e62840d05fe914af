// SPDX-License-Identifier: Apache-2.0
#include "kprobes/rings/kernel_spool.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "runner/events/kernel_record.h"
#include "runner/util/spool_frame.h"

namespace mlrun::probes {

namespace {

constexpr size_t kFrameWords = (256 << 10) / sizeof(uint64_t);
constexpr uint64_t kMaxBytes = uint64_t{16} << 30;
constexpr uint64_t kChannel = 1;

}  // namespace

KernelSpool::KernelSpool(int fd) : fd_(fd) { payload_.reserve(kFrameWords); }

void KernelSpool::add(const void* record, size_t bytes, uint64_t time_ns) {
  const size_t words = bytes / sizeof(uint64_t);
  if (payload_.size() + words > kFrameWords) flush();
  if (full_) {
    left_out_++;
    return;
  }
  if (payload_.empty()) first_ns_ = last_ns_ = time_ns;
  first_ns_ = std::min(first_ns_, time_ns);
  last_ns_ = std::max(last_ns_, time_ns);
  const auto* from = static_cast<const uint64_t*>(record);
  payload_.insert(payload_.end(), from, from + words);
  waiting_++;
}

void KernelSpool::flush() {
  if (payload_.empty()) return;
  const auto bytes = static_cast<uint32_t>(payload_.size() * sizeof(uint64_t));
  if (offset_ + sizeof(mlrun_frame) + bytes > util::chunk_end(offset_)) put(MLRUN_FRAME_PAD, nullptr, 0);
  put(MLRUN_FRAME_KERNEL, payload_.data(), bytes);
  (full_ ? left_out_ : records_) += waiting_;
  waiting_ = 0;
  payload_.clear();
}

void KernelSpool::put(uint16_t type, const void* payload, uint32_t bytes) {
  mlrun_frame frame{};
  frame.type = type;
  frame.payload_bytes = bytes;
  frame.channel = kChannel;
  frame.seq = seq_++;
  frame.first = first_ns_;
  frame.last = last_ns_;
  util::seal_frame(frame, payload);
  const uint64_t begin = offset_;
  constexpr std::array<char, MLRUN_FRAME_ALIGN> kZeros{};
  const size_t rest = util::frame_bytes(bytes) - sizeof frame - bytes;
  const bool written = write(&frame, sizeof frame) && write(payload, bytes) && write(kZeros.data(), rest);
  if (type == MLRUN_FRAME_PAD) offset_ = util::chunk_end(begin);
  full_ = !written || offset_ > kMaxBytes;
}

// Writes at `offset_`. If the file system is full, part of a spool frame is written: readers ignore it, because its
// checksum is wrong.
bool KernelSpool::write(const void* data, size_t bytes) {
  const auto* from = static_cast<const char*>(data);
  while (bytes != 0) {
    const ssize_t put = ::pwrite(fd_, from, bytes, static_cast<off_t>(offset_));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) {
      error_ = put < 0 ? errno : ENOSPC;
      return false;
    }
    from += put;
    bytes -= static_cast<size_t>(put);
    offset_ += static_cast<uint64_t>(put);
  }
  return true;
}

}  // namespace mlrun::probes
