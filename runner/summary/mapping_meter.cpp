// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/mapping_meter.h"

#include <sys/mman.h>

#include <algorithm>
#include <utility>

#include "runner/events/call_layout.h"

namespace mlrun::summary {
namespace {

constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kLargestBytes = uint64_t{1} << 47;  // user space; no mapping is longer
// Later mappings inside what one call takes away: one for each thread that was as fast. A made-up spool may have any number of both.
constexpr int kLaterSpansMax = 256;

uint64_t whole_pages(int64_t bytes) {
  const uint64_t known = std::min(uint64_t(std::max<int64_t>(bytes, 0)), kLargestBytes);
  return (known + kPageBytes - 1) / kPageBytes * kPageBytes;
}

}  // namespace

void MappingMeter::add(const model::CallRow& row) {
  const bool maps = row.func == events::func::k_mmap, remaps = row.func == events::func::k_mremap;
  if (!maps && !remaps && row.func != events::func::k_munmap) return;
  if (row.err != 0 || !enter(row.origin.image_id)) return;
  if (maps) return map(row, uint64_t(row.ret), whole_pages(row.requested));
  if (remaps) return remap(row);
  const auto begin = uint64_t(row.arg2);
  // Another thread may have got the address before this call returned: that mapping is not what it took away.
  cut(begin, begin + whole_pages(row.requested), row.origin.ts_ns);
}

// An exec leaves nothing mapped. false: a late row of an image that is gone.
bool MappingMeter::enter(int32_t image_id) {
  if (image_id == image_id_) return true;
  if (left_images_.contains(image_id)) return false;
  if (image_id_ != 0) left_images_.insert(image_id_);
  room_->left += int64_t(spans_.size());
  spans_.clear();
  bytes_ = 0;
  image_id_ = image_id;
  return true;
}

void MappingMeter::map(const model::CallRow& row, uint64_t begin, uint64_t bytes) {
  cut(begin, begin + bytes, INT64_MAX);  // MAP_FIXED takes the place of what was there
  if ((row.flags & MAP_ANONYMOUS) == 0 || row.arg2 == PROT_NONE) return;
  insert(begin, {begin + bytes, row.origin.ts_ns + row.dur_ns});
}

// The old length is no part of the row: the mapping is known by its address, or was none of those counted.
void MappingMeter::remap(const model::CallRow& row) {
  const auto old = uint64_t(row.arg2), begin = uint64_t(row.ret);
  auto found = spans_.upper_bound(old);
  if (found == spans_.begin()) return;
  --found;
  if (found->second.end <= old) return;
  cut(old, found->second.end, INT64_MAX);
  const uint64_t end = begin + whole_pages(row.requested);
  cut(begin, end, INT64_MAX);
  insert(begin, {end, row.origin.ts_ns + row.dur_ns});
}

void MappingMeter::cut(uint64_t begin, uint64_t end, int64_t before_ns) {
  auto at = spans_.upper_bound(begin);
  if (at != spans_.begin()) --at;
  int left_in_place = 0;
  while (at != spans_.end() && at->first < end && left_in_place < kLaterSpansMax) {
    const auto [first, span] = *at;
    if (span.end <= begin || span.made_ns > before_ns) {
      ++at;
      ++left_in_place;
      continue;
    }
    at = spans_.erase(at);
    ++room_->left;
    const uint64_t from = std::max(first, begin), to = std::min(span.end, end);
    bytes_ -= span.end - first;
    if (first < from) insert(first, {from, span.made_ns});
    if (to < span.end) insert(to, span);
  }
}

void MappingMeter::insert(uint64_t begin, const Span& span) {
  if (span.end <= begin) return;
  if (room_->left <= 0) {
    room_->left_out_bytes += int64_t(span.end - begin);
    return;
  }
  --room_->left;
  spans_[begin] = span;
  bytes_ += span.end - begin;
  if (int64_t(bytes_) > peak_.bytes) peak_ = {span.made_ns, int64_t(bytes_)};
}

}  // namespace mlrun::summary
