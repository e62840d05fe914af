// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/meters/mapping_meter.h"

#include <sys/mman.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "runner/events/call_layout.h"

namespace mlrun::summary {

namespace func = events::func;

namespace {

constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kLargestBytes = uint64_t{1} << 47;  // size of user space: no mapping is longer
// Limits how many later mappings one unmapping call may leave in its range (one per racing thread), and so the work for a forged spool.
constexpr int kLaterSpansMax = 256;

uint64_t whole_pages(int64_t bytes) {
  const uint64_t known = std::min(uint64_t(std::max<int64_t>(bytes, 0)), kLargestBytes);
  return (known + kPageBytes - 1) / kPageBytes * kPageBytes;
}

bool is_open(int64_t protection) { return (protection & (PROT_READ | PROT_WRITE)) != 0; }

}  // namespace

void MappingMeter::add(const model::CallRow& row) {
  const uint16_t called = row.func;
  const bool maps = called == func::k_mmap, remaps = called == func::k_mremap, unmaps = called == func::k_munmap;
  const bool protects = called == func::k_mprotect || called == func::k_pkey_mprotect;
  if (!maps && !remaps && !unmaps && !protects) return;
  if (row.err != 0 || !enter(row.origin.image_id)) return;
  if (maps) map(row, uint64_t(row.ret), whole_pages(row.requested));
  if (remaps) remap(row);
  if (protects) protect(row);
  // A mapping that another thread got at the address before munmap returned is kept.
  const auto begin = uint64_t(row.arg2);
  if (unmaps) cut(begin, begin + whole_pages(row.requested), row.origin.ts_ns);
  note_peak(row.origin.ts_ns + row.dur_ns);
}

// An exec unmaps everything. Returns false for a late row of an image that exec has replaced.
bool MappingMeter::enter(int32_t image_id) {
  if (image_id == image_id_) return true;
  if (left_images_.contains(image_id)) return false;
  if (image_id_ != 0) left_images_.insert(image_id_);
  room_->left += int64_t(spans_.size());
  spans_.clear();
  bytes_ = noreserve_bytes_ = 0;
  image_id_ = image_id;
  return true;
}

void MappingMeter::map(const model::CallRow& row, uint64_t begin, uint64_t bytes) {
  cut(begin, begin + bytes, INT64_MAX);  // MAP_FIXED replaces existing mappings
  if ((row.flags & MAP_ANONYMOUS) == 0 || (row.flags & MAP_TYPE) != MAP_PRIVATE) return;
  const bool open = is_open(row.arg2), reserves = (row.flags & MAP_NORESERVE) == 0;
  insert(begin, {begin + bytes, row.origin.ts_ns + row.dur_ns,
                 !open      ? Use::kClosed
                 : reserves ? Use::kOpen
                            : Use::kNoReserve});
}

// mremap moves only a part of a mapping if the old length is shorter; recent kernels can move several mappings at once. Old traces lack the old
// length (-1): the whole mapping is moved.
void MappingMeter::remap(const model::CallRow& row) {
  const auto old = uint64_t(row.arg2), begin = uint64_t(row.ret);
  split_at(old);
  const auto first = spans_.lower_bound(old);
  const uint64_t whole = first != spans_.end() && first->first == old ? first->second.end : old;
  const uint64_t old_end = row.offset2 >= 0 ? old + whole_pages(row.offset2) : whole;
  const uint64_t end = begin + whole_pages(row.requested);
  if (begin == old && end <= old_end) return cut(end, old_end, INT64_MAX);
  const uint64_t moved_end = std::min(old_end, old + (end - begin));  // the rest is unmapped
  split_at(moved_end);
  std::vector<std::pair<uint64_t, Span>> moved;
  for (auto at = first; at != spans_.end() && at->first < moved_end; ++at) moved.emplace_back(*at);
  if ((row.flags & MREMAP_DONTUNMAP) == 0) cut(old, old_end, INT64_MAX);
  cut(begin, end, INT64_MAX);
  for (const auto& [at, span] : moved) {
    const uint64_t grown = span.end == moved_end ? end - begin : span.end - old;
    insert(begin + (at - old), {begin + grown, row.origin.ts_ns + row.dur_ns, span.use});
  }
}

// Memory that was accessible keeps its use; memory that becomes accessible counts, however it was reserved.
void MappingMeter::protect(const model::CallRow& row) {
  const auto begin = uint64_t(row.arg2);
  const uint64_t end = begin + whole_pages(row.requested);
  split_at(begin);
  split_at(end);
  for (auto at = spans_.lower_bound(begin); at != spans_.end() && at->first < end; ++at) {
    Span& span = at->second;
    const bool opens = is_open(row.flags);
    if (opens == (span.use != Use::kClosed)) continue;
    count(span, at->first, -1);
    span.use = opens ? Use::kOpen : Use::kClosed;
    count(span, at->first, 1);
  }
  join(begin, end);
}

// Merges neighbouring mappings: a program that makes its address space accessible piece by piece must not use up MappingRoom.
void MappingMeter::join(uint64_t begin, uint64_t end) {
  auto at = spans_.lower_bound(begin);
  if (at != spans_.begin()) --at;
  while (at != spans_.end() && at->first < end) {
    const auto after = std::next(at);
    Span& span = at->second;
    if (after == spans_.end() || after->first != span.end || after->second.use != span.use) {
      at = after;
      continue;
    }
    span.end = after->second.end;
    span.made_ns = std::max(span.made_ns, after->second.made_ns);
    spans_.erase(after);
    ++room_->left;
  }
}

void MappingMeter::split_at(uint64_t address) {
  auto found = spans_.upper_bound(address);
  if (found == spans_.begin() || room_->left <= 0) return;
  --found;
  Span& span = found->second;
  if (found->first == address || span.end <= address) return;
  spans_.emplace(address, span);
  span.end = address;
  --room_->left;
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
    count(span, first, -1);
    if (first < from) insert(first, {from, span.made_ns, span.use});
    if (to < span.end) insert(to, span);
  }
}

void MappingMeter::insert(uint64_t begin, const Span& span) {
  if (span.end <= begin) return;
  if (room_->left <= 0) {
    if (span.use == Use::kOpen) room_->left_out_bytes += int64_t(span.end - begin);
    return;
  }
  --room_->left;
  spans_[begin] = span;
  count(span, begin, 1);
}

void MappingMeter::count(const Span& span, uint64_t begin, int64_t sign) {
  if (span.use == Use::kClosed) return;
  (span.use == Use::kOpen ? bytes_ : noreserve_bytes_) += sign * int64_t(span.end - begin);
}

void MappingMeter::note_peak(int64_t ts_ns) {
  peak_.noreserve_bytes = std::max(peak_.noreserve_bytes, noreserve_bytes_);
  if (bytes_ <= peak_.bytes) return;
  peak_.bytes = bytes_;
  peak_.ts_ns = ts_ns;
  peak_.image_id = image_id_;
}

}  // namespace mlrun::summary
