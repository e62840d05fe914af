// SPDX-License-Identifier: Apache-2.0
// One pass over the arena moves what every thread recorded since the last pass into the spool. The caller decides when
// (pace.h).
//
// For an idle thread a pass reads two cache lines: the first of its descriptor and the one of its next record.
#pragma once

#include <cstdint>
#include <vector>

#include "runner/collect/mapped_arena.h"
#include "runner/collect/process_watch.h"
#include "runner/collect/segment_drain.h"
#include "runner/collect/segment_pool.h"
#include "runner/collect/spool_writer.h"
#include "runner/collect/thread_channels.h"

namespace mlrun::collect {

struct CollectorStatistics {
  uint64_t passes = 0;
  uint32_t peak_segments = 0;
  uint32_t cut_off_threads = 0;
};

// The latest pause of recording (`mlrun pause`), CLOCK_MONOTONIC. All zero: there was none.
struct LatestPause {
  static constexpr uint64_t kGoesOn = UINT64_MAX;
  uint64_t begin_ns = 0, end_ns = 0;  // end_ns: kGoesOn until it is resumed
  [[nodiscard]] bool goes_on() const { return end_ns == kGoesOn; }
  [[nodiscard]] bool overlaps(uint64_t from_ns, uint64_t to_ns) const { return to_ns >= begin_ns && from_ns <= end_ns; }
};

class Collector {
 public:
  Collector(Arena& arena, Spool& spool);

  // Resumes where a dead collector stopped. `clock_before`: the clock in that collector's last frame.
  Collector(Arena& arena, Spool& spool, ChannelClock clock, uint64_t clock_before);

  // Lets producers record.
  void start();

  // Returns the number of freed segments.
  uint32_t pass();

  // Records as a gap that no collector ran from `since_ns` until now.
  void record_outage(uint64_t since_ns);

  // Stops recording; threads that wait for a free segment continue without recording.
  void stop();

  // Stops recording and drains the remaining records. `cut_off` true: threads still alive are reported as cut off.
  void finish(bool cut_off);

  // The processes that record now.
  [[nodiscard]] std::vector<WatchedProcess> processes() const { return processes_.processes(); }
  [[nodiscard]] const LatestPause& latest_pause() const { return pause_; }
  [[nodiscard]] uint32_t live_threads() const { return channels_.live(); }
  [[nodiscard]] const SegmentPool& pool() const { return pool_; }
  [[nodiscard]] const CollectorStatistics& statistics() const { return statistics_; }
  [[nodiscard]] const DrainStatistics& drained() const { return drain_.statistics(); }
  [[nodiscard]] const ChannelStatistics& channels() const { return channels_.statistics(); }

 private:
  struct Owned {
    uint64_t header_clock;
    uint32_t segment;
    Channel* channel;
  };
  Pass drain_all(bool last);
  void find_owned(const Pass& pass);
  void note_pause(uint64_t now_ns);
  void note_full_spool(uint64_t now_ns);
  void do_timed_work(uint64_t now_ns);
  void put_gap(mlrun_gap_reason reason, uint64_t first_ns, uint64_t last_ns, uint64_t count = 0);

  Arena& arena_;
  Spool& spool_;
  ChannelClock clock_;
  SegmentPool pool_;
  ProcessWatch processes_;
  ThreadChannels channels_;
  SegmentDrain drain_;
  std::vector<Owned> owned_;
  CollectorStatistics statistics_;
  uint64_t clock_before_;
  LatestPause pause_;
  uint64_t next_anchor_ns_ = 0;
  uint64_t next_flush_ns_ = 0;
  bool is_full_recorded_ = false;
};

}  // namespace mlrun::collect
