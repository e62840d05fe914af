// SPDX-License-Identifier: Apache-2.0
#include "runner/collect/frame_text.h"

#include "runner/util/spool_frame.h"

namespace mlrun::collect {

void append_frame(std::string& text, uint64_t begin, mlrun_frame header, const void* payload, uint32_t bytes) {
  const uint64_t frame_bytes = util::frame_bytes(bytes);
  const uint64_t used = (begin + text.size()) % MLRUN_SPOOL_CHUNK_BYTES;
  if (used + frame_bytes > MLRUN_SPOOL_CHUNK_BYTES) text.append(MLRUN_SPOOL_CHUNK_BYTES - used, '\0');
  header.payload_bytes = bytes;
  util::seal_frame(header, payload);
  text.append(reinterpret_cast<const char*>(&header), util::kFrameHeaderBytes);
  text.append(static_cast<const char*>(payload), bytes);
  text.append(frame_bytes - util::kFrameHeaderBytes - bytes, '\0');
}

}  // namespace mlrun::collect
