// SPDX-License-Identifier: Apache-2.0
// Derives the file offsets of reads and writes at the file position, by replaying every open file description from its
// open. It prefers unknown to wrong. A description's position is unknown
//
//   - if it was found, not opened, or opened for appending (the offset of a write then depends on the file's length);
//   - from the moment a second process uses it, even under another number;
//   - after its process lost records, until an absolute seek;
//   - during overlapping calls of several threads, where only the position after all of them is known;
//   - after a stream (FILE) may have moved it by unrecorded calls, as its next record shows, or in a forked child;
//     and for calls that bypass a stream, or use one of several streams.
//
// A write that appends (O_APPEND, RWF_APPEND) gets no offset, whatever offset it was given. The target position of a call
// that copies between descriptors (copy_file_range) is tracked in the same way.
#pragma once

#include <cstdint>
#include <vector>

#include "runner/trace/files/file_index.h"
#include "runner/trace/rows/slice_rows.h"
#include "runner/trace/spool/loss_count.h"
#include "runner/util/flat_map.h"

namespace mlrun::trace {

class OffsetTracker {
 public:
  OffsetTracker(FileIndex& files, std::vector<PositionLoss> losses);

  // Fills offset and offset_source of the slice's calls. Requires: slices in order of time.
  void apply(SliceRows& slice_rows);

 private:
  static constexpr uint32_t kNoRow = UINT32_MAX;

  struct Description {
    int32_t proc_id = 0;
    int32_t copies = 1;  // descriptors that refer to it in its process
    int64_t position = 0;
    int64_t last_end_ns = 0;  // latest end of its calls so far
    int64_t last_seek_end_ns = 0;
    uint32_t losses = 0;         // loss count of its process when the position was last known
    uint32_t last_row = kNoRow;  // the last call in its slice that moved it
    uint32_t slice = 0;          // the slice of last_row
    uint32_t found_moves = 0;    // found_moves_ of its file, also then
    uint32_t forks = 0;          // fork count of its process, also then
    int32_t streams = 0;         // streams that may use it
    int64_t file_id = 0;
    bool known = true, appends = false;
    bool stream_goes_to_end = false;  // ftell moves a stream opened for appending, even if nothing appends now
  };
  void see(SliceRows& slice_rows, uint32_t index);
  void begin(const model::CallRow& row);
  void end(const model::CallRow& row, Description& description);
  void begin_stream(const model::CallRow& row, Description& description);
  void note_found_move(int64_t file_id, model::FileKind kind);
  [[nodiscard]] uint32_t found_moves(int64_t file_id) const;
  void learn(const model::CallRow& row, Description& description);
  [[nodiscard]] bool still_knows(const model::CallRow& row, const Description& description);
  void seek(const model::CallRow& row, const decode::Motion& motion, Description& description);
  static void append(model::CallRow& row, bool description_appends);
  void move(SliceRows& slice_rows, uint32_t index, Description& description);
  void write_second(model::CallRow& row);
  void take_given(model::CallRow& row, Description& description);
  void forget_overlapped(SliceRows& slice_rows, const model::CallRow& row, Description& description);

  FileIndex& files_;
  LossCount losses_;
  LossCount forks_{{}};  // per process
  util::FlatMap<Description> descriptions_;
  util::FlatMap<uint32_t> found_moves_;  // by file_id: moves by descriptors that were found, not opened
  std::vector<uint32_t> previous_row_;   // for each call of the slice: the previous one of the same description
  uint32_t slice_ = 0;
};

}  // namespace mlrun::trace
