// SPDX-License-Identifier: Apache-2.0
#include "runner/monitor/kernel_tail.h"

#include <fcntl.h>
#include <unistd.h>

#include "runner/util/spool_frame.h"

namespace mlrun::monitor {

KernelTail::KernelTail(const std::string& path) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}

bool KernelTail::read_payload(uint64_t offset, uint32_t bytes) {
  payload_.assign((bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t), 0);
  return ::pread(file_.get(), payload_.data(), bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
}

bool KernelTail::read(const std::function<void(const decode::KernelReader&)>& take, uint64_t most_bytes) {
  const uint64_t end = offset_ + most_bytes;
  while (offset_ < end) {
    mlrun_frame frame{};
    if (::pread(file_.get(), &frame, sizeof frame, static_cast<off_t>(offset_)) != sizeof frame) return false;
    const bool is_frame = frame.magic == MLRUN_SPOOL_MAGIC && frame.version == MLRUN_SPOOL_VERSION &&
                          frame.payload_bytes <= MLRUN_FRAME_PAYLOAD_MAX;
    if (!is_frame || !read_payload(offset_ + sizeof frame, frame.payload_bytes)) return false;
    if (util::frame_checksum(frame, payload_.data()) != frame.crc32c) return false;
    if (frame.type == MLRUN_FRAME_PAD) {
      offset_ = util::chunk_end(offset_);
      continue;
    }
    offset_ += util::frame_bytes(frame.payload_bytes);
    if (frame.type != MLRUN_FRAME_KERNEL) continue;
    decode::KernelReader reader(payload_.data(), frame.payload_bytes);
    while (reader.next()) take(reader);
  }
  return true;
}

}  // namespace mlrun::monitor
