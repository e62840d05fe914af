// SPDX-License-Identifier: Apache-2.0
// Student's t distribution (Boost.Math), and what t tests are made of.
#pragma once

#include <cstddef>
#include <span>

#include "runner/sweep/statistics/statistics.h"

namespace mlrun::sweep {

struct Moments {
  size_t n = 0;
  double mean = 0, sd = 0;  // sd: of the sample
};
Moments moments(std::span<const double> values);

// An estimate that is t-distributed around the truth.
struct Estimate {
  double value = 0, standard_error = 0, degrees = 1;
};

double t_quantile(double probability, double degrees);
double t_above(double t, double degrees);  // probability of a greater value

// The t statistic of `estimate` against `truth`. Without any spread: 0 or infinite.
double t_statistic(const Estimate& estimate, double truth);

double two_sided_p(const Estimate& estimate);
// Two one-sided tests: the greatest probability of an estimate this far inside of [low, high] if the truth is outside.
double outside_p(const Estimate& estimate, double low, double high);
Interval t_interval(const Estimate& estimate, double level);

}  // namespace mlrun::sweep
