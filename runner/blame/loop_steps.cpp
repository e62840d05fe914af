// SPDX-License-Identifier: Apache-2.0
#include "runner/blame/loop_steps.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

#include "runner/blame/loop_list.h"
#include "runner/blame/step_gaps.h"

namespace mlrun::blame {

namespace {

constexpr size_t kLoopStepsMost = 1'000'000;
constexpr double kShareMin = 0.5;  // smallest share of the driver's time after its imports that the training loop has

// Whether most laps of `inner` run while a lap of `outer` runs.
bool is_inside(const Loop& inner, const Loop& outer) {
  size_t inside = 0;
  for (const Lap& lap : inner.laps) {
    const auto middle_ns = lap.first_ns() + (lap.last_ns() - lap.first_ns()) / 2;
    inside += std::any_of(outer.laps.begin(), outer.laps.end(),
                          [&](const Lap& one) { return one.first_ns() <= middle_ns && middle_ns <= one.last_ns(); })
                  ? 1
                  : 0;
  }
  return 2 * inside > inner.laps.size();
}

// Share of the samples of one kind (loading or not) that fall into a lap of the loop. std::nullopt: too few samples.
std::optional<double> share_of_samples(const Thread& driver, StackKinds& kinds, const Loop& loop, bool loading) {
  constexpr size_t kSamplesMin = 20;
  size_t all = 0, inside = 0;
  const Ns from_ns = loop.laps.front().first_ns(), to_ns = loop.laps.back().last_ns();
  for (size_t k = driver.first_sample(from_ns); k < driver.samples.size() && driver.samples[k].start_ns <= to_ns; ++k) {
    if ((kinds.kind(driver.samples[k].stack_id) == StackKind::kLoader) != loading) continue;
    ++all;
    const Ns at_ns = driver.samples[k].start_ns;
    const auto lap =
        std::partition_point(loop.laps.begin(), loop.laps.end(), [&](const Lap& one) { return one.last_ns() < at_ns; });
    inside += lap != loop.laps.end() && lap->first_ns() <= at_ns ? 1 : 0;
  }
  if (all < kSamplesMin) return std::nullopt;
  return static_cast<double>(inside) / static_cast<double>(all);
}

enum class Which { kFirst, kSecond, kUnknown };

// Which of two loops has the training's steps.
Which better(const Thread& driver, StackKinds& kinds, const Loop& a, const Loop& b) {
  constexpr Ns kMuchMore = 2;
  constexpr double kPresent = 0.6;
  if (a.steps() == b.steps())
    return a.laps.front().taken.size() >= b.laps.front().taken.size() ? Which::kFirst : Which::kSecond;
  const bool a_inside = is_inside(a, b), b_inside = is_inside(b, a);
  if (!a_inside && !b_inside) {
    return a.ns() > kMuchMore * b.ns() ? Which::kFirst : b.ns() > kMuchMore * a.ns() ? Which::kSecond : Which::kUnknown;
  }
  // If the inner loop both loads and computes, its steps are batches. Else it only makes one batch, or computes with one.
  const Loop& inner = a.steps() > b.steps() ? a : b;
  const auto loads = share_of_samples(driver, kinds, inner, true),
             computes = share_of_samples(driver, kinds, inner, false);
  if (!loads || !computes) return Which::kUnknown;
  const bool is_inner = *loads >= kPresent && *computes >= kPresent;
  return (&inner == &a) == is_inner ? Which::kFirst : Which::kSecond;
}

// For each batch of a lap the two samples between which the loop took it. Batches after the last sample are taken before the lap's end.
std::vector<std::pair<Ns, Ns>> brackets_of(const Lap& lap, size_t steps) {
  std::vector<std::pair<Ns, Ns>> in;
  size_t before = 0;
  Ns before_ns = lap.before_ns;
  for (const auto& [at_ns, taken] : lap.taken) {
    for (size_t k = before; k < taken && k < steps; ++k) in.emplace_back(before_ns, at_ns);
    before = std::max(before, taken);
    before_ns = at_ns;
  }
  while (in.size() < steps) in.emplace_back(before_ns, std::max(before_ns, lap.after_ns));
  return in;
}

// Start times of steps: evenly spaced between the same two samples, then smoothed by the steps around them.
std::vector<Ns> begins_of(const Lap& lap, const std::vector<std::pair<Ns, Ns>>& in) {
  constexpr size_t kAround = 5;
  std::vector<double> even;
  for (size_t from = 0, to = 0; from < in.size(); from = to) {
    while (to < in.size() && in[to] == in[from]) ++to;
    const auto count = static_cast<double>(to - from), length = static_cast<double>(in[from].second - in[from].first);
    // A lap begins and ends between two samples: at its edges steps are at most a mean step of the lap apart.
    const bool is_edge = from == 0 || to == in.size();
    const double part = is_edge ? std::min(length / count, lap.step_ns) : length / count;
    for (size_t k = from; k < to; ++k) {
      const double steps = from == 0 ? static_cast<double>(k) + 0.5 - count : static_cast<double>(k - from) + 0.5;
      even.push_back(static_cast<double>(from == 0 ? in[from].second : in[from].first) + steps * part);
    }
  }
  std::vector<Ns> begins;
  for (size_t k = 0; k < even.size(); ++k) {
    const size_t around = std::min({kAround, k, even.size() - 1 - k});
    double sum = 0;
    for (size_t j = k - around; j <= k + around; ++j) sum += even[j];
    const double at = sum / static_cast<double>(2 * around + 1);
    begins.push_back(std::clamp(static_cast<Ns>(at), in[k].first, std::max(in[k].first, in[k].second)));
  }
  return begins;
}

// A program that loads no batches and uses none of these libraries is not a training; its repetitions are not steps.
bool is_training(const Timeline& timeline, const Division& division) {
  constexpr std::string_view kLibraries[] = {"/torch/", "/jax/",   "/tensorflow/", "/keras/",
                                             "/flax/",  "/mxnet/", "/paddle/"};
  if (division.batches.first_ns != 0) return true;
  return std::any_of(timeline.stacks.begin(), timeline.stacks.end(), [&](const auto& stack) {
    return std::any_of(stack.second.begin(), stack.second.end(), [&](const Frame& frame) {
      return std::any_of(std::begin(kLibraries), std::end(kLibraries),
                         [&](std::string_view library) { return frame.source.find(library) != std::string::npos; });
    });
  });
}

// From the last import before the loop to the last sample. This includes later imports, such as those of a first step or after the loop.
Ns whole_ns(const Timeline& timeline, const Thread& driver, const Loop& loop) {
  Ns from_ns = timeline.start_ns;
  if (const auto imports = timeline.module_calls.find(driver.thread_id); imports != timeline.module_calls.end()) {
    for (const auto& [start_ns, end_ns] : imports->second) {
      if (end_ns > loop.laps.front().first_ns()) break;
      from_ns = end_ns;
    }
  }
  return driver.samples.empty() ? 0 : driver.samples.back().end_ns - from_ns;
}

// nullptr: no loop qualifies, or several do and it is unknown which one is better.
const Loop* choose(std::vector<Loop>& loops, const Timeline& timeline, const Thread& driver, StackKinds& kinds) {
  std::erase_if(loops, [&](const Loop& one) {
    const auto whole = static_cast<double>(std::max<Ns>(1, whole_ns(timeline, driver, one)));
    const double share = static_cast<double>(one.ns()) / whole;
    return one.steps() < kStepsMin || one.steps() > kLoopStepsMost || share < kShareMin ||
           one.laps.front().step_ns < kComputeMinNs;
  });
  if (std::any_of(loops.begin(), loops.end(), [](const Loop& one) { return one.of_loader; }))
    std::erase_if(loops, [](const Loop& one) { return !one.of_loader; });
  const Loop* best = nullptr;
  for (const Loop& one : loops) {
    const Which which = best == nullptr ? Which::kFirst : better(driver, kinds, one, *best);
    if (which == Which::kUnknown) return nullptr;
    if (which == Which::kFirst) best = &one;
  }
  return best;
}

}  // namespace

LoopSteps steps_of_loops(const Timeline& timeline, const Division& division, StackKinds& kinds) {
  LoopSteps found;
  if (division.driver == 0 || !is_training(timeline, division)) return found;
  const Thread& driver = timeline.thread(division.driver);
  std::vector<Loop> loops = list_loops(timeline, division.driver, kinds);
  const Loop* loop = choose(loops, timeline, driver, kinds);
  if (loop == nullptr) return found;
  found.of_loader = loop->of_loader;
  for (const Lap& lap : loop->laps) {
    const auto in = brackets_of(lap, loop->steps_of_lap);
    const std::vector<Ns> begins = begins_of(lap, in);
    for (size_t k = 0; k < begins.size(); ++k) {
      const Ns end_ns =
          k + 1 < begins.size() ? begins[k + 1] : std::min(lap.after_ns, begins[k] + static_cast<Ns>(lap.step_ns));
      found.steps.push_back({begins[k], std::max(begins[k], end_ns)});
    }
    found.begins_in.insert(found.begins_in.end(), in.begin(), in.end());
  }
  return found;
}

std::optional<std::vector<StepBounds>> steps_of_both(const std::vector<StepBounds>& seen, const LoopSteps& loops) {
  constexpr double kNear = 0.02;
  const auto ours = static_cast<double>(loops.steps.size()), theirs = static_cast<double>(seen.size());
  const bool differ = std::abs(ours - theirs) > kNear * ours;
  if (loops.steps.empty() || ours == theirs) return std::nullopt;
  if (!seen.empty() && differ && !loops.of_loader) return std::nullopt;
  std::vector<StepBounds> steps = loops.steps;
  if (differ) return steps;
  for (size_t k = 0, at = 0; k < steps.size(); ++k) {
    const auto [after_ns, until_ns] = loops.begins_in[k];
    while (at < seen.size() && seen[at].start_ns <= after_ns) ++at;
    const Ns least_ns = k == 0 ? INT64_MIN : steps[k - 1].start_ns;
    if (at < seen.size() && seen[at].start_ns <= until_ns && seen[at].start_ns > least_ns)
      steps[k].start_ns = seen[at++].start_ns;
    steps[k].start_ns = std::max(steps[k].start_ns, least_ns);
    steps[k].end_ns = std::max(steps[k].end_ns, steps[k].start_ns);
    if (k > 0) steps[k - 1].end_ns = std::min(std::max(steps[k - 1].end_ns, steps[k - 1].start_ns), steps[k].start_ns);
  }
  return steps;
}

}  // namespace mlrun::blame
