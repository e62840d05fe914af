// SPDX-License-Identifier: Apache-2.0
// Figures of repeated runs: intervals, differences and verdicts. Functions of numbers alone; they print and store nothing.
#pragma once

#include <cstddef>
#include <cstdint>
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
};

struct Description {
  size_t n = 0;
  double median = 0, mean = 0, sd = 0, min = 0, max = 0;  // sd: of the sample; 0 for n < 2
  std::optional<Interval> interval;                       // of the centre that `method` is about
  Method method = Method::kNone;
  std::optional<Interval> median_interval;  // BCa, from n ≥ 10 on
  std::optional<Drift> drift;               // from n ≥ 5 on
  bool is_bimodal = false;
};

Description describe(const Series& series, double level = 0.95);

enum class Verdict { kDiffers, kEqual, kCannotTell };
const char* verdict_name(Verdict verdict);  // differs, equal, cannot_tell

struct Comparison {
  size_t n_a = 0, n_b = 0, pairs = 0;
  double a = 0, b = 0;                       // what is compared: geometric means, or means where values are 0
  double difference = 0, low = 0, high = 0;  // b against a, as fractions of a
  Method method = Method::kNone;
  double p = 1;           // two-sided, of no difference
  double adjusted_p = 1;  // after correct_for_number
  double equal_p = 1;     // two one-sided tests, of a difference beyond the margin
  Verdict verdict = Verdict::kCannotTell;
  double margin = 0;
  std::optional<int64_t> needs_runs;  // more runs a side after which a verdict is likely
};

struct ComparisonOptions {
  double level = 0.95;
  double margin = 0.03;
  bool by_block = true;  // pair runs of one block, if there are blocks with both
};

// `b` against `a`, the base.
Comparison compare(const Series& a, const Series& b, const ComparisonOptions& options);

// Holm's correction over comparisons that answer one question: may turn "differs" into "cannot tell".
void correct_for_number(std::span<Comparison> question, double level = 0.95);

}  // namespace mlrun::sweep
