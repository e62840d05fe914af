// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/spool/spool_cursor.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "runner/util/spool_frame.h"

namespace mlrun::trace {

namespace {

constexpr uint64_t kBufferBytes = uint64_t{2} << 20, kUsualFrameBytes = uint64_t{64} << 10;
// After so many bytes of frames with a wrong checksum, the search for frames skips to the next 64 MiB chunk. A damaged
// spool in which every 64 bytes claim to be a frame of 1 MiB would otherwise take days.
constexpr uint64_t kVainBytesMax = uint64_t{1} << 30;
static_assert(kBufferBytes >= util::kFrameHeaderBytes + MLRUN_FRAME_PAYLOAD_MAX);

bool is_zero(const uint64_t* line) {
  constexpr size_t kWords = util::kFrameHeaderBytes / sizeof(uint64_t);
  return std::all_of(line, line + kWords, [](uint64_t word) { return word == 0; });
}

}  // namespace

SpoolCursor::SpoolCursor(int fd, uint64_t begin, uint64_t end, uint64_t spool_bytes)
    : fd_(fd), at_(begin), end_(std::min(end, spool_bytes)), spool_bytes_(spool_bytes) {}

uint64_t SpoolCursor::end_of(const mlrun_frame& header, uint64_t offset) {
  if (header.type == MLRUN_FRAME_PAD) return util::chunk_end(offset);
  return offset + util::frame_bytes(header.payload_bytes);
}

// Reads `bytes` or more from `offset` on: up to the end of the range plus the size of a usual frame, as far as the
// buffer allows.
Status SpoolCursor::fill(uint64_t offset, uint64_t bytes) {
  const uint64_t to_end = end_ > offset ? end_ - offset + kUsualFrameBytes : 0;
  const uint64_t wanted = std::min({kBufferBytes, spool_bytes_ - offset, std::max(bytes, to_end)});
  if (!buffer_) {
    const uint64_t capacity = std::min(kBufferBytes, util::frame_aligned(spool_bytes_));
    buffer_ = std::make_unique_for_overwrite<uint64_t[]>(capacity / sizeof(uint64_t));
  }
  auto* to = reinterpret_cast<char*>(buffer_.get());
  buffer_begin_ = offset;
  buffer_bytes_ = 0;
  while (buffer_bytes_ < wanted) {
    const ssize_t got =
        ::pread(fd_, to + buffer_bytes_, wanted - buffer_bytes_, static_cast<off_t>(offset + buffer_bytes_));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno("read the spool at byte " + std::to_string(offset), errno);
    if (got == 0)
      return fail("the spool was cut while it was read: wait until no other mlrun uses this folder, and retry");
    buffer_bytes_ += static_cast<uint64_t>(got);
  }
  return {};
}

Result<const uint64_t*> SpoolCursor::bytes_at(uint64_t offset, uint64_t bytes) {
  if (offset < buffer_begin_ || offset + bytes > buffer_begin_ + buffer_bytes_) {
    if (auto filled = fill(offset, bytes); !filled) return tl::make_unexpected(filled.error());
  }
  return buffer_.get() + (offset - buffer_begin_) / sizeof(uint64_t);
}

Result<SpoolCursor::Found> SpoolCursor::peek(SpoolFrame& frame) {
  const auto line = bytes_at(at_, util::kFrameHeaderBytes);
  if (!line) return tl::make_unexpected(line.error());
  __builtin_memcpy(&frame.header, *line, util::kFrameHeaderBytes);
  if (frame.header.magic != MLRUN_SPOOL_MAGIC) return is_zero(*line) ? Found::kNothing : Found::kDamage;
  const uint64_t limit = std::min(util::chunk_end(at_), spool_bytes_);
  const uint64_t frame_bytes = util::kFrameHeaderBytes + frame.header.payload_bytes;
  if (frame.header.payload_bytes > MLRUN_FRAME_PAYLOAD_MAX || frame_bytes > limit - at_) return Found::kDamage;
  const auto whole = bytes_at(at_, frame_bytes);
  if (!whole) return tl::make_unexpected(whole.error());
  frame.payload = *whole + util::kFrameHeaderBytes / sizeof(uint64_t);
  frame.offset = at_;
  if (util::frame_checksum(frame.header, frame.payload) != frame.header.crc32c) {
    vain_bytes_ += frame_bytes;
    return Found::kDamage;
  }
  if (frame.header.version > MLRUN_SPOOL_VERSION) {
    return fail("the spool is of version " + std::to_string(frame.header.version) +
                ", this mlrun reads up to version " + std::to_string(MLRUN_SPOOL_VERSION) +
                ": use the mlrun that recorded it, or a newer one");
  }
  return Found::kFrame;
}

Result<bool> SpoolCursor::next(SpoolFrame& frame) {
  while (at_ < end_ && spool_bytes_ - at_ >= util::kFrameHeaderBytes) {
    const auto found = peek(frame);
    if (!found) return tl::make_unexpected(found.error());
    if (*found == Found::kFrame) {
      at_ = end_of(frame.header, at_);
      return true;
    }
    const uint64_t next = vain_bytes_ < kVainBytesMax ? at_ + MLRUN_FRAME_ALIGN : std::min(util::chunk_end(at_), end_);
    if (*found == Found::kDamage) damaged_bytes_ += next - at_;
    if (next != at_ + MLRUN_FRAME_ALIGN) vain_bytes_ = 0;
    at_ = next;
  }
  return false;
}

Result<FrameFile> open_frame_file(const std::string& path) {
  FrameFile file{util::UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), 0};
  struct stat status {};
  if (!file.fd.valid() && errno == ENOENT) return file;
  if (!file.fd.valid() || ::fstat(file.fd.get(), &status) != 0) return fail_errno("open " + path, errno);
  file.bytes = static_cast<uint64_t>(status.st_size);
  return file;
}

}  // namespace mlrun::trace
