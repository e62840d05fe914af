// SPDX-License-Identifier: Apache-2.0
#include "tests/runner/sweep/statistics/simulation.h"

#include <cmath>

namespace mlrun::sweep {

const char* noise_name(Noise noise) {
  switch (noise) {
    case Noise::kNormal: return "normal";
    case Noise::kSkewed: return "skewed";
    case Noise::kOutliers: return "outliers";
    case Noise::kDrifting: return "drifting";
    case Noise::kBimodal: return "bimodal";
  }
  return "";
}

double Simulation::noise_of_one(Noise noise) {
  const double normal = std::normal_distribution<>(0, 0.02)(random_);
  const auto happens = [&](double probability) { return std::uniform_real_distribution<>()(random_) < probability; };
  switch (noise) {
    case Noise::kNormal: return normal;
    case Noise::kSkewed: return std::gamma_distribution<>(1.5, 0.03)(random_);
    case Noise::kOutliers: return normal + (happens(0.1) ? std::exponential_distribution<>(1 / 0.15)(random_) : 0);
    case Noise::kDrifting: return normal / 4;
    case Noise::kBimodal: return normal + (happens(0.5) ? 0.1 : 0);
  }
  return 0;
}

std::vector<double> Simulation::logarithms(Noise noise, int n) {
  std::vector<double> values;
  double speed = 0;
  for (int i = 0; i < n; ++i) {
    if (noise == Noise::kDrifting) speed += std::normal_distribution<>(0, 0.004)(random_);
    values.push_back(std::log(10) + speed + noise_of_one(noise));
  }
  return values;
}

std::pair<Series, Series> Simulation::sweep(Noise noise, int n, double effect, RunOrder order) {
  Series a, b;
  bool is_b_first = false;
  const std::vector<double> values = logarithms(noise, 2 * n);
  for (int i = 0; i < 2 * n; ++i) {
    if (i % 2 == 0) is_b_first = random_() % 2 == 0;
    const bool is_b = order == RunOrder::kSequence ? i >= n : (i % 2 == 0) == is_b_first;
    const int block = order == RunOrder::kSequence ? i % n : i / 2;
    (is_b ? b : a).push_back({block, i, std::exp(values[i]) * (is_b ? 1 + effect : 1)});
  }
  return {a, b};
}

}  // namespace mlrun::sweep
