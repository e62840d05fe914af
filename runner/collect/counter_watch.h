// SPDX-License-Identifier: Apache-2.0
// Counters of one channel, and which of them changed since they were last written to the spool.
#pragma once

#include <cstdint>
#include <vector>

#include "runner/events/arena.h"
#include "runner/events/spool.h"
#include "runner/util/drop_counts.h"

namespace mlrun::collect {

class CounterWatch {
 public:
  // A check is due 100 ms after one that found a change; the pause doubles, up to 1.6 s, while nothing changes.
  [[nodiscard]] bool due(uint64_t now_ns) const { return now_ns >= next_ns_; }

  // Copies the counters. True when any allocation size class, drop count or sum of excluded calls changed since the last
  // copy; changed() then lists the changed classes. `in_full`: changed() lists all classes ever used.
  bool read(const mlrun_channel& channel, uint64_t now_ns, bool in_full = false);

  [[nodiscard]] const std::vector<mlrun_counter_entry>& changed() const { return changed_; }
  [[nodiscard]] const util::DropCounts& drops() const { return last_.drops; }
  [[nodiscard]] bool drops_changed() const { return drops_changed_; }
  [[nodiscard]] const mlrun_left_out& left_out() const { return last_.left_out; }
  [[nodiscard]] bool left_out_changed() const { return left_out_changed_; }

  // Events counted instead of recorded, so far.
  [[nodiscard]] uint64_t counted() const { return counted_; }

 private:
  struct Snapshot {
    util::DropCounts drops;
    mlrun_left_out left_out;
    mlrun_fine_count fine[MLRUN_FINE_CLASSES];
    mlrun_coarse_count coarse[MLRUN_COARSE_CLASSES];
  };
  void read_drops(const mlrun_channel& channel);
  void read_fine(const mlrun_channel& channel);
  void read_coarse(const mlrun_channel& channel);
  void read_left_out(const mlrun_channel& channel);

  Snapshot last_{};
  std::vector<mlrun_counter_entry> changed_;
  bool left_out_changed_ = false, drops_changed_ = false;
  bool in_full_ = false;
  uint64_t counted_ = 0;
  uint64_t next_ns_ = 0;
  uint64_t pause_ns_ = 0;
};

}  // namespace mlrun::collect
