// SPDX-License-Identifier: Apache-2.0
// Blames the gaps of all GPUs, window after window of the run, writes the table gpu_idle and adds up for the summary.
// Memory: the calls and sleeps of one window, a quarter of a million where they come evenly.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "runner/idle/gap_finder.h"
#include "runner/idle/idle_table.h"
#include "runner/idle/python_lines.h"
#include "runner/idle/steps.h"
#include "runner/model/trace_info.h"
#include "runner/summary/gpu_idle.h"
#include "runner/util/result.h"

namespace mlrun::idle {

struct IdleOptions {
  // Holds tables/, in which `call` and gpu_api are complete, and `wait` and gpu_file where they are recorded.
  std::string folder;
  int64_t rows = 0;  // of these tables together
  bool calls_recorded = false;
  bool has_kernel_side = false;
  bool sees_sleeps = false;  // the kernel side does, of all threads
  bool has_gpu_file_calls = false;
};

class IdlePass {
 public:
  // Requires: `info` has processes, threads, files and the stacks that `python` names; both outlive this.
  IdlePass(IdleOptions options, const model::TraceInfo& info, const PythonLines& python)
      : options_(std::move(options)), info_(info), python_(python) {}

  // Idle time is handed to `steps` too, which are sorted.
  Status run(GapFinder::Found found, Steps& steps);

  // After run().
  [[nodiscard]] std::vector<summary::GpuIdleSummary> sums() const;
  // What there was no room for.
  [[nodiscard]] std::vector<model::CoverageRow> coverage() const;

 private:
  // GPU, label, thread, file.
  using Key = std::tuple<int32_t, model::IdleLabel, int32_t, int64_t>;
  static void add_unlisted(const std::unordered_map<int32_t, Unlisted>& from, const char* label,
                           std::vector<summary::GpuIdleSummary>& rows);
  [[nodiscard]] int64_t window_ns(const std::vector<Gap>& gaps) const;
  void add(const model::IdleRow& row);
  void find_line(model::IdleRow& row) const;

  IdleOptions options_;
  const model::TraceInfo& info_;
  const PythonLines& python_;
  struct Sum {
    summary::GpuIdleSummary all;
    std::unordered_map<int32_t, int64_t> lines;  // time by frame of Python
    std::map<std::string_view, int64_t> funcs;   // of label kWait: time by call
  };
  std::map<Key, Sum> sums_;
  std::unordered_map<int32_t, Unlisted> unlisted_, beyond_;
  int64_t calls_left_out_ = 0;  // what they cover counts as "cpu"
  int64_t talks_left_out_ = 0, not_taken_back_ = 0;
};

}  // namespace mlrun::idle
