// SPDX-License-Identifier: Apache-2.0
#include "runner/collect/counter_watch.h"

#include <algorithm>

#include "runner/collect/shared_word.h"
#include "runner/events/alloc_class.h"

namespace mlrun::collect {

namespace {
constexpr uint64_t kShortestPauseNs = 100'000'000;
constexpr uint64_t kLongestPauseNs = 1'600'000'000;
}  // namespace

void CounterWatch::read_fine(const mlrun_channel& channel) {
  for (unsigned i = 0; i < MLRUN_FINE_CLASSES; i++) {
    const mlrun_fine_count now{load(channel.fine[i].allocs), load(channel.fine[i].frees)};
    mlrun_fine_count& before = last_.fine[i];
    const bool changed = now.allocs != before.allocs || now.frees != before.frees;
    if (!changed && !(in_full_ && now.allocs + now.frees != 0)) continue;
    counted_ += now.allocs - before.allocs + now.frees - before.frees;
    before = now;
    changed_.push_back({mlrun_fine_class_bytes(i), now.allocs, now.frees, 0, 0});
  }
}

void CounterWatch::read_coarse(const mlrun_channel& channel) {
  for (unsigned i = 0; i < MLRUN_COARSE_CLASSES; i++) {
    const mlrun_coarse_count& shared = channel.coarse[i];
    const mlrun_coarse_count now{load(shared.allocs), load(shared.frees), load(shared.alloc_bytes),
                                 load(shared.free_bytes)};
    mlrun_coarse_count& before = last_.coarse[i];
    const bool changed = now.allocs != before.allocs || now.frees != before.frees ||
                         now.alloc_bytes != before.alloc_bytes || now.free_bytes != before.free_bytes;
    if (!changed && !(in_full_ && now.allocs + now.frees != 0)) continue;
    counted_ += now.allocs - before.allocs + now.frees - before.frees;
    before = now;
    changed_.push_back({mlrun_coarse_class_bytes(i), now.allocs, now.frees, now.alloc_bytes, now.free_bytes});
  }
}

void CounterWatch::read_left_out(const mlrun_channel& channel) {
  const mlrun_left_out& shared = channel.left_out;
  const mlrun_left_out now{load(shared.calls), load(shared.bytes_read), load(shared.bytes_written), load(shared.time)};
  left_out_changed_ = now.calls != last_.left_out.calls || (in_full_ && now.calls != 0);
  last_.left_out = now;
}

void CounterWatch::read_drops(const mlrun_channel& channel) {
  drops_changed_ = false;
  for (unsigned reason = 0; reason < MLRUN_DROP_REASONS; reason++) {
    for (unsigned kind = 0; kind < MLRUN_DROPPED_KINDS; kind++) {
      const __u64 now = load(channel.drops[reason][kind]);
      uint64_t& before = last_.drops[reason][kind];
      drops_changed_ = drops_changed_ || now != before || (in_full_ && now != 0);
      before = now;
    }
  }
}

bool CounterWatch::read(const mlrun_channel& channel, uint64_t now_ns, bool in_full) {
  in_full_ = in_full;
  changed_.clear();
  read_drops(channel);
  read_fine(channel);
  read_coarse(channel);
  read_left_out(channel);
  const bool any = drops_changed_ || left_out_changed_ || !changed_.empty();
  pause_ns_ = any ? kShortestPauseNs : std::clamp(pause_ns_ * 2, kShortestPauseNs, kLongestPauseNs);
  next_ns_ = now_ns + pause_ns_;
  return any;
}

}  // namespace mlrun::collect
