// SPDX-License-Identifier: Apache-2.0
// Reads sums.bin of a run with --summary-only. Requires: the spool was read, which defines the names and numbers that
// the sums refer to.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "runner/model/trace_info.h"
#include "runner/summary/meters/builder.h"
#include "runner/trace/index/spool_index.h"
#include "runner/trace/marks/log_writes.h"
#include "runner/trace/rows/counter_tracker.h"
#include "runner/trace/spool/sum_cursor.h"

namespace mlrun::trace {

// The bucket of sizes with `width` significant bits; 63 also has the larger ones.
model::SumBucket size_bucket_of_width(uint64_t width);

// Divides the run into stretches at the bounds of the MLLOG intervals, as the collector found them during the run.
class StretchTimes {
 public:
  void set(std::vector<mlrun_stretch> bounds);

  // A time within the stretch; 0: unknown.
  [[nodiscard]] int64_t moment_in(uint32_t stretch) const;
  [[nodiscard]] uint32_t at(int64_t ts_ns) const;

 private:
  std::vector<mlrun_stretch> bounds_;
  std::unordered_map<uint64_t, int64_t> moments_;
};

class SumsFile {
 public:
  explicit SumsFile(SpoolIndex& index) : index_(index) {}

  // A missing file means no sums.
  Status read(const std::string& path);

  [[nodiscard]] const mlrun_frame_sums_state& state() const { return state_; }
  [[nodiscard]] const StretchTimes& stretches() const { return stretches_; }
  [[nodiscard]] std::vector<model::SumRow>& rows() { return rows_; }

  // Passes rows(), and data that makes no rows (totals per stretch, timeline, heaps, counters, writes to the log), to the
  // summary and the trackers.
  void feed(summary::Builder& builder, CounterTracker& counters, LogWrites& log_writes) const;

 private:
  struct StretchTotals {
    int32_t proc_id = 0;
    uint32_t stretch = 0;
    summary::Totals totals;
  };
  struct Heap {
    int32_t proc_id = 0;
    summary::HeapSum sum;
  };
  struct Counted {
    uint64_t serial = 0;
    mlrun_counter_entry entry{};
  };
  void take(const SpoolFrame& frame);
  void take_state(const SpoolFrame& frame);
  void take_sums(const SpoolFrame& frame);
  void take_timeline(const SpoolFrame& frame);
  void take_heap(const SpoolFrame& frame);
  void take_counters(const SpoolFrame& frame);
  void add(const SumCursor& cursor, const Channel& channel);
  bool fill_call(const decode::RecordView& record, const Channel& channel, model::SumRow& row);
  bool fill_alloc(const decode::RecordView& record, const Channel& channel, model::SumRow& row);
  void fill_measures(const SumCursor& cursor, const Channel& channel, model::SumRow& row);
  [[nodiscard]] Site site_of(uint32_t process, uint64_t site, int32_t* stack_id) const;

  SpoolIndex& index_;
  TraceClock::Hint hint_;
  mlrun_frame_sums_state state_{};
  StretchTimes stretches_;
  std::vector<mlrun_log_write> log_writes_;
  std::vector<model::SumRow> rows_;
  std::vector<StretchTotals> totals_;
  std::vector<Heap> heaps_;
  std::vector<Counted> counted_;
  int64_t timeline_start_ns_ = 0, bin_ns_ = 0;
  std::vector<summary::TimeBin> bins_;
};

}  // namespace mlrun::trace
