// SPDX-License-Identifier: Apache-2.0
// Iterates over the frames in a range of the spool, in file order, through its own buffer. Returns only whole frames
// with a correct checksum; after damage it searches for the next one and counts the skipped bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "runner/events/spool.h"
#include "runner/util/result.h"
#include "runner/util/unique_fd.h"

namespace mlrun::trace {

struct SpoolFrame {
  mlrun_frame header{};
  uint64_t offset = 0;                // in the spool
  const uint64_t* payload = nullptr;  // valid until the next call of next()

  // Copies a struct from byte `at` of the payload and ignores later bytes; false: the payload is too short.
  template <typename T>
  bool read(T& value, uint32_t at = 0) const {
    if (header.payload_bytes < at || header.payload_bytes - at < sizeof(T)) return false;
    __builtin_memcpy(&value, reinterpret_cast<const char*>(payload) + at, sizeof(T));
    return true;
  }
};

class SpoolCursor {
 public:
  // Frames that begin in [begin, end). Requires: fd stays open; begin and end are multiples of MLRUN_FRAME_ALIGN;
  // frames may reach up to spool_bytes.
  SpoolCursor(int fd, uint64_t begin, uint64_t end, uint64_t spool_bytes);

  // False at the end. Fails on a read error, or if a frame has a newer version.
  Result<bool> next(SpoolFrame& frame);

  [[nodiscard]] uint64_t damaged_bytes() const { return damaged_bytes_; }

  // End of the frame, where the next one may begin.
  static uint64_t end_of(const mlrun_frame& header, uint64_t offset);

 private:
  enum class Found { kFrame, kNothing, kDamage };
  Result<Found> peek(SpoolFrame& frame);
  // Pointer to `bytes` bytes of the spool at `offset`. Requires: they are in the file and fit the buffer.
  Result<const uint64_t*> bytes_at(uint64_t offset, uint64_t bytes);
  Status fill(uint64_t offset, uint64_t bytes);

  int fd_;
  uint64_t at_, end_, spool_bytes_;
  std::unique_ptr<uint64_t[]> buffer_;
  uint64_t buffer_begin_ = 0, buffer_bytes_ = 0;
  uint64_t damaged_bytes_ = 0, vain_bytes_ = 0;
};

// kept.bin or sums.bin: spool frames in a file of their own. 0 bytes if it does not exist.
struct FrameFile {
  util::UniqueFd fd;
  uint64_t bytes = 0;
};
Result<FrameFile> open_frame_file(const std::string& path);

}  // namespace mlrun::trace
