// SPDX-License-Identifier: Apache-2.0
// The rounds of the sampler's thread: what is sampled in each, and how much of the budget it may take.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "runner/samplers/proc/machine.h"
#include "runner/samplers/proc/task_table.h"
#include "runner/samplers/rounds/sample_budget.h"
#include "runner/samplers/rounds/sampler.h"

namespace mlrun::rounds {

class Round {
 public:
  // To be constructed in the sampler's thread. `is_ending` must outlive this object; when it is set, a round ends early.
  Round(const SamplerOptions& options, const std::atomic<bool>& is_ending);

  void take(const std::vector<collect::WatchedProcess>& processes, bool is_paused);
  void go();
  // Whether the budget is used up.
  [[nodiscard]] bool is_exhausted() const { return budget_.left_ns() <= 0; }
  // When the next round is due. Times are partly random, so that samples do not follow a rhythm of the program.
  uint64_t due_ns();
  // Takes the results so far. `all`: also Python stacks that would otherwise wait until a frame is full or a second has passed.
  Sampler::News results(bool all);
  void finish();
  // The state without `problem` and the counts of rows, which Sampler has.
  [[nodiscard]] SamplerState state() const;

 private:
  // Whether another sample may be taken. `reserve_ns`: part of the budget that is kept for other samples.
  bool may_go(double reserve_ns);
  bool may_sample_others(uint64_t since_cpu_ns);
  void charge();
  void sample_tasks(uint64_t now_ns);
  void sample_machine(uint64_t now_ns);
  uint64_t python_due_ns(uint64_t now_ns);
  // How long to wait before the next round, so that rounds are evenly spaced if the budget is too small for the wanted rate.
  [[nodiscard]] uint64_t pace_ns() const;

  SamplerOptions options_;
  const std::atomic<bool>& is_ending_;
  uint64_t began_ns_, began_cpu_ns_, charged_cpu_ns_;
  double saved_max_ns_;
  SampleBudget budget_;
  proc::TaskTable tasks_;
  python::StackSampler python_;
  std::optional<proc::Machine> machine_;
  std::vector<mlrun_machine_sample> machine_rows_;
  uint64_t next_machine_ns_ = 0, batch_since_ns_;
  uint64_t round_cpu_ns_ = 0;  // the thread's CPU time at the beginning of this round
  uint64_t others_ns_ = 0;     // CPU time in this round for all but threads that drive
  double driving_ns_ = 0;  // CPU time of a round for threads that drive, including waking up: a mean of the last rounds
  uint32_t asked_ = 0;     // calls of may_go() in this part of the round
  bool last_answer_ = true;
  uint64_t beat_ns_ = 0;  // even time near which the next round for Python is placed
  uint64_t random_;
};

}  // namespace mlrun::rounds
