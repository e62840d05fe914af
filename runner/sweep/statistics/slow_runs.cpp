// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/statistics/slow_runs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "runner/sweep/statistics/bootstrap.h"
#include "runner/sweep/statistics/student.h"

namespace mlrun::sweep {
namespace {

constexpr double kEsdAlpha = 0.01;
constexpr size_t kFewestRunsOfCell = 5;
constexpr double kLeastDifference = 0.02;
constexpr double kDeviations = 5;  // a hint needs a change of so many deviations from the median of the other runs

// How the time that a figure may explain follows from its change.
enum class Kind {
  kTime,       // the change itself
  kShare,      // a share of the run's time
  kFrequency,  // in proportion
  kBytes,      // that a device reads at 20 MB/s or faster
  kBlocks,     // of 512 bytes, read as kBytes are
  kFaults,     // of 10 ms or less each
  kState       // no time follows from the change
};

struct Cause {
  const char* figure;
  Kind kind;
  int slows;     // +1: more of it makes a run slow; -1: less
  double trust;  // 1: a cause; less: also a consequence of other causes, or of no known weight
  const char* words;
};

// Figures of the command, and of the machine while it ran. Causes with the same weight are named in this order.
constexpr Cause kCauses[] = {
    {"steal_share", Kind::kShare, 1, 1, "the host ran other guests (steal)"},
    {"other_cpu_share", Kind::kShare, 1, 1, "other processes used the CPUs"},
    {"frequency_hz", Kind::kFrequency, -1, 1, "the CPUs ran at a lower frequency"},
    {"missing_bytes", Kind::kBytes, 1, 0.9, "more of the data was not in the page cache"},
    {"major_faults", Kind::kFaults, 1, 0.9, "more page faults waited for devices"},
    {"swapped_bytes", Kind::kBytes, 1, 0.9, "the machine swapped"},
    {"device_read_bytes", Kind::kBytes, 1, 0.85, "more was read from devices"},
    {"read_bytes", Kind::kBytes, 1, 0.85, "more was read from devices"},
    {"input_blocks", Kind::kBlocks, 1, 0.85, "more was read from devices"},
    {"stall_memory_some_share", Kind::kShare, 1, 0.8, "tasks waited for memory"},
    {"stall_io_some_share", Kind::kShare, 1, 0.8, "tasks waited for I/O"},
    {"iowait_share", Kind::kShare, 1, 0.5, "CPUs were idle while tasks waited for I/O"},
    {"io_s", Kind::kTime, 1, 0.5, "calls on files took longer"},
    {"stall_cpu_some_share", Kind::kShare, 1, 0.5, "tasks waited for a CPU"},
    {"memory_available_bytes", Kind::kState, -1, 0.25, "less memory was available"},
    {"load_1m", Kind::kState, 1, 0.25, "the load was higher"},
    {"temperature_c", Kind::kState, 1, 0.25, "the CPUs were hotter"},
};

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return quantile_of(values, 0.5);
}

// The greatest distance from the mean, in standard deviations, at which the test does not reject one of n values.
double esd_bound(size_t n) {
  const auto count = static_cast<double>(n);
  const double t = t_quantile(1 - kEsdAlpha / (2 * count), count - 2);
  return t * (count - 1) / std::sqrt((count - 2 + t * t) * count);
}

// Indices of the outliers in `values`. Removes the value farthest from the mean, one after the other. All values up to the last one that
// is beyond its bound are outliers, so that three slow runs do not hide each other.
std::vector<size_t> far_values(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> sorted(values.size());
  std::transform(order.begin(), order.end(), sorted.begin(), [&](size_t index) { return values[index]; });
  std::span<const double> rest = sorted;
  std::vector<size_t> out;
  size_t found = 0;
  for (size_t i = 1; i <= values.size() * 2 / 5; ++i) {
    const Moments m = moments(rest);
    if (!(m.sd > 0)) break;
    const bool is_highest = rest.back() - m.mean > m.mean - rest.front();
    const double distance = std::max(rest.back() - m.mean, m.mean - rest.front());
    const size_t first = static_cast<size_t>(rest.data() - sorted.data());
    out.push_back(order[is_highest ? first + rest.size() - 1 : first]);
    if (distance > esd_bound(rest.size()) * m.sd) found = i;
    rest = is_highest ? rest.first(rest.size() - 1) : rest.subspan(1);
  }
  out.resize(found);
  return out;
}

// The usual values of a figure, from the runs that are not outlying.
struct Usual {
  double median = 0;
  double reach = 0;  // a change of this size and less is nothing special
};

struct Others {
  double usual_s = 0;
  std::array<std::optional<Usual>, std::size(kCauses)> figures;  // by index into kCauses
};

std::optional<Usual> usual_of(const char* figure, const std::vector<const RunFigures*>& runs) {
  std::vector<double> values;
  for (const RunFigures* run : runs) {
    const auto found = run->figures.find(figure);
    if (found != run->figures.end() && std::isfinite(found->second)) values.push_back(found->second);
  }
  if (values.size() < 2) return std::nullopt;
  const double median = median_of(values);
  for (double& value : values) value = std::abs(value - median);
  std::sort(values.begin(), values.end());
  // Factor 1.4826: the median distance of normal noise becomes its standard deviation.
  return Usual{median, std::max(quantile_of(values, 0.95), kDeviations * 1.4826 * quantile_of(values, 0.5))};
}

Others others_of(std::span<const RunFigures> runs, const std::vector<size_t>& outside) {
  std::vector<const RunFigures*> others;
  std::vector<double> wall_s;
  for (size_t i = 0; i < runs.size(); ++i) {
    if (std::binary_search(outside.begin(), outside.end(), i) || !(runs[i].wall_s > 0)) continue;
    others.push_back(&runs[i]);
    wall_s.push_back(runs[i].wall_s);
  }
  Others result{median_of(wall_s), {}};
  for (size_t i = 0; i < std::size(kCauses); ++i) result.figures[i] = usual_of(kCauses[i].figure, others);
  return result;
}

// The part of the extra time that a change may explain; nullopt: less than 1 %.
std::optional<double> weight_of(const Cause& cause, double value, double usual, double wall_s, double usual_s) {
  constexpr double kLeast = 0.01;
  const double extra_s = std::abs(wall_s - usual_s);
  const double change = std::abs(value - usual);
  const double most = std::max(value, usual);
  const double part = most > 0 ? change / most : 0;
  double explained = 0;
  switch (cause.kind) {
    case Kind::kTime: explained = change / extra_s; break;
    case Kind::kShare:
      // A share of all CPUs may be that of the one CPU which the command needs: few per cent can be much.
      explained = std::max(change * std::max(wall_s, usual_s) / extra_s, change >= 0.005 ? part / 4 : 0);
      break;
    case Kind::kFrequency: explained = part * std::max(wall_s, usual_s) / extra_s; break;
    case Kind::kBytes: explained = std::min(part, change / 20e6 / extra_s); break;
    case Kind::kBlocks: explained = std::min(part, change * 512 / 20e6 / extra_s); break;
    case Kind::kFaults: explained = std::min(part, change * 0.01 / extra_s); break;
    case Kind::kState: explained = part; break;
  }
  if (explained < kLeast) return std::nullopt;
  return cause.trust * std::min(1.0, explained);
}

std::optional<Hint> hint_of(const Cause& cause, const std::optional<Usual>& usual, const RunFigures& run,
                            double usual_s) {
  const auto own = run.figures.find(cause.figure);
  if (!usual || own == run.figures.end()) return std::nullopt;
  const double direction = run.wall_s > usual_s ? cause.slows : -cause.slows;
  if (!((own->second - usual->median) * direction > usual->reach)) return std::nullopt;
  const std::optional<double> weight = weight_of(cause, own->second, usual->median, run.wall_s, usual_s);
  if (!weight) return std::nullopt;
  return Hint{cause.figure, cause.words, own->second, usual->median, *weight};
}

// The likeliest cause first; if several figures have the same cause, only the best one.
std::vector<Hint> hints_of(const RunFigures& run, const Others& others) {
  std::vector<Hint> all, hints;
  for (size_t i = 0; i < std::size(kCauses); ++i) {
    if (auto hint = hint_of(kCauses[i], others.figures[i], run, others.usual_s)) all.push_back(std::move(*hint));
  }
  std::stable_sort(all.begin(), all.end(), [](const Hint& a, const Hint& b) { return a.weight > b.weight; });
  for (Hint& hint : all) {
    const auto is_same = [&](const Hint& other) { return std::string_view(other.cause) == hint.cause; };
    if (std::none_of(hints.begin(), hints.end(), is_same)) hints.push_back(std::move(hint));
  }
  return hints;
}

}  // namespace

std::vector<size_t> runs_outside(std::span<const double> wall_s) {
  std::vector<size_t> runs;
  std::vector<double> logarithms;
  for (size_t i = 0; i < wall_s.size(); ++i) {
    if (!(wall_s[i] > 0) || std::isinf(wall_s[i])) continue;
    runs.push_back(i);
    logarithms.push_back(std::log(wall_s[i]));
  }
  if (runs.size() < kFewestRunsOfCell) return {};
  std::vector<size_t> far = far_values(logarithms);
  std::vector<double> rest;
  for (size_t i = 0; i < runs.size(); ++i) {
    if (std::find(far.begin(), far.end(), i) == far.end()) rest.push_back(logarithms[i]);
  }
  const double usual = median_of(rest);
  std::vector<size_t> result;
  for (const size_t i : far) {
    if (std::abs(std::expm1(logarithms[i] - usual)) >= kLeastDifference) result.push_back(runs[i]);
  }
  std::sort(result.begin(), result.end());
  return result;
}

std::vector<OutsideRun> explain_runs(std::span<const RunFigures> runs) {
  std::vector<double> wall_s(runs.size());
  std::transform(runs.begin(), runs.end(), wall_s.begin(), [](const RunFigures& run) { return run.wall_s; });
  const std::vector<size_t> outside = runs_outside(wall_s);
  if (outside.empty()) return {};
  const Others others = others_of(runs, outside);
  std::vector<OutsideRun> result;
  for (const size_t i : outside) {
    result.push_back({i, others.usual_s, wall_s[i] / others.usual_s - 1, hints_of(runs[i], others)});
  }
  return result;
}

}  // namespace mlrun::sweep
