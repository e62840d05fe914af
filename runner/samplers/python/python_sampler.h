// SPDX-License-Identifier: Apache-2.0
// Samples the Python stacks of recording processes at a steady rate in a thread of its own. Takes at most kShareMax of
// a CPU: samples beyond that are skipped and counted. Payloads of spool frames are buffered here until the collector
// fetches them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runner/collect/process_watch.h"

namespace mlrun::python {

inline constexpr double kShareMax = 0.02;

// The reason why processes have no stacks.
struct PythonProblem {
  std::string text;
  std::vector<uint32_t> processes;  // their numbers
};

struct PythonSamplerState {
  uint64_t looks = 0;
  uint64_t looks_left_out = 0;  // skipped because of kShareMax
  uint64_t samples = 0;
  uint64_t discarded = 0;  // stacks that changed during every attempt to read them
  uint64_t rows_dropped = 0;
  uint64_t cpu_ns = 0;
  std::vector<PythonProblem> problems;
  std::string problem;  // why there are no samples at all; empty: none
};

class PythonSampler {
 public:
  // Starts the thread. All signals are blocked in it.
  explicit PythonSampler(double looks_per_second);
  // Waits up to a second for a sample in progress.
  ~PythonSampler();
  PythonSampler(const PythonSampler&) = delete;
  PythonSampler& operator=(const PythonSampler&) = delete;

  // Sets the processes to sample.
  void watch(std::vector<collect::WatchedProcess> processes);

  // Ends the sampling.
  void stop();

  // New payloads since the last call.
  std::vector<std::string> fetch();
  [[nodiscard]] PythonSamplerState state() const;

 private:
  struct Shared;
  class Looker;
  static void run(const std::shared_ptr<Shared>& shared);

  std::shared_ptr<Shared> shared_;  // shared with the thread, which may outlive this
};

}  // namespace mlrun::python
