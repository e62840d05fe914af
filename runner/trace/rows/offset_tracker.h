// SPDX-License-Identifier: Apache-2.0
// Finds the file offsets of reads and writes at the file position, by replaying every open file description from its
// opening. Rather unknown than wrong: nothing is said about a description
//
//   - that was met and not opened, or opened for appending (where a write lands depends on the file's length);
//   - from the moment a second process uses it, be it under another number;
//   - after records were lost in its process, until an absolute seek;
//   - while calls of several threads on it overlap, where only the position behind all of them is known;
//   - after a stream (FILE) may have moved it by calls that are not recorded, as its next record says, or in a forked child; and by calls past a
//     stream, or of one of several streams.
//
// A write that appends whatever offset it is given (O_APPEND, RWF_APPEND) has none. What a call from one descriptor to another (copy_file_range) writes at the position is followed in the same way.
#pragma once

#include <cstdint>
#include <vector>

#include "runner/trace/files/file_index.h"
#include "runner/trace/rows/partition.h"
#include "runner/trace/spool/loss_count.h"
#include "runner/util/flat_map.h"

namespace mlrun::trace {

class OffsetTracker {
 public:
  OffsetTracker(FileIndex& files, std::vector<PositionLoss> losses);

  // Fills offset and offset_source of the partition's calls. Requires: partitions come in the order of time.
  void apply(Partition& partition);

 private:
  static constexpr uint32_t kNoRow = UINT32_MAX;

  struct Description {
    int32_t proc_id = 0;
    int32_t copies = 1;  // descriptors that stand for it in its process
    int64_t position = 0;
    int64_t last_end_ns = 0;  // of the calls on it so far
    int64_t last_seek_end_ns = 0;
    uint32_t losses = 0;         // of its process, when the position was last known
    uint32_t last_row = kNoRow;  // in this partition, the last call that moved it
    uint32_t partition = 0;      // to which last_row belongs
    uint32_t found_moves = 0;    // of its file, then
    uint32_t forks = 0;          // of its process, then
    int32_t streams = 0;         // that may be at work on it
    int64_t file_id = 0;
    bool known = true, appends = false;
    bool stream_goes_to_end =
        false;  // ftell moves a stream that was opened for appending, also where nothing appends now
  };
  void see(Partition& partition, uint32_t index);
  void begin(const model::CallRow& row);
  void end(const model::CallRow& row, Description& description);
  void begin_stream(const model::CallRow& row, Description& description);
  void note_found_move(int64_t file_id, model::FileKind kind);
  [[nodiscard]] uint32_t found_moves(int64_t file_id) const;
  void learn(const model::CallRow& row, Description& description);
  [[nodiscard]] bool still_knows(const model::CallRow& row, const Description& description);
  void seek(const model::CallRow& row, const Motion& motion, Description& description);
  static void append(model::CallRow& row, bool description_appends);
  void move(Partition& partition, uint32_t index, Description& description);
  void write_second(model::CallRow& row);
  void take_given(model::CallRow& row, Description& description);
  void forget_overlapped(Partition& partition, const model::CallRow& row, Description& description);

  FileIndex& files_;
  LossCount losses_;
  LossCount forks_{{}};  // of each process
  summary::FlatMap<Description> descriptions_;
  summary::FlatMap<uint32_t> found_moves_;  // by file_id: of open files that were not seen being opened
  std::vector<uint32_t> previous_row_;      // of the same description, for each call of the partition
  uint32_t partition_ = 0;
};

}  // namespace mlrun::trace
