// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/rows/offset_tracker.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "runner/decode/func_class.h"
#include "runner/decode/limits.h"
#include "runner/util/saturating.h"

namespace mlrun::trace {

namespace {

namespace func = events::func;
constexpr size_t kDescriptionsMax = size_t{1} << 20;  // open at a time; further ones are not tracked
constexpr size_t kRowsAhead = 24;
constexpr int32_t kShared = -1;  // proc_id of a description that several processes use

uint64_t key_of(int64_t ofd_id) { return util::scrambled(static_cast<uint64_t>(ofd_id)); }
int64_t end_of(const model::CallRow& row) { return row.origin.ts_ns + row.dur_ns; }

bool duplicates(const model::CallRow& row) {
  const bool by_fcntl = row.func == func::k_fcntl && (row.flags == F_DUPFD || row.flags == F_DUPFD_CLOEXEC);
  return by_fcntl || row.func == func::k_dup || row.func == func::k_dup2 || row.func == func::k_dup3;
}

// From linux/fs.h; missing in older headers.
constexpr int64_t kWriteAppends = 0x10, kWriteDoesNotAppend = 0x20;

// On Linux an appending write ignores its offset.
bool appends(const model::CallRow& row, bool description_appends) {
  const bool writes = decode::class_of_func(row.func) == MLRUN_CLASS_WRITE;
  if (row.func != func::k_pwritev2) return writes && description_appends;
  if ((row.arg2 & kWriteDoesNotAppend) != 0) return false;
  return description_appends || (row.arg2 & kWriteAppends) != 0;
}

// The stream of a FILE may read and write unrecorded (getc, putc, scanf).
bool makes_stream(const model::CallRow& row) {
  return row.func == func::k_fopen || row.func == func::k_freopen || row.func == func::k_fdopen;
}

}  // namespace

OffsetTracker::OffsetTracker(FileIndex& files, std::vector<PositionLoss> losses)
    : files_(files), losses_(std::move(losses)) {}

void OffsetTracker::apply(SliceRows& slice_rows) {
  ++slice_;
  previous_row_.assign(slice_rows.calls.size(), kNoRow);
  for (size_t i = 0; i < slice_rows.order.size(); ++i) {
    const RowRef& ref = slice_rows.order[i];
    if (i + kRowsAhead < slice_rows.order.size() && slice_rows.order[i + kRowsAhead].kind == RowKind::kCall) {
      slice_rows.prefetch(slice_rows.order[i + kRowsAhead]);
    }
    if (ref.kind != RowKind::kCall) continue;
    losses_.pass(ref.time_ns);
    if (slice_rows.calls[ref.index].func == func::k_fork) forks_.add(slice_rows.calls[ref.index].origin.proc_id);
    if (slice_rows.calls[ref.index].ofd_id != 0) see(slice_rows, ref.index);
    if (slice_rows.calls[ref.index].ofd2_id != 0) write_second(slice_rows.calls[ref.index]);
  }
}

void OffsetTracker::see(SliceRows& slice_rows, uint32_t index) {
  model::CallRow& row = slice_rows.calls[index];
  const decode::Motion& motion = slice_rows.call_motion[index];
  const bool seeks = row.func == func::k_lseek || row.func == func::k_fseek;
  // the record has the offset: stdio records that of its reads and writes
  const bool given = row.offset_source == model::OffsetSource::kDerived;
  Description* description = descriptions_.find(key_of(row.ofd_id));
  if (!description) {
    if (decode::class_of_func(row.func) == MLRUN_CLASS_OPEN && row.err == 0) begin(row);
    if (motion.moves || given || seeks) note_found_move(row.file_id, row.file_kind);
    if (!motion.moves) append(row, files_.open_file(static_cast<uint32_t>(row.ofd_id)).appends);
    return;
  }
  if (row.func == func::k_fcntl && row.flags == F_SETFL && row.err == 0) {
    const bool now = (row.arg2 & O_APPEND) != 0;
    if (description->appends && !now && description->streams > 0) description->stream_goes_to_end = true;
    description->appends = now;
  }
  // libc sets O_APPEND on the descriptor it is given
  if (makes_stream(row) && row.err == 0 && (row.flags & O_APPEND) != 0) description->appends = true;
  if (row.origin.proc_id != description->proc_id) {
    if (motion.moves || given || seeks) description->known = false;
    if (motion.moves || given) description->proc_id = kShared;
    if (!motion.moves) append(row, description->appends);
    return;
  }
  if (motion.unseen) description->known = false;
  if (motion.moves) return move(slice_rows, index, *description);
  if (given) return take_given(row, *description);
  if (seeks) return seek(row, motion, *description);
  append(row, description->appends);
  if (duplicates(row) && row.err == 0) ++description->copies;
  if (makes_stream(row) && row.err == 0) begin_stream(row, *description);
  end(row, *description);
}

// Clears the offset of an appending write: the write is at the file's end, whose position is unknown, whatever offset
// the program passed or libc assumed after a seek.
void OffsetTracker::append(model::CallRow& row, bool description_appends) {
  const bool claims =
      row.offset_source == model::OffsetSource::kArgument || row.offset_source == model::OffsetSource::kDerived;
  if (row.ret <= 0 || !claims || !appends(row, description_appends)) return;
  row.offset = -1;
  row.offset_source = model::OffsetSource::kUnknown;
}

void OffsetTracker::begin(const model::CallRow& row) {
  const bool by_name = events::has_path_layout(row.func);
  if (!by_name || files_.open_file(static_cast<uint32_t>(row.ofd_id)).found) return;
  if (descriptions_.size() >= kDescriptionsMax) return;
  Description& description = descriptions_.at(key_of(row.ofd_id));
  description.proc_id = row.origin.proc_id;
  description.file_id = row.file_id;
  description.appends = (row.flags & O_APPEND) != 0;
  learn(row, description);
  description.last_end_ns = end_of(row);
  if (makes_stream(row)) begin_stream(row, description);
}

// fopen(…, "a") seeks to the end of the file.
void OffsetTracker::begin_stream(const model::CallRow& row, Description& description) {
  ++description.streams;
  if ((row.flags & O_APPEND) == 0) return;
  description.appends = true;
  description.known = false;
}

void OffsetTracker::note_found_move(int64_t file_id, model::FileKind kind) {
  if (file_id != 0 && kind == model::FileKind::kRegular) ++found_moves_.at(static_cast<uint64_t>(file_id));
}

uint32_t OffsetTracker::found_moves(int64_t file_id) const {
  const uint32_t* moves = file_id == 0 ? nullptr : found_moves_.find(static_cast<uint64_t>(file_id));
  return moves ? *moves : 0;
}

// Notes the counts at which the position is known, so that still_knows() finds later losses, forks and moves.
void OffsetTracker::learn(const model::CallRow& row, Description& description) {
  description.losses = losses_.of(row.origin.proc_id);
  description.forks = forks_.of(row.origin.proc_id);
  description.found_moves = found_moves(description.file_id);
}

// Whether the position is still known. It is not if records of the process were lost, if a move by a found descriptor
// (inherited by exec) may have been of this description, or if a stream may have moved it unrecorded in a forked child.
bool OffsetTracker::still_knows(const model::CallRow& row, const Description& description) {
  const bool shares_stream = description.streams > 0 && description.forks != forks_.of(row.origin.proc_id);
  return description.known && !shares_stream && !description.stream_goes_to_end &&
         description.losses == losses_.of(row.origin.proc_id) &&
         description.found_moves == found_moves(description.file_id);
}

void OffsetTracker::end(const model::CallRow& row, Description& description) {
  const bool closes = decode::class_of_func(row.func) == MLRUN_CLASS_CLOSE && row.err == 0;
  if (!closes) return;
  if (--description.copies <= 0) return descriptions_.erase(key_of(row.ofd_id));
  if (row.func != func::k_fclose) return;
  description.known = false;  // libc may have seeked back over read-ahead data
  if (description.streams > 0) --description.streams;
}

void OffsetTracker::seek(const model::CallRow& row, const decode::Motion& motion, Description& description) {
  const bool overlaps = row.origin.ts_ns < description.last_end_ns;
  if (row.err == 0 && motion.by != 0) {
    description.known = still_knows(row, description) && !overlaps && row.origin.ts_ns >= description.last_seek_end_ns;
    util::add_to(description.position, motion.by);
  } else if (row.err == 0) {
    // Records of older versions lack the kernel's position after fseek.
    const bool says = row.func == func::k_lseek || row.offset2 >= 0;
    description.known = says && !overlaps;
    description.position = row.func == func::k_lseek ? row.ret : row.offset2;
    learn(row, description);
  }
  description.last_end_ns = std::max(description.last_end_ns, end_of(row));
  description.last_seek_end_ns = std::max(description.last_seek_end_ns, end_of(row));
}

void OffsetTracker::take_given(model::CallRow& row, Description& description) {
  append(row, description.appends);
  description.known = row.origin.ts_ns >= description.last_end_ns && row.offset >= 0;
  description.position = row.offset + std::max<int64_t>(row.ret, 0);
  learn(row, description);
  description.last_end_ns = std::max(description.last_end_ns, end_of(row));
  description.last_seek_end_ns = description.last_end_ns;
}

// Clears the offsets of calls that overlap `row`: they used the position in an unknown order. Rows of earlier slices are
// already written and stay; they are at most the last few of a million.
void OffsetTracker::forget_overlapped(SliceRows& slice_rows, const model::CallRow& row, Description& description) {
  uint32_t index = description.slice == slice_ ? description.last_row : kNoRow;
  for (; index != kNoRow && end_of(slice_rows.calls[index]) > row.origin.ts_ns; index = previous_row_[index]) {
    slice_rows.calls[index].offset = -1;
    slice_rows.calls[index].offset_source = model::OffsetSource::kUnknown;
  }
}

// A call that bypasses a stream gets no offset: the stream may have moved the position unrecorded, and only a later
// record of the stream would show this.
void OffsetTracker::move(SliceRows& slice_rows, uint32_t index, Description& description) {
  model::CallRow& row = slice_rows.calls[index];
  const bool stdio = slice_rows.call_motion[index].stdio, appended = appends(row, description.appends);
  const bool overlaps = row.origin.ts_ns < description.last_end_ns;
  // No call opens the standard streams, so a stream is counted from its first read or write.
  if (stdio && description.streams == 0) description.streams = 1;
  description.known = still_knows(row, description) && row.origin.ts_ns >= description.last_seek_end_ns;
  if (overlaps) forget_overlapped(slice_rows, row, description);
  const bool says = description.streams <= (stdio ? 1 : 0);
  if (description.known && !overlaps && !appended && says && description.position <= decode::kOffsetMax) {
    row.offset = description.position;
    row.offset_source = model::OffsetSource::kDerived;
  }
  if ((appended && row.ret > 0) || row.err == ECANCELED || (stdio && row.err != 0)) description.known = false;
  if (row.ret > 0) util::add_to(description.position, row.ret);
  description.last_end_ns = std::max(description.last_end_ns, end_of(row));
  previous_row_[index] = description.slice == slice_ ? description.last_row : kNoRow;
  description.last_row = index;
  description.slice = slice_;
}

// An explicit offset leaves the position unchanged.
void OffsetTracker::write_second(model::CallRow& row) {
  Description* description = descriptions_.find(key_of(row.ofd2_id));
  if (!description) {
    if (row.offset2 < 0) note_found_move(row.file2_id, row.file2_kind);
    return;
  }
  if (row.offset2 >= 0) return;
  const bool own = row.origin.proc_id == description->proc_id;
  const bool alone = own && row.origin.ts_ns >= description->last_end_ns;
  description->known = alone && still_knows(row, *description);
  if (!own) description->proc_id = kShared;
  const bool says = description->streams == 0 && description->position <= decode::kOffsetMax;
  if (description->known && !description->appends && says) row.offset2 = description->position;
  if (description->appends && row.ret > 0) description->known = false;
  if (row.ret > 0) util::add_to(description->position, row.ret);
  description->last_end_ns = std::max(description->last_end_ns, end_of(row));
  description->last_seek_end_ns = description->last_end_ns;
}

}  // namespace mlrun::trace
