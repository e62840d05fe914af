// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/meters/python_meter.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>

#include "runner/util/saturating.h"

namespace mlrun::summary {

void PythonMeter::add(int32_t proc_id, int32_t frame_id, int64_t looks, int64_t period_ns, int32_t running) {
  std::pair key(proc_id, frame_id);
  if (lines_.size() >= kLinesMax && !lines_.contains(key)) key.second = 0;
  Looks& line = lines_[key];
  util::add_to(line.all, looks);
  util::add_to(line.time_ns, period_ns);
  if (running != 1) return;
  util::add_to(line.running, looks);
  util::add_to(line.running_ns, period_ns);
}

std::vector<PythonSummary> PythonMeter::finish(const std::vector<ProcessSummary>& processes,
                                               const model::StackTable& stacks) const {
  std::unordered_map<int32_t, const std::string*> roles;
  for (const ProcessSummary& process : processes) roles[process.proc_id] = &process.role;
  std::map<std::pair<std::string, int32_t>, PythonSummary> sums;
  for (const auto& [key, looks] : lines_) {
    const auto role = roles.find(key.first);
    PythonSummary& sum = sums[{role == roles.end() ? std::string() : *role->second, key.second}];
    ++sum.processes;
    util::add_to(sum.looks, looks.all);
    util::add_to(sum.running, looks.running);
    util::add_to(sum.time_ns, looks.time_ns);
    util::add_to(sum.running_ns, looks.running_ns);
  }
  std::vector<PythonSummary> rows;
  for (auto& [key, sum] : sums) {
    sum.role = key.first;
    if (key.second != 0) {
      const model::FrameRow& frame = stacks.frame(key.second);
      sum.function = frame.function;
      sum.source = frame.source;
      sum.line = frame.line;
    }
    rows.push_back(std::move(sum));
  }
  std::sort(rows.begin(), rows.end(), [](const PythonSummary& a, const PythonSummary& b) {
    return std::tie(b.running_ns, b.running, b.looks, a.role, a.source, a.line, a.function) <
           std::tie(a.running_ns, a.running, a.looks, b.role, b.source, b.line, b.function);
  });
  if (rows.size() > kTopPython) rows.resize(kTopPython);
  return rows;
}

}  // namespace mlrun::summary
