// SPDX-License-Identifier: Apache-2.0
// Samples accesses to memory by the chosen rungs, one after another, in a thread of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runner/model/run.h"
#include "runner/samplers/access/ladder.h"

namespace mlrun::access {

struct AccessState {
  std::vector<model::MemoryAccess::Rung> rungs;
  uint64_t rows = 0, rows_dropped = 0;
  uint64_t cpu_ns = 0;  // CPU time of the thread
  std::string problem;  // why there are no rows, or none after some time; empty: no problem
};

class AccessSampler {
 public:
  explicit AccessSampler(std::vector<ChosenRung> rungs);
  // Waits up to a second for the last sample.
  ~AccessSampler();
  AccessSampler(const AccessSampler&) = delete;
  AccessSampler& operator=(const AccessSampler&) = delete;

  // To be called when the command's process exists but has not executed the program. Drops the rungs that fail, and returns them.
  std::vector<TriedRung> attach(pid_t command);
  // Starts the thread.
  void start();
  void watch(std::vector<uint32_t> host_pids);
  void stop();
  // The rows since the last call.
  Rows fetch();
  [[nodiscard]] AccessState state() const;

 private:
  struct Shared;
  static void sample(Shared& shared);

  std::shared_ptr<Shared> shared_;  // shared with the thread, which may outlive this
};

}  // namespace mlrun::access
