// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/offset_tracker.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "runner/trace/func_class.h"
#include "runner/trace/limits.h"
#include "runner/util/saturating.h"

namespace mlrun::trace {

namespace {

namespace func = events::func;
constexpr size_t kDescriptionsMax = size_t{1} << 20;  // open at a time; more are not followed
constexpr size_t kRowsAhead = 24;
constexpr int32_t kShared = -1;  // proc_id of what several processes use

uint64_t key_of(int64_t ofd_id) { return scrambled(static_cast<uint64_t>(ofd_id)); }
int64_t end_of(const model::CallRow& row) { return row.origin.ts_ns + row.dur_ns; }

bool duplicates(const model::CallRow& row) {
  const bool by_fcntl = row.func == func::k_fcntl && (row.flags == F_DUPFD || row.flags == F_DUPFD_CLOEXEC);
  return by_fcntl || row.func == func::k_dup || row.func == func::k_dup2 || row.func == func::k_dup3;
}

}  // namespace

OffsetTracker::OffsetTracker(FileIndex& files, std::vector<PositionLoss> losses)
    : files_(files), losses_(std::move(losses)) {}

void OffsetTracker::apply(Partition& partition) {
  ++partition_;
  previous_row_.assign(partition.calls.size(), kNoRow);
  for (size_t i = 0; i < partition.order.size(); ++i) {
    const RowRef& ref = partition.order[i];
    if (i + kRowsAhead < partition.order.size() && partition.order[i + kRowsAhead].kind == RowKind::kCall) {
      partition.prefetch(partition.order[i + kRowsAhead]);
    }
    if (ref.kind != RowKind::kCall) continue;
    losses_.pass(ref.time_ns);
    if (partition.calls[ref.index].ofd_id != 0) see(partition, ref.index);
    if (partition.calls[ref.index].ofd2_id != 0) write_second(partition.calls[ref.index]);
  }
}

void OffsetTracker::see(Partition& partition, uint32_t index) {
  const model::CallRow& row = partition.calls[index];
  Description* description = descriptions_.find(key_of(row.ofd_id));
  if (!description) {
    if (class_of_func(row.func) == MLRUN_CLASS_OPEN && row.err == 0) begin(row);
    return;
  }
  const bool moves = partition.call_moves_position[index];
  // stdio knows where its reads and writes began.
  const bool given = row.offset_source == model::OffsetSource::kDerived;
  if (row.origin.proc_id != description->proc_id) {
    if (moves || given || row.func == func::k_lseek) description->known = false;
    if (moves || given) description->proc_id = kShared;
    return;
  }
  if (moves) return move(partition, index, *description);
  if (given) return take_given(row, *description);
  if (row.func == func::k_lseek || row.func == func::k_fseek) return seek(row, *description);
  if (duplicates(row) && row.err == 0) ++description->copies;
  if (row.func == func::k_fcntl && row.flags == F_SETFL && row.err == 0) {
    description->appends = (row.arg2 & O_APPEND) != 0;
  }
  end(row, *description);
}

void OffsetTracker::begin(const model::CallRow& row) {
  const bool by_name = events::has_path_layout(row.func);
  if (!by_name || files_.open_file(static_cast<uint32_t>(row.ofd_id)).found) return;
  if (descriptions_.size() >= kDescriptionsMax) return;
  Description& description = descriptions_.at(key_of(row.ofd_id));
  description.proc_id = row.origin.proc_id;
  description.appends = (row.flags & O_APPEND) != 0;
  description.losses = losses_.of(row.origin.proc_id);
  description.last_end_ns = end_of(row);
}

void OffsetTracker::end(const model::CallRow& row, Description& description) {
  const bool closes = class_of_func(row.func) == MLRUN_CLASS_CLOSE && row.err == 0;
  if (closes && --description.copies <= 0) descriptions_.erase(key_of(row.ofd_id));
}

// Where the kernel stands behind a seek of stdio is stdio's own affair.
void OffsetTracker::seek(const model::CallRow& row, Description& description) {
  if (row.err == 0) {
    description.known = row.func == func::k_lseek && row.origin.ts_ns >= description.last_end_ns;
    description.position = row.ret;
    description.losses = losses_.of(row.origin.proc_id);
  }
  description.last_end_ns = std::max(description.last_end_ns, end_of(row));
  description.last_seek_end_ns = std::max(description.last_seek_end_ns, end_of(row));
}

void OffsetTracker::take_given(const model::CallRow& row, Description& description) {
  description.known = row.origin.ts_ns >= description.last_end_ns && row.offset >= 0;
  description.position = row.offset + std::max<int64_t>(row.ret, 0);
  description.losses = losses_.of(row.origin.proc_id);
  description.last_end_ns = std::max(description.last_end_ns, end_of(row));
  description.last_seek_end_ns = description.last_end_ns;
}

// Calls that overlapped took turns in an order that nobody saw. Those of an earlier partition have been handed on
// already: of a million rows the last few.
void OffsetTracker::forget_overlapped(Partition& partition, const model::CallRow& row, Description& description) {
  uint32_t index = description.partition == partition_ ? description.last_row : kNoRow;
  for (; index != kNoRow && end_of(partition.calls[index]) > row.origin.ts_ns; index = previous_row_[index]) {
    partition.calls[index].offset = -1;
    partition.calls[index].offset_source = model::OffsetSource::kUnknown;
  }
}

void OffsetTracker::move(Partition& partition, uint32_t index, Description& description) {
  model::CallRow& row = partition.calls[index];
  const bool appends = description.appends && class_of_func(row.func) == MLRUN_CLASS_WRITE;
  const bool overlaps = row.origin.ts_ns < description.last_end_ns;
  description.known = description.known && description.losses == losses_.of(row.origin.proc_id) &&
                      row.origin.ts_ns >= description.last_seek_end_ns;
  if (overlaps) forget_overlapped(partition, row, description);
  if (description.known && !overlaps && !appends && description.position <= kOffsetMax) {
    row.offset = description.position;
    row.offset_source = model::OffsetSource::kDerived;
  }
  if ((appends && row.ret > 0) || row.err == ECANCELED) description.known = false;
  if (row.ret > 0) util::add_to(description.position, row.ret);
  description.last_end_ns = std::max(description.last_end_ns, end_of(row));
  previous_row_[index] = description.partition == partition_ ? description.last_row : kNoRow;
  description.last_row = index;
  description.partition = partition_;
}

// Where an offset was given the position stays.
void OffsetTracker::write_second(model::CallRow& row) {
  Description* description = descriptions_.find(key_of(row.ofd2_id));
  if (!description || row.offset2 >= 0) return;
  const bool own = row.origin.proc_id == description->proc_id;
  const bool alone = own && row.origin.ts_ns >= description->last_end_ns;
  description->known = description->known && alone && description->losses == losses_.of(row.origin.proc_id);
  if (!own) description->proc_id = kShared;
  if (description->known && !description->appends && description->position <= kOffsetMax)
    row.offset2 = description->position;
  if (description->appends && row.ret > 0) description->known = false;
  if (row.ret > 0) util::add_to(description->position, row.ret);
  description->last_end_ns = std::max(description->last_end_ns, end_of(row));
  description->last_seek_end_ns = description->last_end_ns;
}

}  // namespace mlrun::trace
