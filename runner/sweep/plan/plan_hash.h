// SPDX-License-Identifier: Apache-2.0
// What identifies a plan: equal hashes mean equal runs, however the file is written.
#pragma once

#include <cstdint>
#include <string>

#include "runner/sweep/plan/plan.h"

namespace mlrun::sweep {

// A UUID of what decides which runs are made and how, but not of the file's text and folder, nor of question and margin, which only affect the
// verdicts. With a stop rule the question's first figure counts: it decides how many runs are made.
std::string hash_of(const Plan& plan);

// The seed of a plan that names none. Derived from its configurations and workloads alone, so that more repetitions keep the order of the
// earlier ones.
uint64_t seed_of(const Plan& plan);

}  // namespace mlrun::sweep
