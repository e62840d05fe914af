// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/statistics/slow_runs.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "runner/sweep/statistics/bootstrap.h"
#include "runner/sweep/statistics/student.h"

namespace mlrun::sweep {
namespace {

constexpr double kEsdAlpha = 0.01;
constexpr size_t kFewestRunsOfCell = 5;
constexpr double kLeastDifference = 0.02;
constexpr double kDeviations = 5;  // beyond the other runs' median, for a hint

// How a figure is weighed against the extra time.
enum class Kind { kSeconds, kShare, kFrequency, kAmount, kFaint };

struct Cause {
  const char* figure;
  Kind kind;
  int slows;  // +1: more of it makes a run slow; -1: less
  const char* words;
};

constexpr Cause kCauses[] = {
    {"steal_share", Kind::kShare, 1, "the host ran other guests (steal)"},
    {"other_cpu_share", Kind::kShare, 1, "other processes used the CPUs"},
    {"io_pressure_share", Kind::kShare, 1, "tasks waited for I/O (pressure)"},
    {"memory_pressure_share", Kind::kShare, 1, "tasks waited for memory (pressure)"},
    {"cpu_pressure_share", Kind::kShare, 1, "tasks waited for a CPU (pressure)"},
    {"run_queue_s", Kind::kSeconds, 1, "the command waited for a CPU"},
    {"device_s", Kind::kSeconds, 1, "devices took longer"},
    {"io_s", Kind::kSeconds, 1, "calls on files took longer"},
    {"frequency_hz", Kind::kFrequency, -1, "the CPUs ran at a lower frequency"},
    {"missing_bytes", Kind::kAmount, 1, "more of the data was not in the page cache"},
    {"device_read_bytes", Kind::kAmount, 1, "more was read from devices"},
    {"read_bytes", Kind::kAmount, 1, "more was read from devices"},
    {"input_blocks", Kind::kAmount, 1, "more was read from devices"},
    {"major_faults", Kind::kAmount, 1, "more page faults read from devices"},
    {"memory_available_bytes", Kind::kFaint, -1, "less memory was available"},
    {"load_1m", Kind::kFaint, 1, "the load was higher"},
    {"temperature_c", Kind::kFaint, 1, "the CPUs were hotter"},
};

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return quantile_of(values, 0.5);
}

// The greatest distance from the mean, in deviations, that the test lets pass among n values.
double esd_bound(size_t n) {
  const auto count = static_cast<double>(n);
  const double t = t_quantile(1 - kEsdAlpha / (2 * count), count - 2);
  return t * (count - 1) / std::sqrt((count - 2 + t * t) * count);
}

// Positions in `values` of what the test takes out: the farthest from the mean, one after the other. Those stay out up to the last one
// that is beyond its bound, so that three slow runs do not hide each other.
std::vector<size_t> far_values(const std::vector<double>& values) {
  std::vector<size_t> left(values.size()), out;
  std::iota(left.begin(), left.end(), 0);
  size_t found = 0;
  const size_t most = values.size() * 2 / 5;
  for (size_t i = 1; i <= most; ++i) {
    std::vector<double> rest(left.size());
    std::transform(left.begin(), left.end(), rest.begin(), [&](size_t index) { return values[index]; });
    const Moments m = moments(rest);
    if (!(m.sd > 0)) break;
    const auto farthest = std::max_element(
        rest.begin(), rest.end(), [&](double a, double b) { return std::abs(a - m.mean) < std::abs(b - m.mean); });
    const double distance = std::abs(*farthest - m.mean) / m.sd;
    const auto place = left.begin() + (farthest - rest.begin());
    out.push_back(*place);
    left.erase(place);
    if (distance > esd_bound(rest.size())) found = i;
  }
  out.resize(found);
  return out;
}

struct Others {
  std::vector<const RunFigures*> runs;  // those that are not outside
  double usual_s = 0;
};

// The weight of a figure that differs by `change` in the direction that explains the time; nothing if the change is too small to matter.
std::optional<double> weight_of(Kind kind, double value, double usual, double wall_s, double usual_s) {
  const double extra_s = std::abs(wall_s - usual_s);
  const double change = std::abs(value - usual);
  const double most = std::max(value, usual);
  const double part = most > 0 ? change / most : 0;
  double weight = 0;
  switch (kind) {
    case Kind::kSeconds: weight = change / extra_s; break;
    case Kind::kShare: weight = change * std::max(wall_s, usual_s) / extra_s; break;
    case Kind::kFrequency: weight = part * std::max(wall_s, usual_s) / extra_s; break;
    case Kind::kAmount: weight = part / 2; break;
    case Kind::kFaint: weight = part / 4; break;
  }
  if (weight < 0.05) return std::nullopt;
  return std::min(1.0, weight);
}

std::optional<Hint> hint_of(const Cause& cause, const RunFigures& run, const Others& others) {
  const auto own = run.figures.find(cause.figure);
  if (own == run.figures.end()) return std::nullopt;
  std::vector<double> values;
  for (const RunFigures* other : others.runs) {
    const auto found = other->figures.find(cause.figure);
    if (found != other->figures.end()) values.push_back(found->second);
  }
  if (values.size() < 2) return std::nullopt;
  const double usual = median_of(values);
  const double direction = run.wall_s > others.usual_s ? cause.slows : -cause.slows;
  const double change = (own->second - usual) * direction;
  std::vector<double> distances(values.size());
  std::transform(values.begin(), values.end(), distances.begin(),
                 [&](double value) { return std::abs(value - usual); });
  // 1.4826 makes the median distance of normal noise its standard deviation.
  const double farthest = *std::max_element(distances.begin(), distances.end());
  if (change <= std::max(farthest, kDeviations * 1.4826 * median_of(distances))) return std::nullopt;
  const std::optional<double> weight = weight_of(cause.kind, own->second, usual, run.wall_s, others.usual_s);
  if (!weight) return std::nullopt;
  return Hint{cause.figure, cause.words, own->second, usual, *weight};
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
  Others others;
  std::vector<double> usual_s;
  for (size_t i = 0; i < runs.size(); ++i) {
    if (std::binary_search(outside.begin(), outside.end(), i) || !(wall_s[i] > 0)) continue;
    others.runs.push_back(&runs[i]);
    usual_s.push_back(wall_s[i]);
  }
  others.usual_s = median_of(usual_s);
  std::vector<OutsideRun> result;
  for (const size_t i : outside) {
    OutsideRun run{i, others.usual_s, wall_s[i] / others.usual_s - 1, {}};
    for (const Cause& cause : kCauses) {
      if (auto hint = hint_of(cause, runs[i], others)) run.hints.push_back(std::move(*hint));
    }
    std::stable_sort(run.hints.begin(), run.hints.end(),
                     [](const Hint& a, const Hint& b) { return a.weight > b.weight; });
    result.push_back(std::move(run));
  }
  return result;
}

}  // namespace mlrun::sweep
