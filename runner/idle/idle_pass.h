// SPDX-License-Identifier: Apache-2.0
// Finds the causes of the gaps of all GPUs, one window of time after another, writes the table gpu_idle and adds up the
// summary's figures. Memory: the calls and sleeps of one window, about a quarter of a million if evenly distributed.
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
  // Contains tables/, in which `call` and gpu_api are complete, and `wait` and gpu_file if recorded.
  std::string folder;
  int64_t rows = 0;  // of `call`, gpu_api and `wait` together
  bool calls_recorded = false;
  bool has_kernel_side = false;
  bool sees_sleeps = false;  // the kernel side recorded sleeps of all threads
  bool has_gpu_file_calls = false;
};

class IdlePass {
 public:
  // Requires: `info` has processes, threads, files and the stacks that `python` refers to; both outlive this.
  IdlePass(IdleOptions options, const model::TraceInfo& info, const PythonLines& python)
      : options_(std::move(options)), info_(info), python_(python) {}

  // Also passes idle time to `steps`, which must be sorted.
  Status run(GapFinder::Found found, Steps& steps);

  // Requires: run() was called.
  [[nodiscard]] std::vector<summary::GpuIdleSummary> sums() const;
  // Rows about calls, samples and gaps that exceeded the limits.
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
    std::unordered_map<int32_t, int64_t> lines;  // time by Python frame
    std::map<std::string_view, int64_t> funcs;   // label kWait: time by call
  };
  std::map<Key, Sum> sums_;
  std::unordered_map<int32_t, Unlisted> unlisted_, beyond_;
  int64_t calls_left_out_ = 0;  // calls and sleeps beyond the limit of a window: their time counts as "cpu"
  int64_t talks_left_out_ = 0, not_taken_back_ = 0;
};

}  // namespace mlrun::idle
