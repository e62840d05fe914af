// SPDX-License-Identifier: Apache-2.0
// Looks at the Python stacks of the processes that record, at a steady rate, from a thread of its own. It takes
// kShareMax of a processor at most: looks that would take more are left out, and counted. Payloads of frames wait here
// until the collector fetches them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runner/collect/process_watch.h"

namespace mlrun::python {

inline constexpr double kShareMax = 0.02;

// Why processes have no stacks.
struct PythonProblem {
  std::string text;
  std::vector<uint32_t> processes;  // their numbers
};

struct PythonSamplerState {
  uint64_t looks = 0;
  uint64_t looks_left_out = 0;  // they would have taken more than kShareMax
  uint64_t samples = 0;
  uint64_t discarded = 0;  // stacks that changed while they were read, each time that was tried
  uint64_t rows_dropped = 0;
  uint64_t cpu_ns = 0;
  std::vector<PythonProblem> problems;
  std::string problem;  // no looks at all; empty: there are
};

class PythonSampler {
 public:
  // Starts the thread. All signals are blocked in it.
  explicit PythonSampler(double looks_per_second);
  // Waits up to a second for a look that is under way.
  ~PythonSampler();
  PythonSampler(const PythonSampler&) = delete;
  PythonSampler& operator=(const PythonSampler&) = delete;

  // Who is looked at from now on.
  void watch(std::vector<collect::WatchedProcess> processes);

  // Ends the looks.
  void stop();

  // Payloads that have come since the last call.
  std::vector<std::string> fetch();
  [[nodiscard]] PythonSamplerState state() const;

 private:
  struct Shared;
  class Looker;
  static void run(const std::shared_ptr<Shared>& shared);

  std::shared_ptr<Shared> shared_;  // also the thread's, which may outlive this
};

}  // namespace mlrun::python
