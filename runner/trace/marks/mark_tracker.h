// SPDX-License-Identifier: Apache-2.0
// Marks of programs: joins the recorded beginnings and ends of ranges into rows, in order of time.
//
//   push, pop     nest per thread, NVTX domain and API (NVTX or mlrun_mark.h)
//   start, end    belong to the process, by number
//
// A mark has its number from its beginning, so that GPU work can refer to an open one. CUDA calls pass between the
// marks and get the range they were made in (open_marks.h).
//
// Memory is bounded: the number and bytes of open ranges, and the names with a name_id. Rows without a name_id
// store the name. A structured payload may expand to much text, so its text has a limit, and all texts of a slice too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "runner/model/trace_info.h"
#include "runner/summary/meters/mark_meter.h"
#include "runner/summary/meters/mark_paths.h"
#include "runner/trace/marks/collective_tracker.h"
#include "runner/trace/marks/open_marks.h"
#include "runner/trace/marks/payload_layout.h"
#include "runner/trace/rows/slice_rows.h"
#include "runner/util/flat_map.h"

namespace mlrun::trace {

// Numbers names in order of first use.
class MarkNames {
 public:
  // `names` may have entries; it outlives this.
  explicit MarkNames(std::vector<model::NameRow>& names) : names_(names) {}

  // The name's id; 0: too many names.
  int64_t id_of(const std::string& name);

 private:
  std::vector<model::NameRow>& names_;
  util::FlatMap<int64_t> ids_;  // by content hash
  size_t kept_bytes_ = 0;
};

class MarkTracker {
 public:
  // Requires: info.names has all names that do not come from marks.
  MarkTracker(SpoolIndex& index, model::TraceInfo& info);

  // Marks of logs, which are known in advance: sets their names and numbers. Call first.
  void add_log(std::vector<model::MarkRow>& marks);

  // Fills slice_rows.marks, adds them to the slice's order, and sets the marks of CUDA calls. Requires: slices in order
  // of time; these calls have their threads.
  void apply(SliceRows& slice_rows, summary::MarkMeter& meter);

  // Rows for ranges without an end: they last until their process's last record.
  SliceRows finish(summary::MarkMeter& meter);

  [[nodiscard]] CollectiveTracker& collectives() { return collectives_; }
  // Structured payloads that could not be decoded completely, and gaps of collectives. Requires: all rows were made.
  [[nodiscard]] std::vector<model::CoverageRow> coverage() const;
  [[nodiscard]] MarkNames& names() { return names_; }
  [[nodiscard]] const summary::MarkPaths& paths() const { return paths_; }
  [[nodiscard]] int64_t rows() const { return rows_; }
  [[nodiscard]] uint64_t unmatched_ends() const { return unmatched_ends_; }
  [[nodiscard]] uint64_t ranges_left_out() const { return ranges_left_out_; }

 private:
  struct Open {
    model::Origin origin;
    decode::MarkEvent event;
    std::string text;
    std::string structure;
    int64_t name_id = 0;
    OpenMark mark;
    [[nodiscard]] size_t bytes() const { return text.size() + structure.size(); }
  };
  std::vector<PayloadValue> structure_of(const Open& range);
  std::string structure_text(const std::vector<PayloadValue>& values);
  void take_payload(Open& range, const MarkMoment& end);
  void note_unknown(uint64_t id);
  const PayloadLayout* layout_of(uint64_t id);
  static bool is_of_process(const Open& range);
  static bool counts_for_process(const Open& range);
  std::string domain_of(const decode::MarkEvent& event);
  void open(Open& range);
  bool join(MarkMoment& moment, SliceRows& slice_rows, summary::MarkMeter& meter);
  void begin(std::vector<Open>& ranges, MarkMoment& moment);
  bool end(uint64_t key, const MarkMoment& moment, SliceRows& slice_rows, summary::MarkMeter& meter);
  void add_row(const Open& range, int64_t end_ns, bool is_open, SliceRows& slice_rows, summary::MarkMeter& meter);

  SpoolIndex& index_;
  const model::TraceInfo& info_;
  MarkNames names_;
  bool has_gpu_work_;
  summary::MarkPaths paths_;
  OpenMarks open_marks_;
  int64_t calls_of_unknown_range_ = 0;
  int64_t last_mark_id_ = 0;
  std::unordered_map<uint64_t, std::vector<Open>> open_;  // by thread and domain, or by process and number
  size_t open_count_ = 0, open_bytes_ = 0;
  int64_t rows_ = 0;
  uint64_t unmatched_ends_ = 0, ranges_left_out_ = 0;
  std::unordered_map<uint64_t, std::optional<PayloadLayout>> layouts_;  // by string id
  size_t value_bytes_ = 0;                                              // of the structured payloads in this slice
  int64_t cut_domains_ = 0;
  struct {
    int64_t unknown = 0, refused = 0, partial = 0, cut = 0;
  } structures_;  // payloads that are not shown in full
  CollectiveTracker collectives_;
};

}  // namespace mlrun::trace
