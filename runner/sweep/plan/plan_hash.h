// SPDX-License-Identifier: Apache-2.0
// What identifies a plan: equal hashes mean equal runs, however the file is written.
#pragma once

#include <cstdint>
#include <string>

#include "runner/sweep/plan/plan.h"

namespace mlrun::sweep {

// A UUID of what decides which runs are made and how: all but the text, the question and the margin.
std::string hash_of(const Plan& plan);

// The seed of a plan that names none. Derived from its configurations and workloads alone, so that more repetitions keep the order of the
// earlier ones.
uint64_t seed_of(const Plan& plan);

}  // namespace mlrun::sweep
