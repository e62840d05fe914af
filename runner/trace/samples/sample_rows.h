// SPDX-License-Identifier: Apache-2.0
// The sample frames of the spool and their rows (runner/events/gpu_sample.h).
#pragma once

#include <algorithm>
#include <cstdint>

#include "runner/events/gpu_sample.h"
#include "runner/trace/index/spool_index.h"
#include "runner/trace/spool/spool_cursor.h"

namespace mlrun::trace {

// Calls `visit` for the frame at `offset` of the spool, unless it is damaged. Returns what `visit` returns, a Status.
template <typename Visit>
Status visit_frame(const SpoolIndex& index, uint64_t offset, Visit visit) {
  SpoolCursor cursor(index.fd(), offset, offset + MLRUN_FRAME_ALIGN, index.bytes());
  SpoolFrame frame;
  const auto found = cursor.next(frame);
  if (!found) return tl::make_unexpected(found.error());
  return *found ? visit(frame) : Status();
}

// The same with a sample frame and its head.
template <typename Visit>
Status visit_samples(const SpoolIndex& index, uint64_t offset, Visit visit) {
  return visit_frame(index, offset, [&](const SpoolFrame& frame) {
    mlrun_frame_samples head{};
    return frame.read(head) ? visit(frame, head) : Status();
  });
}

// Visits the rows of a frame. Returns the number of malformed rows, which are not visited. Fields that a row of an older
// version lacks are taken from `blank`.
template <typename Row, typename Visit>
uint64_t for_each_row(const SpoolFrame& frame, const mlrun_frame_samples& head, const Row& blank, Visit&& visit) {
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
