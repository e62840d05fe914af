// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/meters/split_meter.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "runner/util/saturating.h"

namespace mlrun::summary {

namespace {

const char* name_of(SplitKind kind) {
  switch (kind) {
    case SplitKind::kCalls: return "calls";
    case SplitKind::kFaults: return "page faults";
    case SplitKind::kAsynchronous: return "asynchronous I/O";
    case SplitKind::kOperations: return "other operations";
  }
  return "";
}

}  // namespace

void SplitMeter::add(SplitKind kind, int32_t proc_id, int64_t file_id, int64_t time_ns, const model::CallSplit& split) {
  const auto add_to = [&](Sums& sums) {
    ++sums.calls;
    util::add_to(sums.time_ns, time_ns);
    sums.split.add(split);
  };
  add_to(run_);
  add_to(by_kind_[size_t(kind)]);
  add_to(by_process_.at(uint64_t(uint32_t(proc_id)) + 1));
  if (file_id <= 0) return;
  if (by_file_.size() < kMaxFiles || by_file_.find(uint64_t(file_id)) != nullptr)
    add_to(by_file_.at(uint64_t(file_id)));
}

SplitSummary SplitMeter::row(const char* scope, int64_t id, std::string name, const Sums& sums) {
  return {scope, id, std::move(name), sums.calls, sums.time_ns, sums.split};
}

std::vector<SplitSummary> SplitMeter::top_files(const model::FileTable& files) const {
  std::vector<SplitSummary> rows;
  by_file_.for_each([&](uint64_t file_id, const Sums& sums) {
    if (file_id <= files.size()) rows.push_back(row("file", int64_t(file_id), {}, sums));
  });
  const auto longer = [](const SplitSummary& a, const SplitSummary& b) {
    return std::tuple(b.split.asleep_ns(), b.time_ns, a.id) < std::tuple(a.split.asleep_ns(), a.time_ns, b.id);
  };
  const size_t kept = std::min(rows.size(), kTopFiles);
  std::partial_sort(rows.begin(), rows.begin() + std::ptrdiff_t(kept), rows.end(), longer);
  rows.resize(kept);
  for (SplitSummary& file : rows) file.name = files[size_t(file.id - 1)].path;
  return rows;
}

std::vector<SplitSummary> SplitMeter::finish(const std::vector<ProcessSummary>& processes,
                                             const std::vector<SplitSummary>& phases,
                                             const model::FileTable& files) const {
  std::vector<SplitSummary> rows;
  if (run_.calls == 0) return rows;
  rows.push_back(row("run", 0, {}, run_));
  for (size_t kind = 0; kind < by_kind_.size(); ++kind) {
    if (by_kind_[kind].calls == 0) continue;
    rows.push_back(row("kind", int64_t(kind) + 1, name_of(SplitKind(kind)), by_kind_[kind]));
  }
  for (const ProcessSummary& process : processes) {
    const Sums* sums = by_process_.find(uint64_t(uint32_t(process.proc_id)) + 1);
    if (sums != nullptr) rows.push_back(row("process", process.proc_id, process.role, *sums));
  }
  rows.insert(rows.end(), phases.begin(), phases.end());
  auto top = top_files(files);
  std::move(top.begin(), top.end(), std::back_inserter(rows));
  return rows;
}

}  // namespace mlrun::summary
