// SPDX-License-Identifier: Apache-2.0
// A plan with a value in each member, and a folder of a test.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "runner/sweep/plan/plan.h"

namespace mlrun::sweep {

inline Plan small_plan() {
  Plan plan;
  Configuration dry, full;
  dry.name = "dry";
  dry.is_dry = true;
  dry.cpus = "0-1";
  dry.cpu_node = "0";
  dry.mem_node = "0";
  dry.cache = Cache::kCold;
  dry.environment = {{"A", "b c"}};
  dry.parameters = {{"workers", "2"}};
  full.name = "full";
  full.options = {"--preload=files", "--stacks"};
  full.cache = Cache::kWarm;
  plan.configurations = {dry, full};
  plan.workloads = {{"cat a", "cat {file}", {{"file", "a"}}}, {"cat b", "cat {file}", {{"file", "b"}}}};
  plan.defaults = {{"size", "1"}};
  plan.repetitions = 3;
  plan.warm_up = 1;
  plan.order = Order::kSequence;
  plan.seed = 7;
  plan.time_limit_ns = 5'000'000'000;
  plan.pause_ns = 10;
  plan.before = {"sync"};
  plan.after = {"sh", "-c", "echo \xff \\x"};
  plan.input = "/dev/zero";
  plan.retries = 2;
  plan.stop = {0.02, 8, 20};
  plan.question = {"wall_s", "io_s"};
  plan.margin = 0.05;
  plan.text = "# text";
  plan.hash = "first";
  return plan;
}

// Every configuration × workload of the plan, block by block.
inline std::vector<PlannedRun> runs_of(const Plan& plan) {
  std::vector<PlannedRun> runs;
  for (int32_t block = 1; block <= plan.repetitions; ++block) {
    for (uint32_t c = 0; c < plan.configurations.size(); ++c) {
      for (uint32_t w = 0; w < plan.workloads.size(); ++w) {
        const auto position = static_cast<int32_t>(runs.size() + 1);
        const std::string name = plan.workloads[w].key.substr(4) + "." + plan.configurations[c].name;
        runs.push_back({block, position, c, w, {"cat", plan.workloads[w].key}, name + "." + std::to_string(block)});
      }
    }
  }
  return runs;
}

class InFolder : public testing::Test {
 protected:
  InFolder() : folder_(testing::TempDir() + "sweep_store_" + std::to_string(::getpid())) {
    std::filesystem::remove_all(folder_);
  }
  ~InFolder() override { std::filesystem::remove_all(folder_); }

  const std::string folder_;
};

}  // namespace mlrun::sweep
