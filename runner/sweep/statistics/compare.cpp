// SPDX-License-Identifier: Apache-2.0
// The difference of two series: paired by block where there are blocks, else Welch's t test, on logarithms where all values allow it.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "runner/sweep/statistics/more_runs.h"
#include "runner/sweep/statistics/statistics.h"
#include "runner/sweep/statistics/student.h"

namespace mlrun::sweep {
namespace {

using Values = std::vector<double>;

constexpr size_t kFewestRuns = 3;

struct Samples {
  Values a, b;
  bool are_pairs = false;
};

Samples samples_of(const Series& a, const Series& b, bool by_block) {
  struct Side {
    double sum = 0;
    int runs = 0;
  };
  std::map<int32_t, std::pair<Side, Side>> blocks;
  Samples all;
  for (const auto& [block, position, value] : a) {
    if (!std::isfinite(value)) continue;
    all.a.push_back(value);
    blocks[block].first.sum += value;
    ++blocks[block].first.runs;
  }
  for (const auto& [block, position, value] : b) {
    if (!std::isfinite(value)) continue;
    all.b.push_back(value);
    blocks[block].second.sum += value;
    ++blocks[block].second.runs;
  }
  Samples pairs;
  pairs.are_pairs = true;
  for (const auto& [block, sides] : blocks) {
    if (sides.first.runs == 0 || sides.second.runs == 0) continue;
    pairs.a.push_back(sides.first.sum / sides.first.runs);
    pairs.b.push_back(sides.second.sum / sides.second.runs);
  }
  return by_block && pairs.a.size() >= kFewestRuns ? pairs : all;
}

bool has_logarithms(const Values& values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return value > 0; });
}

// The difference on the scale of the tests, and its spread with one run on each side.
std::pair<Estimate, Spread> difference_of(const Samples& samples) {
  if (samples.are_pairs) {
    Values differences(samples.a.size());
    std::transform(samples.b.begin(), samples.b.end(), samples.a.begin(), differences.begin(), std::minus<>());
    const Moments m = moments(differences);
    const auto n = static_cast<double>(m.n);
    return {{m.mean, m.sd / std::sqrt(n), n - 1}, {m.sd, 1}};
  }
  const Moments a = moments(samples.a);
  const Moments b = moments(samples.b);
  const auto n_a = static_cast<double>(a.n);
  const auto n_b = static_cast<double>(b.n);
  const double square_a = a.sd * a.sd;
  const double square_b = b.sd * b.sd;
  const double square = square_a / n_a + square_b / n_b;
  // Welch's degrees of freedom; if all values are equal, any number will do.
  const double degrees =
      square > 0 ? square * square /
                       (square_a * square_a / (n_a * n_a * (n_a - 1)) + square_b * square_b / (n_b * n_b * (n_b - 1)))
                 : n_a + n_b - 2;
  const double sum = square_a + square_b;
  const double degrees_a_run = sum > 0 ? sum * sum / (square_a * square_a + square_b * square_b) : 2;
  return {{b.mean - a.mean, std::sqrt(square), degrees}, {std::sqrt(sum), degrees_a_run}};
}

Method method_of(bool are_pairs, bool are_logarithms) {
  if (are_pairs) return are_logarithms ? Method::kPairedLogT : Method::kPairedT;
  return are_logarithms ? Method::kWelchLogT : Method::kWelchT;
}

bool has_logarithms(Method method) { return method == Method::kPairedLogT || method == Method::kWelchLogT; }

// The range of differences at which two series count as equal, on the scale of the tests.
Interval margin_of(const Comparison& comparison) {
  const double margin = comparison.margin;
  if (!has_logarithms(comparison.method)) return {-margin, margin};
  return {margin < 1 ? std::log1p(-margin) : -std::numeric_limits<double>::infinity(), std::log1p(margin)};
}

double on_test_scale(const Comparison& comparison) {
  return has_logarithms(comparison.method) ? std::log1p(comparison.difference) : comparison.difference;
}

size_t runs_a_side(const Comparison& comparison) {
  return comparison.pairs > 0 ? comparison.pairs : std::min(comparison.n_a, comparison.n_b);
}

void decide(Comparison& comparison, double alpha, double alpha_of_one) {
  comparison.verdict = Verdict::kCannotTell;
  comparison.needs_runs = std::nullopt;
  const size_t runs = runs_a_side(comparison);
  if (runs >= kFewestRuns) {
    const bool contains_zero = comparison.low <= 0 && comparison.high >= 0;
    if (!contains_zero && comparison.adjusted_p <= alpha) {
      comparison.verdict = Verdict::kDiffers;
    } else if (comparison.adjusted_equal_p <= alpha) {
      comparison.verdict = Verdict::kEqual;
    }
  }
  if (comparison.verdict != Verdict::kCannotTell || comparison.method == Method::kNone) return;
  comparison.needs_runs = more_runs(on_test_scale(comparison), comparison.spread, margin_of(comparison),
                                    static_cast<int64_t>(runs), alpha_of_one);
}

// Sets difference, interval and tests. `samples` are logarithms or not, as the method says.
void estimate(Comparison& comparison, const Samples& samples, double level) {
  auto [difference, spread] = difference_of(samples);
  const bool is_log = has_logarithms(comparison.method);
  if (!is_log && comparison.a > 0) {
    difference.value /= comparison.a;
    difference.standard_error /= comparison.a;
    spread.sd /= comparison.a;
  }
  const bool is_fraction = is_log || comparison.a > 0 || comparison.b == comparison.a;
  const Interval interval = t_interval(difference, level);
  comparison.p = two_sided_p(difference);
  if (is_fraction) {
    comparison.difference = is_log ? std::expm1(difference.value) : difference.value;
    comparison.low = is_log ? std::expm1(interval.low) : interval.low;
    comparison.high = is_log ? std::expm1(interval.high) : interval.high;
    comparison.spread = spread;
    const Interval margin = margin_of(comparison);
    comparison.equal_p = outside_p(difference, margin.low, margin.high);
  }
}

}  // namespace

Comparison compare(const Series& a, const Series& b, const ComparisonOptions& options) {
  Comparison result;
  result.margin = options.margin;
  Samples samples = samples_of(a, b, options.by_block);
  result.n_a = samples.a.size();
  result.n_b = samples.b.size();
  result.pairs = samples.are_pairs ? samples.a.size() : 0;
  if (samples.a.empty() || samples.b.empty()) return result;
  const bool is_log = has_logarithms(samples.a) && has_logarithms(samples.b);
  if (is_log) {
    for (Values* values : {&samples.a, &samples.b}) {
      for (double& value : *values) value = std::log(value);
    }
  }
  result.a = is_log ? std::exp(moments(samples.a).mean) : moments(samples.a).mean;
  result.b = is_log ? std::exp(moments(samples.b).mean) : moments(samples.b).mean;
  if (result.n_a < 2 || result.n_b < 2) {
    if (result.a > 0 || result.a == result.b) {
      result.difference = result.a == result.b ? 0 : result.b / result.a - 1;
    }
    return result;
  }
  result.method = method_of(samples.are_pairs, is_log);
  estimate(result, samples, options.level);
  result.adjusted_p = result.p;
  result.adjusted_equal_p = result.equal_p;
  decide(result, 1 - options.level, 1 - options.level);
  return result;
}

void correct_for_number(std::span<Comparison> question, double level) {
  const auto correct = [&](double Comparison::*p, double Comparison::*adjusted) {
    std::vector<Comparison*> order;
    for (Comparison& comparison : question) order.push_back(&comparison);
    std::stable_sort(order.begin(), order.end(), [&](auto* left, auto* right) { return left->*p < right->*p; });
    double greatest = 0;
    for (size_t i = 0; i < order.size(); ++i) {
      greatest = std::max(greatest, order[i]->*p * static_cast<double>(order.size() - i));
      order[i]->*adjusted = std::min(1.0, greatest);
    }
  };
  correct(&Comparison::p, &Comparison::adjusted_p);
  correct(&Comparison::equal_p, &Comparison::adjusted_equal_p);
  const double alpha = 1 - level;
  for (Comparison& comparison : question) decide(comparison, alpha, alpha / static_cast<double>(question.size()));
}

const char* verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kDiffers: return "differs";
    case Verdict::kEqual: return "equal";
    case Verdict::kCannotTell: return "cannot_tell";
  }
  return "";
}

}  // namespace mlrun::sweep
