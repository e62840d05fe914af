// SPDX-License-Identifier: Apache-2.0
// Simulated sweeps: two configurations, whose truth is known, on machines with different noise.
#pragma once

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "runner/sweep/statistics/statistics.h"

namespace mlrun::sweep {

enum class Noise {
  kNormal,    // σ = 2 %, on logarithms
  kSkewed,    // gamma, shape 1.5, scale 3 %
  kOutliers,  // normal, and one run in ten is slower by an exponential time of 15 % on average
  kDrifting,  // normal σ = 0.5 % on a machine whose speed walks by 0.4 % a run
  kBimodal    // normal, and half of the runs are slower by 10 %
};
constexpr Noise kNoises[] = {Noise::kNormal, Noise::kSkewed, Noise::kOutliers, Noise::kDrifting, Noise::kBimodal};
const char* noise_name(Noise noise);

enum class RunOrder { kBlocks, kSequence };

class Simulation {
 public:
  explicit Simulation(uint64_t seed) : random_(seed) {}

  // The logarithms of the times of `n` runs, one after the other.
  std::vector<double> logarithms(Noise noise, int n);

  // n runs of each of a and b, of 10 s; those of b take longer by `effect`, a fraction.
  std::pair<Series, Series> sweep(Noise noise, int n, double effect, RunOrder order = RunOrder::kBlocks);

  std::mt19937_64& random() { return random_; }

 private:
  double noise_of_one(Noise noise);

  std::mt19937_64 random_;
};

}  // namespace mlrun::sweep
