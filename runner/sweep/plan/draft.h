// SPDX-License-Identifier: Apache-2.0
// A plan as it was read, with the place of each value, before it is checked as a whole.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runner/sweep/plan/faults.h"
#include "runner/sweep/plan/plan.h"
#include "runner/util/result.h"

namespace mlrun::sweep {

inline constexpr int32_t kRepetitionsMax = 100'000;
inline constexpr int32_t kFewestForStop = 8;  // tested after fewer runs, an interval is too narrow

struct WorkloadDraft {
  std::string text;
  Words words;
  Place place;
};

struct ParameterDraft {
  std::string name;
  std::vector<std::string> values;
  Place place;
};

struct ConfigurationDraft {
  Configuration values;
  Place place;                          // of the configuration
  std::map<std::string, Place> places;  // of its values, by key

  [[nodiscard]] Place place_of(const std::string& key) const {
    const auto found = places.find(key);
    return found == places.end() ? place : found->second;
  }
};

struct Draft {
  RunsOn runs_on = RunsOn::kThisMachine;
  Plan plan;  // without configurations and workloads
  std::vector<ConfigurationDraft> configurations;
  std::vector<WorkloadDraft> workloads;
  std::vector<ParameterDraft> parameters;
  std::map<std::string, Place> places;  // of the plan's own values, by key
  Faults faults;
};

// Checks everything that needs more than one value or the machine, and expands the workloads.
Result<Plan> finish(Draft draft);

}  // namespace mlrun::sweep
