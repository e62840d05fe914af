// SPDX-License-Identifier: Apache-2.0
// --summary-only: adds up the collector's events. Definitions (names, files, processes, threads) go into the spool,
// once and within a bound. The sums are in memory; they are written to sums.bin every ten seconds and at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "runner/collect/event_sink.h"
#include "runner/model/rows.h"
#include "runner/summary/meters/timeline.h"
#include "runner/sums/cell_table.h"
#include "runner/sums/definitions.h"
#include "runner/sums/heap_watch.h"
#include "runner/sums/log_lines.h"
#include "runner/sums/stretches.h"
#include "runner/sums/sums_clock.h"
#include "runner/sums/thread_totals.h"
#include "runner/trace/files/mapped_files.h"

namespace mlrun::sums {

struct EventSumsOptions {
  std::string path;  // of sums.bin
  mlrun_clock_kind clock_kind = MLRUN_CLOCK_TSC;
  std::vector<std::string> mllog;
  int64_t alloc_min_bytes = 1024;
  uint64_t max_spool_bytes = UINT64_MAX;
  bool alloc_times = false;  // --alloc-dur: durations of frees are recorded
};

class EventSums final : public collect::EventSink {
 public:
  explicit EventSums(const EventSumsOptions& options);

  void take_records(const mlrun_frame& header, const char* payload, uint32_t bytes, std::vector<char>& kept) override;
  [[nodiscard]] bool take_report(const mlrun_frame& header, const char* payload, uint32_t bytes) override;
  [[nodiscard]] uint64_t records() const override { return records_; }
  void end_pass(uint64_t now_ns, uint64_t clock) override;
  Status save() override;

 private:
  struct Report {
    mlrun_frame header{};
    std::string text;
  };
  // A free whose duration (--alloc-dur) comes in a later record.
  struct OpenFree {
    uint64_t start = 0;
    CellKey key;
  };
  // The thread whose records are being added.
  struct Source {
    uint64_t channel = 0;  // the channel that represents its process in the sums
    uint32_t process = 0;
    bool shown = false;                           // the spool has the frame that describes the thread's channel
    std::vector<OpenFree>* open_frees = nullptr;  // in order of time; null: durations of frees are not recorded
  };
  void poll_log();
  void add_call(const decode::RecordView& record, const Source& source, std::vector<char>& kept);
  void follow_mapping(decode::CallEvent& call, const Source& source);
  void meet(const decode::ProcessEvent& process);
  void add_alloc(const decode::RecordView& record, const Source& source);
  void add_free_time(const decode::RecordView& record, const Source& source);
  void add_to_stretch(const Source& source, uint32_t stretch, const decode::CallEvent& call, const model::CallRow& row,
                      bool reads, bool writes);
  bool take_channel(const mlrun_frame& header, const char* payload, uint32_t bytes);
  void take_counters(const mlrun_frame& header, const char* payload, uint32_t bytes);
  bool take_process(const mlrun_frame& header, const char* payload, uint32_t bytes);

  [[nodiscard]] std::string text();
  void write_state(std::string& text) const;
  void write_timeline(std::string& text) const;
  void write_same_files(std::string& text) const;
  void write_sums(std::string& text) const;

  EventSumsOptions options_;
  SumsClock clock_;
  LogLines log_;
  Definitions definitions_;
  ThreadTotals threads_;
  CellTable cells_;
  Stretches stretches_;
  summary::Timeline timeline_{0};
  HeapWatch heaps_;
  trace::MappedFiles mapped_;                                       // by process number
  std::unordered_map<uint32_t, uint32_t> process_of_pid_;           // process number of the last process with a pid
  std::unordered_map<uint32_t, Report> io_;                         // last report of I/O counts, by process number
  std::unordered_map<uint64_t, std::vector<OpenFree>> open_frees_;  // by channel, of live threads
  uint64_t records_ = 0, saved_records_ = 0, last_ns_ = 0;
  uint64_t next_save_ns_ = 0, save_pause_ns_ = 1'000'000'000;  // doubles, up to ten seconds
  struct {
    uint64_t late_marks = 0, late_ns = 0, threads = 0, reports = 0;
  } left_out_;
  size_t threads_shown_ = 0;
};

}  // namespace mlrun::sums
