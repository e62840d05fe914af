// SPDX-License-Identifier: Apache-2.0
#include "tests/runner/collect/spool_frames.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "runner/events/record.h"
#include "runner/util/crc32c.h"
#include "runner/util/file_io.h"

namespace mlrun::collect::testing {

namespace {

std::string what_is_wrong(const std::string& bytes, size_t at, const mlrun_frame& header) {
  const bool starts_chunk = at % MLRUN_SPOOL_CHUNK_BYTES == 0;
  if (header.magic != MLRUN_SPOOL_MAGIC) return "no magic";
  if (header.version != MLRUN_SPOOL_VERSION) return "version";
  if (starts_chunk != (header.type == MLRUN_FRAME_INDEX)) return "index frame and chunk disagree";
  if (header.payload_bytes > bytes.size() - at - sizeof header) return "longer than the file";
  const uint64_t chunk_rest = MLRUN_SPOOL_CHUNK_BYTES - at % MLRUN_SPOOL_CHUNK_BYTES;
  if (sizeof header + header.payload_bytes > chunk_rest) return "crosses the chunk's end";
  mlrun_frame bare = header;
  bare.crc32c = 0;
  std::string whole(reinterpret_cast<const char*>(&bare), sizeof bare);
  whole += bytes.substr(at + sizeof header, header.payload_bytes);
  return util::crc32c_by_table(0, whole.data(), whole.size()) == header.crc32c ? "" : "checksum";
}

size_t end_of(const mlrun_frame& header, size_t at) {
  if (header.type == MLRUN_FRAME_PAD) return (at / MLRUN_SPOOL_CHUNK_BYTES + 1) * MLRUN_SPOOL_CHUNK_BYTES;
  const size_t bytes = sizeof header + header.payload_bytes;
  return at + (bytes + MLRUN_FRAME_ALIGN - 1) / MLRUN_FRAME_ALIGN * MLRUN_FRAME_ALIGN;
}

}  // namespace

SpoolFrames read_spool(const std::string& path, bool twins) {
  SpoolFrames result;
  const auto bytes = util::read_file(path);
  if (!bytes) return {{}, bytes.error().text};
  std::set<std::pair<uint64_t, uint64_t>> seen;
  for (size_t at = 0; at < bytes->size();) {
    Frame frame;
    frame.offset = at;
    if (bytes->size() - at < sizeof frame.header) return {{}, "bytes behind the last frame"};
    std::memcpy(&frame.header, bytes->data() + at, sizeof frame.header);
    std::string wrong = what_is_wrong(*bytes, at, frame.header);
    const bool twin = !seen.insert({frame.header.channel, frame.header.seq}).second;
    if (twin && !twins) wrong = "a second frame of its channel and seq";
    if (!wrong.empty()) return {{}, wrong + " at byte " + std::to_string(at)};
    frame.payload = bytes->substr(at + sizeof frame.header, frame.header.payload_bytes);
    at = end_of(frame.header, at);
    result.frames.push_back(std::move(frame));
  }
  return result;
}

std::vector<Frame> SpoolFrames::of_type(mlrun_frame_type type) const {
  std::vector<Frame> found;
  std::copy_if(frames.begin(), frames.end(), std::back_inserter(found),
               [&](const Frame& frame) { return frame.header.type == type; });
  return found;
}

std::vector<mlrun_frame_gap> SpoolFrames::gaps(mlrun_gap_reason reason) const {
  std::vector<mlrun_frame_gap> found;
  for (const Frame& frame : of_type(MLRUN_FRAME_GAP)) {
    if (frame.as<mlrun_frame_gap>().reason == reason) found.push_back(frame.as<mlrun_frame_gap>());
  }
  return found;
}

std::map<uint64_t, std::vector<uint64_t>> SpoolFrames::numbers() const {
  std::map<uint64_t, std::vector<uint64_t>> numbers;
  for (const Frame& frame : of_type(MLRUN_FRAME_DATA)) {
    for (size_t at = 0; at + 32 <= frame.payload.size();) {
      uint64_t words[4];
      std::memcpy(words, frame.payload.data() + at, sizeof words);
      const size_t units = words[0] >> 8 & 0xff;
      if (units == 0) break;
      if ((words[0] >> 16 & 0xffff) == MLRUN_MALLOC) numbers[frame.header.channel].push_back(words[3]);
      at += units * MLRUN_UNIT_BYTES;
    }
  }
  return numbers;
}

}  // namespace mlrun::collect::testing
