// SPDX-License-Identifier: Apache-2.0
// The channels of an arena: found in descriptor segments, announced with a frame before their first data, watched until
// their thread has ended and its records are drained, then freed for other threads.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runner/collect/channel.h"
#include "runner/collect/mapped_arena.h"
#include "runner/collect/pass.h"
#include "runner/collect/process_watch.h"
#include "runner/collect/spool_writer.h"

namespace mlrun::collect {

struct ChannelStatistics {
  uint64_t channels = 0;  // in total
  uint64_t counted = 0;   // events counted instead of recorded; of channels that ended
  uint64_t drops = 0;     // of channels that ended
};

class ThreadChannels {
 public:
  ThreadChannels(const Arena& arena, Spool& spool, ProcessWatch& processes);

  // Reads all descriptors: announces new channels, notes ended threads. To be called before any segment is read.
  void begin_pass(const Pass& pass);

  // Adds a segment that contains descriptors according to its owner word.
  void add_descriptors(uint32_t segment);

  // The channel of a descriptor id in an owner word; announces a new one. null: none (yet).
  Channel* find(uint32_t descriptor_id, const Pass& pass);

  // Writes counters that changed; frees the descriptors of dead channels that own no segment.
  void end_pass(const Pass& pass);

  // Writes the counters of all channels, and for each whose thread is alive a gap: its recording was cut off. Returns
  // the number of these. `cut_off` false: no gaps.
  uint32_t finish(const Pass& pass, bool cut_off);

  [[nodiscard]] uint32_t live() const;
  [[nodiscard]] const ChannelStatistics& statistics() const { return statistics_; }

 private:
  struct Descriptors {
    uint32_t segment = 0;
    std::unique_ptr<Channel> slots[MLRUN_CHANNELS_PER_SEGMENT];
  };
  Channel* channel_at(Descriptors& descriptors, uint32_t slot, const Pass& pass);
  void announce(Channel& channel, const Pass& pass);
  void describe(Channel& channel, const Pass& pass, uint64_t start_ticks);
  void write_counters(Channel& channel, const Pass& pass, bool final);
  void write_left_out(Channel& channel, const Pass& pass);
  void write_drops(Channel& channel, const Pass& pass);
  bool is_gone(Channel& channel, uint64_t now_ns) const;
  void free_descriptor(std::unique_ptr<Channel>& channel);

  const Arena& arena_;
  Spool& spool_;
  ProcessWatch& processes_;
  std::vector<std::unique_ptr<Descriptors>> by_segment_;
  std::vector<Descriptors*> known_;
  ChannelStatistics statistics_;
  uint32_t stretches_begun_ = 0;  // as of the last pass, with --last
  bool in_full_ = false;          // counters are written in full: earlier frames may have been freed
};

}  // namespace mlrun::collect
