// SPDX-License-Identifier: Apache-2.0
// Figures of repeated runs: intervals, differences and verdicts. Functions of numbers alone; they print and store nothing.
// What is not finite is left out. Same input, same result: the bootstrap has a fixed seed.
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

// The slope of a figure over the order of runs, as a fraction of its mean a run.
struct Drift {
  double slope = 0;
  Interval interval;
  bool is_clear = false;  // the 99 % interval is without 0: worth a warning
};

struct Description {
  size_t n = 0;
  double median = 0, mean = 0, sd = 0, min = 0, max = 0;  // sd: of the sample; 0 for n < 2
  std::optional<Interval> interval;                       // of the centre that `method` is about
  Method method = Method::kNone;
  std::optional<Interval> median_interval;  // BCa, from n ≥ 10 on
  std::optional<Drift> drift;               // from n ≥ 5 on
  bool is_bimodal = false;                  // from n ≥ 8 on
};

Description describe(const Series& series, double level = 0.95);

// BCa of a quantile (linear between values, as NumPy's), from n ≥ 10 on. Quantiles near 0 and 1 need more: there the interval ends at
// the least and the greatest value.
std::optional<Interval> quantile_interval(const Series& series, double quantile, double level = 0.95);

// One slope of all cells of a sweep, each around its own mean: the drift of the machine. From three degrees of freedom on.
std::optional<Drift> common_drift(std::span<const Series> cells, double level = 0.95);

enum class Verdict { kDiffers, kEqual, kCannotTell };
const char* verdict_name(Verdict verdict);  // differs, equal, cannot_tell

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// Standard deviation of a difference with one run a side, and degrees of freedom that each further run a side adds.
struct Spread {
  double sd = kUnknown, degrees = 1;
};

struct Comparison {
  size_t n_a = 0, n_b = 0, pairs = 0;
  double a = kUnknown, b = kUnknown;  // what is compared: geometric means, or means where values are 0
  // b against a, as fractions of a. NaN: unknown (too few runs), or a's mean is 0 and b's is not.
  double difference = kUnknown, low = kUnknown, high = kUnknown;
  Method method = Method::kNone;
  double p = 1;                 // two-sided, of no difference
  double adjusted_p = 1;        // after correct_for_number
  double equal_p = 1;           // two one-sided tests, of a difference beyond the margin
  double adjusted_equal_p = 1;  // after correct_for_number
  Verdict verdict = Verdict::kCannotTell;
  double margin = 0;
  std::optional<int64_t> needs_runs;  // more runs a side after which a verdict is likely, if there is none
  Spread spread;                      // on the scale of the tests: logarithms, or fractions of a
};

struct ComparisonOptions {
  double level = 0.95;
  double margin = 0.03;
  bool by_block = true;  // pair runs of one block, if there are blocks with both
};

// `b` against `a`, the base. A verdict needs three runs a side. "differs": the interval is without 0; "equal": it is not so, and two
// one-sided tests, each at 1 - level, put the difference within ± margin.
Comparison compare(const Series& a, const Series& b, const ComparisonOptions& options);

// Holm's correction over comparisons that answer one question: may turn "differs" and "equal" into "cannot tell". Intervals
// stay those of each figure by itself.
void correct_for_number(std::span<Comparison> question, double level = 0.95);

// Half of the width of the centre's interval, as a fraction of the centre. Unknown for fewer than two runs.
std::optional<double> half_width(const Series& series, double level = 0.95);

// The stop rule: are the runs that were made enough? Never before `at_least`: looking after each run from the third on would make
// a 95 % interval one of 90 %. The caller counts the looks.
bool is_within(const Series& series, double within, int32_t at_least = 8, double level = 0.95);

}  // namespace mlrun::sweep
