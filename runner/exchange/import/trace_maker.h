// SPDX-License-Identifier: Apache-2.0
// Makes a trace of the rows that readers add in any order: sorted tables, a summary and run.json, as after a merge. The tables
// grow in TRACE/merging; without finish() nothing remains. Memory: kRowBytes for each table that has rows, and names.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runner/exchange/import/file_account.h"
#include "runner/exchange/import/identities.h"
#include "runner/model/gpu_rows.h"
#include "runner/model/imported_rows.h"
#include "runner/model/torch_memory.h"
#include "runner/model/trace_info.h"
#include "runner/trace/merge/progress.h"
#include "runner/util/result.h"

namespace mlrun::summary {
class Builder;
}

namespace mlrun::exchange {

class TraceMaker {
 public:
  // `folder` exists and is empty.
  static Result<std::unique_ptr<TraceMaker>> create(const std::string& folder, bool shows_progress);
  ~TraceMaker();
  TraceMaker(const TraceMaker&) = delete;
  TraceMaker& operator=(const TraceMaker&) = delete;

  // Begins a file, whose rows follow. Returns its account.
  FileAccount& begin_file(const std::string& path, const std::string& format);
  [[nodiscard]] FileAccount& file() { return *files_.back(); }
  [[nodiscard]] Identities& ids() { return ids_; }
  [[nodiscard]] model::TraceInfo& info() { return info_; }
  [[nodiscard]] trace::Progress& progress() { return progress_; }
  [[nodiscard]] std::string staging() const;
  [[nodiscard]] size_t files() const { return files_.size(); }
  // The earliest moment of all rows so far; INT64_MAX: no row has one.
  [[nodiscard]] int64_t first_ns() const { return first_ns_; }

  // These functions copy texts, and count one event as kept, or `of_events`. If several events make a row, the caller counts the others.
  Status add(const model::SliceRow& row);
  Status add(const model::FlowRow& row, int64_t of_events = 1);
  Status add(const model::CounterRow& row, int64_t of_events);
  Status add(const model::StackSampleRow& row);
  Status add(const model::OtherEventRow& row, int64_t of_events = 1);
  Status add(const model::CallRow& row);
  // `name`: of a kernel or call. Work on a device gets the thread of the call with the same correlation and the same `join`.
  Status add(const model::GpuWorkRow& row, std::string_view name, uint32_t join);
  Status add(const model::MarkRow& row);
  Status add(const model::TorchMemoryRow& row);
  Status add_block(int64_t dev, const model::Origin& origin, int64_t end_ns, int64_t sector, int64_t bytes,
                   bool is_write);

  // The stack_id for these frames, innermost first; 0: there are no frames, or too many stacks or different frames in the trace.
  int32_t stack(const std::vector<model::FrameRow>& frames);
  uint32_t library(const std::string& path);
  // The number of a stack that settle_stack() describes before finish(): `stack_id` of a slice, stack_sample or import_event.
  int32_t later_stack();
  void settle_stack(int32_t later, int32_t stack_id) { later_stacks_[static_cast<size_t>(-1 - later)] = stack_id; }

  template <typename Visit>
  void for_each_file(Visit visit) const {
    for (const auto& file : files_) visit(*file);
  }

  // Writes everything. `command`: for run.json.
  Status finish(const std::vector<std::string>& command);

 private:
  struct Rows;
  explicit TraceMaker(bool shows_progress);
  void count(const char* table, const model::Origin& origin, int64_t end_ns, int64_t of_events = 1);
  [[nodiscard]] Status settle_clocks();
  void fill_run(const std::vector<std::string>& command);
  // 0 and a remark in the file's account: there are too many names.
  int64_t name_id(std::string_view name);
  [[nodiscard]] int32_t settled(int32_t stack_id) const {
    return stack_id < 0 ? later_stacks_[static_cast<size_t>(-1 - stack_id)] : stack_id;
  }
  Status write_calls();
  Status write_gpu();
  Status write_marks();
  Status write_tables();

  model::TraceInfo info_;
  Identities ids_{info_};
  trace::Progress progress_;
  std::vector<std::unique_ptr<FileAccount>> files_;
  std::unique_ptr<Rows> rows_;
  std::unique_ptr<summary::Builder> builder_;
  std::unordered_map<std::string, uint32_t> libraries_;
  std::unordered_map<std::string, int32_t> frames_, stacks_;
  std::vector<int32_t> later_stacks_;
  int64_t first_ns_ = INT64_MAX, last_ns_ = INT64_MIN;
};

}  // namespace mlrun::exchange
