// SPDX-License-Identifier: Apache-2.0
// Builds frames for the other files of a trace folder that have the spool's format.
#pragma once

#include <cstdint>
#include <string>

#include "runner/events/spool.h"

namespace mlrun::collect {

// Appends a frame to `text`, whose first byte will be at offset `begin` of the file. Magic, version, payload_bytes and
// crc32c of the header are filled in; zeros precede it if it would cross the end of a chunk. Requires: bytes <=
// MLRUN_FRAME_PAYLOAD_MAX.
void append_frame(std::string& text, uint64_t begin, mlrun_frame header, const void* payload, uint32_t bytes);

}  // namespace mlrun::collect
