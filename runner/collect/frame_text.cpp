// SPDX-License-Identifier: Apache-2.0
#include "runner/collect/frame_text.h"

#include "runner/collect/frame_size.h"
#include "runner/util/crc32c.h"

namespace mlrun::collect {

void append_frame(std::string& text, uint64_t begin, mlrun_frame header, const void* payload, uint32_t bytes) {
  const uint64_t frame_bytes = aligned(kHeaderBytes + bytes);
  const uint64_t used = (begin + text.size()) % MLRUN_SPOOL_BLOCK_BYTES;
  if (used + frame_bytes > MLRUN_SPOOL_BLOCK_BYTES) text.append(MLRUN_SPOOL_BLOCK_BYTES - used, '\0');
  header.magic = MLRUN_SPOOL_MAGIC;
  header.version = MLRUN_SPOOL_VERSION;
  header.payload_bytes = bytes;
  header.crc32c = 0;
  const uint32_t crc = util::crc32c(0, &header, kHeaderBytes);
  header.crc32c = bytes > 0 ? util::crc32c(crc, payload, bytes) : crc;
  text.append(reinterpret_cast<const char*>(&header), kHeaderBytes);
  text.append(static_cast<const char*>(payload), bytes);
  text.append(frame_bytes - kHeaderBytes - bytes, '\0');
}

}  // namespace mlrun::collect
