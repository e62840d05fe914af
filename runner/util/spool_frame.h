// SPDX-License-Identifier: Apache-2.0
// Frames of a spool (runner/events/spool.h): what they take in the file, and their checksum.
#pragma once

#include <cstdint>

#include "runner/events/spool.h"
#include "runner/util/crc32c.h"

namespace mlrun::util {

inline constexpr uint64_t kFrameHeaderBytes = sizeof(mlrun_frame);

// Rounds up to where a frame may begin.
constexpr uint64_t frame_aligned(uint64_t bytes) {
  return (bytes + MLRUN_FRAME_ALIGN - 1) / MLRUN_FRAME_ALIGN * MLRUN_FRAME_ALIGN;
}

// Space that a frame with this payload takes in the file.
constexpr uint64_t frame_bytes(uint64_t payload_bytes) { return frame_aligned(kFrameHeaderBytes + payload_bytes); }

// End of the chunk that the byte `at` is in.
constexpr uint64_t chunk_end(uint64_t at) { return (at / MLRUN_SPOOL_CHUNK_BYTES + 1) * MLRUN_SPOOL_CHUNK_BYTES; }

// The checksum of the header without its crc32c and of payload_bytes of `payload`. Requires: payload_bytes is no longer than `payload`.
inline uint32_t frame_checksum(mlrun_frame header, const void* payload) {
  header.crc32c = 0;
  const uint32_t crc = crc32c(0, &header, kFrameHeaderBytes);
  return header.payload_bytes > 0 ? crc32c(crc, payload, header.payload_bytes) : crc;
}

// Fills in magic, version and crc32c. Requires: the other fields are filled in.
inline void seal_frame(mlrun_frame& header, const void* payload) {
  header.magic = MLRUN_SPOOL_MAGIC;
  header.version = MLRUN_SPOOL_VERSION;
  header.crc32c = frame_checksum(header, payload);
}

}  // namespace mlrun::util
