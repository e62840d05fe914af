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
  // To be made in the sampler's thread. `is_ending` outlives it: samples in progress end early.
  Round(const SamplerOptions& options, const std::atomic<bool>& is_ending);

  void take(const std::vector<collect::WatchedProcess>& processes);
  void go();
  // Nothing more may be done before the next round is due.
  [[nodiscard]] bool is_exhausted() const { return budget_.left_ns() <= 0; }
  // When the next round is due, at moments that no program's own rhythm can follow.
  uint64_t due_ns();
  // What there is so far, in the form in which it is fetched; `all`: also what would wait for more.
  Sampler::News results(bool all);
  void finish();
  // Without what was dropped.
  [[nodiscard]] SamplerState state() const;

 private:
  // A part of the budget that is kept for others.
  bool may_go(double reserve_ns);
  bool may_sample_others(uint64_t since_cpu_ns);
  void charge();
  void sample_tasks(uint64_t now_ns);
  void sample_machine(uint64_t now_ns);
  uint64_t python_due_ns(uint64_t now_ns);
  // How long the next round should wait, so that rounds are spread evenly if there cannot be as many as asked for.
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
  uint64_t round_cpu_ns_ = 0;  // at the beginning of this round
  uint64_t others_ns_ = 0;     // of it, not for the threads that drive
  double driving_ns_ = 0;      // what a round takes for those, waking up included: a mean of the last ones
  uint32_t asked_ = 0;         // of may_go(), in this round
  bool last_answer_ = true;
  uint64_t beat_ns_ = 0;  // about which the next round for Python is placed
  uint64_t random_;
};

}  // namespace mlrun::rounds
