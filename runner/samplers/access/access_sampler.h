// SPDX-License-Identifier: Apache-2.0
// Runs the chosen rungs in a thread of its own, one after another.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runner/samplers/access/ladder.h"

namespace mlrun::access {

struct AccessState {
  struct OfRung {
    mlrun_access_rung rung;
    RungFacts facts;
  };
  std::vector<OfRung> rungs;
  uint64_t rows = 0, rows_dropped = 0;
  uint64_t cpu_ns = 0;  // of the thread
  std::string problem;  // why there is nothing, or nothing from some moment on; empty: none
};

class AccessSampler {
 public:
  explicit AccessSampler(std::vector<ChosenRung> rungs);
  // Waits up to a second for the last sample.
  ~AccessSampler();
  AccessSampler(const AccessSampler&) = delete;
  AccessSampler& operator=(const AccessSampler&) = delete;

  // The command has been created and has not begun. Rungs that fail are left out; returns what failed, one line each.
  std::vector<std::string> attach(pid_t command);
  // Starts the thread.
  void start();
  void watch(std::vector<uint32_t> host_pids);
  void stop();
  // The rows since the last call.
  Rows fetch();
  [[nodiscard]] AccessState state() const;

 private:
  struct Shared;
  static void run(const std::shared_ptr<Shared>& shared);
  static void sample(Shared& shared);

  std::shared_ptr<Shared> shared_;  // shared with the thread, which may outlive this
};

}  // namespace mlrun::access
