// SPDX-License-Identifier: Apache-2.0
#include "runner/blame/step_makers.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace mlrun::blame {

StepMakers::StepMakers(const Timeline& timeline, int32_t driver, const std::string& comm) : timeline_(timeline) {
  for (const int32_t other : timeline.process_of(driver).threads) {
    if (other == driver || timeline.thread(other).comm != comm) continue;
    Maker maker{other, {}};
    double count = 0;
    for (const CallBins::Bin& bin : timeline.thread(other).calls.bins()) {
      if (bin.data_opens == 0) continue;
      count += bin.data_opens;
      maker.opened.emplace_back(bin.start_ns, count);
    }
    if (count > 0) makers_.push_back(std::move(maker));
  }
}

// Number of files that the thread had opened before the moment.
double StepMakers::opened(const Maker& maker, Ns moment_ns) {
  const auto after = std::partition_point(maker.opened.begin(), maker.opened.end(),
                                          [&](const auto& one) { return one.first < moment_ns; });
  return after == maker.opened.begin() ? 0 : (after - 1)->second;
}

// Number of files per batch, from the files that a thread opened between two waits of the driver for it: for one batch, or several. 0: unknown.
double StepMakers::files_of_batch(const std::vector<StepEvent>& events) const {
  constexpr size_t kMakersMost = 1000, kCountsMin = 8;
  if (makers_.size() > kMakersMost) return 0;
  constexpr double kNear = 0.1, kNearMin = 0.9;
  std::map<int32_t, double> since;
  std::vector<double> counts;
  for (const StepEvent& one : events) {
    if (one.made_by == 0) continue;
    const auto maker = std::find_if(makers_.begin(), makers_.end(),
                                    [&](const Maker& other) { return other.thread_id == one.made_by; });
    if (maker == makers_.end()) continue;
    const double now = opened(*maker, one.end_ns);
    const auto [at, is_new] = since.emplace(one.made_by, now);
    if (!is_new && now > at->second) counts.push_back(now - at->second);
    at->second = now;
  }
  if (counts.size() < kCountsMin) return 0;
  std::sort(counts.begin(), counts.end());
  const double files = counts[counts.size() / 5];
  const auto near = std::count_if(counts.begin(), counts.end(), [&](double count) {
    return std::abs(count / files - std::round(count / files)) < kNear;
  });
  return static_cast<double>(near) >= kNearMin * static_cast<double>(counts.size()) ? files : 0;
}

// Whether the thread is making a batch. Waits for Python's lock are part of making it.
bool StepMakers::is_making(int32_t thread_id, Ns moment_ns) const {
  const Thread& thread = timeline_.thread(thread_id);
  if (thread.first_ns > moment_ns || thread.last_ns <= moment_ns) return false;
  const size_t number = thread.first_wait(moment_ns);
  return number == thread.waits.size() || thread.waits[number].start_ns > moment_ns ||
         timeline_.is_python_lock(thread.proc_id, thread.waits[number]);
}

double StepMakers::made(Ns moment_ns, double files) const {
  double count = 0;
  for (const Maker& maker : makers_) {
    const double begun = std::ceil(opened(maker, moment_ns) / files);
    count += begun - (begun > 0 && is_making(maker.thread_id, moment_ns) ? 1 : 0);
  }
  return count;
}

std::optional<size_t> StepMakers::batches(const std::vector<StepEvent>& events) const {
  const double files = files_of_batch(events);
  if (files < 1) return std::nullopt;
  return static_cast<size_t>(made(timeline_.end_ns, files));
}

std::optional<std::vector<size_t>> StepMakers::steps_after(const std::vector<StepEvent>& events) const {
  const double files = files_of_batch(events);
  if (files < 1) return std::nullopt;
  std::vector<size_t> steps(events.size());
  double taken = 0;
  for (size_t i = 0; i < events.size(); ++i) {
    const bool is_last = i + 1 == events.size();
    if (!is_last && events[i + 1].waited_ns == 0) continue;
    const double now = made(is_last ? timeline_.end_ns : events[i + 1].start_ns, files);
    if (now <= taken) continue;
    steps[i] = static_cast<size_t>(now - taken);
    taken = now;
  }
  return steps;
}

}  // namespace mlrun::blame
