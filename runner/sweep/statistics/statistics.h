// SPDX-License-Identifier: Apache-2.0
// Figures of repeated runs: intervals, differences and verdicts. Pure functions of numbers. Values that are not finite are left out. The
// same input gives the same result: the bootstrap has a fixed seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace mlrun::sweep {

// One figure of one run.
struct Observation {
  int32_t block = 0;     // runs of one block are compared with each other
  int32_t position = 0;  // in the order in which runs were made
  double value = 0;
};
using Series = std::vector<Observation>;

struct Interval {
  double low = 0, high = 0;
};

// How an interval was computed.
enum class Method {
  kNone,        // fewer than two values
  kLogT,        // Student's t on logarithms; values are greater than 0
  kT,           // Student's t on values, some of which are 0
  kPairedLogT,  // t of differences within blocks, on logarithms
  kPairedT,
  kWelchLogT,  // Welch's t on logarithms
  kWelchT,
  kBca  // bias-corrected and accelerated bootstrap
};

// For tables and JSON: "t, logs", "paired t, logs", "BCa" ...
const char* method_name(Method method);

// The slope of a figure over the order of runs: change per run, as a fraction of the figure's mean.
struct Drift {
  double slope = 0;
  Interval interval;
  bool is_clear = false;  // the 99 % interval does not contain 0: worth a warning
};

struct Description {
  size_t n = 0;
  double median = 0, mean = 0, sd = 0, min = 0, max = 0;  // sd: of the sample; 0 for n < 2
  std::optional<Interval> interval;                       // of the geometric mean (kLogT) or of the mean (kT)
  Method method = Method::kNone;
  std::optional<Interval> median_interval;  // BCa, from n ≥ 10 on
  std::optional<Drift> drift;               // from n ≥ 5 on
  bool is_bimodal = false;                  // from n ≥ 8 on
};

Description describe(const Series& series, double level = 0.95);

// One slope fitted to all cells of a sweep, each around its own mean: the drift of the machine. nullopt with fewer than three degrees of
// freedom.
std::optional<Drift> common_drift(std::span<const Series> cells, double level = 0.95);

enum class Verdict { kDiffers, kEqual, kCannotTell };
const char* verdict_name(Verdict verdict);  // differs, equal, cannot_tell

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// Standard deviation of a difference with one run on each side, and degrees of freedom that each further run on each side adds.
struct Spread {
  double sd = kUnknown, degrees = 1;
};

struct Comparison {
  size_t n_a = 0, n_b = 0, pairs = 0;
  double a = kUnknown, b = kUnknown;  // what is compared: geometric means, or means where values are 0
  // b against a, as fractions of a. NaN: unknown (too few runs), or a's mean is 0 and b's is not.
  double difference = kUnknown, low = kUnknown, high = kUnknown;
  Method method = Method::kNone;
  double p = 1;                 // two-sided p value: there is no difference
  double adjusted_p = 1;        // after correct_for_number
  double equal_p = 1;           // p value of two one-sided tests: the difference is beyond the margin
  double adjusted_equal_p = 1;  // after correct_for_number
  Verdict verdict = Verdict::kCannotTell;
  double margin = 0;
  // More runs on each side until a verdict is likely; nullopt: there is a verdict, or their number is too large or unknown.
  std::optional<int64_t> needs_runs;
  Spread spread;  // on the scale of the tests: logarithms, or fractions of a
};

struct ComparisonOptions {
  double level = 0.95;
  double margin = 0.03;
  bool by_block = true;  // pair runs of one block, if there are blocks with both
};

// Compares `b` with the base `a`. A verdict needs three runs on each side. "differs": the interval does not contain 0. "equal": it does,
// and two one-sided tests, each at 1 - level, place the difference within ± margin.
Comparison compare(const Series& a, const Series& b, const ComparisonOptions& options);

// Holm's correction over comparisons that answer one question: may turn "differs" and "equal" into "cannot tell". Intervals are not
// corrected.
void correct_for_number(std::span<Comparison> question, double level = 0.95);

// Half of the width of the centre's interval, as a fraction of the centre. Unknown for fewer than two runs.
std::optional<double> half_width(const Series& series, double level = 0.95);

// The stop rule: is half the interval's width at most `within` of its centre? Always false before `at_least` runs: testing after each run
// from the third on would turn a 95 % interval into one of 90 %. The caller counts how often it asks.
bool is_within(const Series& series, double within, int32_t at_least = 8, double level = 0.95);

}  // namespace mlrun::sweep
