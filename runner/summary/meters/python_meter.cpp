// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/meters/python_meter.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "runner/util/saturating.h"

namespace mlrun::summary {

namespace {

constexpr std::string_view kInstalled[] = {"site-packages", "dist-packages", "/lib/python3", "/usr/lib", "<frozen"};

// Whether the frame is the one with which a multiprocessing process or a thread begins. Frames outside it belong to the start of the process, or
// to its parent at the fork.
bool begins_life(const model::FrameRow& frame) {
  return frame.function.ends_with("_bootstrap") &&
         (frame.source.ends_with("multiprocessing/process.py") || frame.source.ends_with("threading.py"));
}

}  // namespace

bool is_installed(std::string_view source) {
  return std::any_of(std::begin(kInstalled), std::end(kInstalled),
                     [&](std::string_view part) { return source.find(part) != std::string_view::npos; });
}

int32_t own_frame(const model::StackTable& table, int32_t stack_id) {
  const std::span<const int32_t> ids = table.frames_of(stack_id);
  for (const int32_t id : ids) {
    const model::FrameRow& frame = table.frame(id);
    if (begins_life(frame)) break;
    if (!frame.source.empty() && !is_installed(frame.source)) return id;
  }
  return ids.front();
}

void PythonMeter::add(const Sample& sample) {
  std::tuple key(sample.proc_id, sample.thread_id, sample.frame_id);
  if (lines_.size() >= kLinesMax && !lines_.contains(key)) std::get<2>(key) = 0;
  Counts& line = lines_[key];
  util::add_to(line.all, sample.count);
  util::add_to(line.time_ns, sample.period_ns);
  if (sample.running == 0) util::add_to(line.waiting, sample.count);
  if (sample.running != 1) return;
  util::add_to(line.running, sample.count);
  util::add_to(line.running_ns, sample.period_ns);
}

std::vector<PythonSummary> PythonMeter::finish(const std::vector<ProcessSummary>& processes,
                                               const model::StackTable& stacks, int64_t driver_thread_id) const {
  std::unordered_map<int32_t, const std::string*> roles;
  for (const ProcessSummary& process : processes) roles[process.proc_id] = &process.role;
  std::map<std::tuple<std::string, bool, int32_t>, PythonSummary> sums;
  std::map<const PythonSummary*, int32_t> last;  // by sum: the last process that it has counted
  for (const auto& [key, counts] : lines_) {
    const auto [proc_id, thread_id, frame_id] = key;
    const auto role = roles.find(proc_id);
    const bool is_driver = thread_id != 0 && thread_id == driver_thread_id;
    PythonSummary& sum = sums[{role == roles.end() ? std::string() : *role->second, is_driver, frame_id}];
    const auto [counted, is_first] = last.emplace(&sum, proc_id);
    if (is_first || counted->second != proc_id) ++sum.processes;
    counted->second = proc_id;
    util::add_to(sum.samples, counts.all);
    util::add_to(sum.running, counts.running);
    util::add_to(sum.time_ns, counts.time_ns);
    util::add_to(sum.running_ns, counts.running_ns);
    util::add_to(sum.waiting, counts.waiting);
  }
  std::vector<PythonSummary> rows;
  for (auto& [key, sum] : sums) {
    const auto& [role, is_driver, frame_id] = key;
    sum.role = role;
    sum.is_driver = is_driver ? 1 : 0;
    if (frame_id != 0) {
      const model::FrameRow& frame = stacks.frame(frame_id);
      sum.function = frame.function;
      sum.source = frame.source;
      sum.line = frame.line;
    }
    rows.push_back(std::move(sum));
  }
  std::sort(rows.begin(), rows.end(), [](const PythonSummary& a, const PythonSummary& b) {
    return std::tie(b.running_ns, b.running, b.samples, a.role, a.source, a.line, a.function) <
           std::tie(a.running_ns, a.running, a.samples, b.role, b.source, b.line, b.function);
  });
  if (rows.size() > kTopPython) rows.resize(kTopPython);
  return rows;
}

}  // namespace mlrun::summary
