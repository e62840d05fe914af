// SPDX-License-Identifier: Apache-2.0
// GPU idle time by steps of the program. A step is a range (mark) with the name of a step, as "step 12", "train_step",
// "ProfilerStep#3", "iteration" or "batch". A piece of a gap belongs to the step that the launching thread was in; if this
// thread has no steps (that of autograd), to a step that belongs to its process, else to a step of the main thread. Of nested
// steps only the outermost counts; of two that overlap partly, the later one begins where the first one ends. Memory:
// kStepsMax steps; further steps are only counted.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "runner/idle/gap_finder.h"
#include "runner/model/gpu_idle.h"
#include "runner/model/run.h"
#include "runner/model/trace_info.h"

namespace mlrun::idle {

inline constexpr size_t kStepsMax = size_t{1} << 20, kWorstSteps = 100;

class Steps {
 public:
  // Requires: `info` outlives this.
  explicit Steps(const model::TraceInfo& info) : info_(info) {}

  // Accepts any range and ignores those that are no step. The name of a range is in info.names, or in the row.
  void add(const model::MarkRow& range);
  // Call between the last add() and the first add_idle().
  void sort();

  void add_idle(const model::IdleRow& row);
  // The idle time of the GPU is incomplete from `ns` on: steps that end later are omitted.
  void end_at(int32_t gpu_id, int64_t ns);

  // For each GPU, figures about the steps of the threads that launch on it; and the kWorstSteps steps with the most idle
  // time. null if there are no steps. Keys: runner/summary/SUMMARY_JSON.md, gpu_steps.
  [[nodiscard]] nlohmann::json describe() const;

 private:
  struct Step : Stretch {
    int32_t thread_id = 0, proc_id = 0;
    int64_t name_id = 0;
    std::string name;  // empty if it has a name_id
  };
  struct Blamed {
    model::IdleLabel label = model::IdleLabel::kUnknown;
    int32_t thread_id = 0;
    int64_t file_id = 0, ns = 0;
  };
  struct Idle {
    std::array<int64_t, model::kIdleLabelNames.size()> labels{};
    std::vector<Blamed> blamed;  // at most kBlamedMax; later ones count only in `labels`
    [[nodiscard]] int64_t all() const;
  };
  using List = std::vector<Step>;
  bool is_step(const model::MarkRow& range);
  const List* list_of(int32_t thread_id);
  [[nodiscard]] bool is_whole(int32_t gpu_id, const Step& step) const;
  [[nodiscard]] int64_t count_left_out() const;
  [[nodiscard]] std::vector<model::GpuSteps::Device> devices() const;
  [[nodiscard]] model::GpuSteps::Step describe(const Step& step, const Idle& idle) const;
  static void blame(Idle& idle, const model::IdleRow& row, int64_t ns);

  const model::TraceInfo& info_;
  std::vector<int8_t> by_name_;  // by name_id; 0: not checked yet, 1: a step, -1: not a step
  size_t count_ = 0;
  int64_t left_out_ = 0;
  std::unordered_map<int32_t, List> of_thread_, of_process_;                // by start, disjoint
  std::unordered_map<int32_t, const List*> chosen_;                         // the list that list_of() found, by thread
  std::unordered_map<int32_t, int64_t> ends_;                               // end_at(), by GPU
  std::map<std::pair<int32_t, const List*>, std::map<size_t, Idle>> idle_;  // by GPU and list, then by index in it
};

}  // namespace mlrun::idle
