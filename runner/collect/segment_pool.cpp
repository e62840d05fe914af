// SPDX-License-Identifier: Apache-2.0
#include "runner/collect/segment_pool.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "runner/collect/shared_word.h"

namespace mlrun::collect {

namespace {
constexpr uint32_t kFirstStep = 128;
constexpr uint32_t kStep = 32;
constexpr uint32_t kAhead = 256;  // on a busy machine the collector may run late
constexpr int kStepsForWaiters = 16;
}  // namespace

SegmentPool::SegmentPool(const Arena& arena)
    : arena_(arena), available_(std::min(load(arena.control().available_segments), arena.layout().segment_count)) {
  if (available_ == 0) extend();
}

bool SegmentPool::allocate(uint32_t count) {
  const auto offset = static_cast<off_t>(arena_.layout().segments_offset + uint64_t{available_} * MLRUN_SEGMENT_BYTES);
  const auto bytes = static_cast<off_t>(uint64_t{count} * MLRUN_SEGMENT_BYTES);
  if (::fallocate(arena_.fd(), 0, offset, bytes) == 0) return true;
  return errno == EOPNOTSUPP && ::posix_fallocate(arena_.fd(), offset, bytes) == 0;
}

uint32_t SegmentPool::free_segments() const {
  const auto free = static_cast<int32_t>(load(arena_.control().free_segments_hint));
  return free < 0 ? 0 : static_cast<uint32_t>(free);
}

bool SegmentPool::wants_more() const {
  return !exhausted_ && available_ < arena_.layout().segment_count &&
         free_segments() < std::max(available_ / 2, kAhead);
}

void SegmentPool::wake_waiters() {
  add(arena_.control().space, 1u);
  if (load(arena_.control().waiters) != 0) futex_wake_all(arena_.control().space);
}

void SegmentPool::extend() {
  extend_by_one_step();
  for (int i = 1; i < kStepsForWaiters && load(arena_.control().waiters) != 0; ++i) extend_by_one_step();
}

void SegmentPool::extend_by_one_step() {
  if (!wants_more()) return;
  const uint32_t step = std::min(available_ == 0 ? kFirstStep : kStep, arena_.layout().segment_count - available_);
  if (!allocate(step)) {
    exhausted_ = true;
    store(arena_.control().arena_ended, 1u);
    return;
  }
  available_ += step;
  store(arena_.control().available_segments, available_);
  add(arena_.control().free_segments_hint, step);
  wake_waiters();
}

void SegmentPool::release(uint32_t index, uint32_t owner_word) {
  uint32_t lap = (owner_word >> 24) + 1;
  if (lap > 255) {
    std::memset(arena_.segment(index), 0, MLRUN_SEGMENT_BYTES);
    lap = 1;
  }
  store(arena_.owner(index), lap << 24);
  add(arena_.control().free_segments_hint, 1u);
  wake_waiters();
  released_++;
}

uint32_t SegmentPool::high() const { return std::min(load(arena_.control().segment_high), available_); }

bool SegmentPool::half_used() const { return free_segments() < available_ / 2; }

}  // namespace mlrun::collect
