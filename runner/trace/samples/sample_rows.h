// SPDX-License-Identifier: Apache-2.0
// The rows of a sample frame (runner/events/gpu_sample.h).
#pragma once

#include <algorithm>
#include <cstdint>

#include "runner/events/gpu_sample.h"
#include "runner/trace/spool/spool_cursor.h"

namespace mlrun::trace {

// Visits the rows of a frame. Returns the number of malformed rows, which are not visited. Fields that a row of an older
// version lacks are taken from `blank`.
template <typename Row, typename Visit>
uint64_t for_each_row(const SpoolFrame& frame, const mlrun_frame_samples& head, const Row& blank, Visit visit) {
  const size_t room = frame.header.payload_bytes - sizeof head;
  const bool is_sound = head.row_bytes >= sizeof(__u64) * 2 && head.rows <= room / head.row_bytes;
  if (!is_sound) return head.rows;
  const char* at = reinterpret_cast<const char*>(frame.payload) + sizeof head;
  for (uint32_t i = 0; i < head.rows; ++i, at += head.row_bytes) {
    Row row = blank;
    __builtin_memcpy(&row, at, std::min<size_t>(head.row_bytes, sizeof row));
    visit(row);
  }
  return 0;
}

}  // namespace mlrun::trace
