// SPDX-License-Identifier: Apache-2.0
#include "runner/collect/spool_tail.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "runner/util/spool_frame.h"
#include "runner/util/unique_fd.h"

namespace mlrun::collect {

namespace {

// Bytes [begin, end) of the spool; unreadable bytes are zero.
std::vector<char> read_bytes(int fd, const char* ring, uint64_t tail, uint64_t begin, uint64_t end) {
  std::vector<char> bytes(end - begin);
  const uint64_t in_file = std::clamp(tail, begin, end);
  for (uint64_t at = begin; at < in_file;) {
    const ssize_t got = ::pread(fd, bytes.data() + (at - begin), in_file - at, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    at += static_cast<uint64_t>(got);
  }
  for (uint64_t at = in_file; at < end;) {
    const uint64_t in_ring = at % MLRUN_STAGE_BYTES;
    const uint64_t count = std::min<uint64_t>(end - at, MLRUN_STAGE_BYTES - in_ring);
    std::memcpy(bytes.data() + (at - begin), ring + in_ring, count);
    at += count;
  }
  return bytes;
}

bool whole_frame_at(const std::vector<char>& bytes, size_t at, mlrun_frame& frame) {
  if (bytes.size() - at < util::kFrameHeaderBytes) return false;
  std::memcpy(&frame, bytes.data() + at, util::kFrameHeaderBytes);
  if (frame.magic != MLRUN_SPOOL_MAGIC || frame.version != MLRUN_SPOOL_VERSION) return false;
  if (frame.payload_bytes > MLRUN_FRAME_PAYLOAD_MAX ||
      frame.payload_bytes > bytes.size() - at - util::kFrameHeaderBytes)
    return false;
  return util::frame_checksum(frame, bytes.data() + at + util::kFrameHeaderBytes) == frame.crc32c;
}

// Notes the complete frames of one chunk in `found`. True: there is at least one.
bool scan_chunk(const std::vector<char>& bytes, uint64_t begin, SpoolTail& found) {
  bool any = false;
  mlrun_frame frame{};
  for (size_t at = 0; at < bytes.size();) {
    if (!whole_frame_at(bytes, at, frame)) {
      at += MLRUN_FRAME_ALIGN;
      continue;
    }
    any = true;
    found.last_frame = frame;
    found.last_clock = std::max<uint64_t>(found.last_clock, frame.last);
    if (frame.channel == 0) found.collector_seq = std::max<uint64_t>(found.collector_seq, frame.seq + 1);
    if (frame.type == MLRUN_FRAME_ANCHOR && frame.payload_bytes >= sizeof(mlrun_frame_anchor)) {
      mlrun_frame_anchor anchor{};
      std::memcpy(&anchor, bytes.data() + at + util::kFrameHeaderBytes, sizeof anchor);
      found.last_beat_ns = anchor.monotonic_ns;
    }
    at = frame.type == MLRUN_FRAME_PAD ? MLRUN_SPOOL_CHUNK_BYTES : at + util::frame_bytes(frame.payload_bytes);
    found.end = begin + at;
  }
  return any;
}

}  // namespace

SpoolTail read_spool_tail(const std::string& path, const char* ring, uint64_t tail, uint64_t head) {
  const util::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  SpoolTail found;
  while (head > 0) {
    const uint64_t begin = (head - 1) / MLRUN_SPOOL_CHUNK_BYTES * MLRUN_SPOOL_CHUNK_BYTES;
    if (scan_chunk(read_bytes(file.get(), ring, tail, begin, head), begin, found)) break;
    head = begin;
  }
  return found;
}

}  // namespace mlrun::collect
