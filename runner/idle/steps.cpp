// SPDX-License-Identifier: Apache-2.0
#include "runner/idle/steps.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <tuple>

#include <nlohmann/json.hpp>

#include "runner/model/run_keys.h"
#include "runner/model/step_name.h"
#include "runner/util/log_histogram.h"

namespace mlrun::idle {

namespace {

constexpr size_t kBlamedMax = 64;

}  // namespace

int64_t Steps::Idle::all() const { return std::accumulate(labels.begin(), labels.end(), int64_t{0}); }

bool Steps::is_step(const model::MarkRow& range) {
  const auto id = static_cast<size_t>(range.name_id);
  if (range.name_id <= 0 || id > info_.names.size()) return model::is_step_name(range.name);
  if (by_name_.size() <= id) by_name_.resize(info_.names.size() + 1, 0);
  if (by_name_[id] == 0) by_name_[id] = model::is_step_name(info_.names[id - 1].text) ? 1 : -1;
  return by_name_[id] > 0;
}

void Steps::add(const model::MarkRow& range) {
  if (range.dur_ns <= 0 || range.is_open || !is_step(range)) return;
  if (count_ >= kStepsMax) {
    ++left_out_;
    return;
  }
  ++count_;
  const bool is_of_process = range.scope == "process";
  List& list = is_of_process ? of_process_[range.origin.proc_id] : of_thread_[range.origin.thread_id];
  Step& step = list.emplace_back();
  step.start_ns = range.origin.ts_ns;
  step.end_ns = range.origin.ts_ns + range.dur_ns;
  step.thread_id = range.origin.thread_id;
  step.proc_id = range.origin.proc_id;
  step.name_id = range.name_id;
  if (range.name_id == 0) step.name = range.name;
}

void Steps::sort() {
  for (auto* lists : {&of_thread_, &of_process_}) {
    for (auto& [id, list] : *lists) {
      std::sort(list.begin(), list.end(), [](const Step& a, const Step& b) {
        return std::pair(a.start_ns, -a.end_ns) < std::pair(b.start_ns, -b.end_ns);
      });
      int64_t until_ns = INT64_MIN;
      std::erase_if(list, [&](Step& step) {
        if (step.end_ns <= until_ns) return true;
        step.start_ns = std::max(step.start_ns, until_ns);
        until_ns = step.end_ns;
        return false;
      });
    }
  }
}

// The list of steps that pieces of a launching thread belong to; nullptr: none.
const Steps::List* Steps::list_of(int32_t thread_id) {
  const auto [known, is_new] = chosen_.try_emplace(thread_id, nullptr);
  if (!is_new) return known->second;
  const auto find = [](const auto& lists, int32_t id) {
    const auto found = lists.find(id);
    return found == lists.end() || found->second.empty() ? nullptr : &found->second;
  };
  known->second = find(of_thread_, thread_id);
  if (known->second) return known->second;
  const auto thread = std::find_if(info_.threads.begin(), info_.threads.end(),
                                   [&](const model::ThreadRow& row) { return row.thread_id == thread_id; });
  if (thread == info_.threads.end()) return nullptr;
  known->second = find(of_process_, thread->proc_id);
  for (const model::ThreadRow& other : info_.threads) {
    if (known->second) break;
    const auto process = std::find_if(info_.processes.begin(), info_.processes.end(),
                                      [&](const model::ProcessRow& row) { return row.proc_id == other.proc_id; });
    const bool is_main = process != info_.processes.end() && process->pid == other.tid;
    if (other.proc_id == thread->proc_id && is_main) known->second = find(of_thread_, other.thread_id);
  }
  return known->second;
}

void Steps::add_idle(const model::IdleRow& row) {
  const List* list = row.launch_thread_id == 0 ? nullptr : list_of(row.launch_thread_id);
  if (!list) return;
  std::map<size_t, Idle>& idle = idle_[{row.gpu_id, list}];
  const int64_t end_ns = row.ts_ns + row.dur_ns;
  auto step =
      std::partition_point(list->begin(), list->end(), [&](const Step& one) { return one.end_ns <= row.ts_ns; });
  for (; step != list->end() && step->start_ns < end_ns; ++step) {
    const int64_t ns = std::min(end_ns, step->end_ns) - std::max(row.ts_ns, step->start_ns);
    if (ns > 0) blame(idle[static_cast<size_t>(step - list->begin())], row, ns);
  }
}

void Steps::blame(Idle& idle, const model::IdleRow& row, int64_t ns) {
  idle.labels[static_cast<size_t>(row.label)] += ns;
  const auto same = std::find_if(idle.blamed.begin(), idle.blamed.end(), [&](const Blamed& one) {
    return one.label == row.label && one.thread_id == row.thread_id && one.file_id == row.file_id;
  });
  if (same != idle.blamed.end()) {
    same->ns += ns;
  } else if (idle.blamed.size() < kBlamedMax) {
    idle.blamed.push_back({row.label, row.thread_id, row.file_id, ns});
  }
}

void Steps::end_at(int32_t gpu_id, int64_t ns) { ends_[gpu_id] = ns; }

bool Steps::is_whole(int32_t gpu_id, const Step& step) const {
  const auto end = ends_.find(gpu_id);
  return end == ends_.end() || step.end_ns <= end->second;
}

int64_t Steps::count_left_out() const {
  int64_t count = left_out_;
  for (const auto& [key, steps] : idle_) {
    const int32_t gpu_id = key.first;
    count += std::count_if(key.second->begin(), key.second->end(),
                           [&](const Step& step) { return !is_whole(gpu_id, step); });
  }
  return count;
}

std::vector<model::GpuSteps::Device> Steps::devices() const {
  struct Sum {
    util::LogHistogram idle;
    int64_t time_ns = 0, idle_ns = 0;
  };
  std::map<int32_t, Sum> by_gpu;
  for (const auto& [key, steps] : idle_) {
    Sum& sum = by_gpu[key.first];
    for (size_t i = 0; i < key.second->size(); ++i) {
      if (!is_whole(key.first, (*key.second)[i])) continue;
      const auto found = steps.find(i);
      const int64_t ns = found == steps.end() ? 0 : found->second.all();
      sum.idle.add(ns);
      sum.idle_ns += ns;
      sum.time_ns += (*key.second)[i].end_ns - (*key.second)[i].start_ns;
    }
  }
  std::vector<model::GpuSteps::Device> list;
  for (const auto& [gpu_id, sum] : by_gpu) {
    list.push_back({.gpu_id = gpu_id,
                    .steps = sum.idle.count(),
                    .time_ns = sum.time_ns,
                    .idle_ns = sum.idle_ns,
                    .idle_p50_ns = sum.idle.quantile(0.5),
                    .idle_p99_ns = sum.idle.quantile(0.99),
                    .idle_max_ns = sum.idle.max()});
  }
  return list;
}

model::GpuSteps::Step Steps::describe(const Step& step, const Idle& idle) const {
  const bool is_named = step.name_id > 0 && static_cast<size_t>(step.name_id) <= info_.names.size();
  std::map<std::string, int64_t> labels;
  for (size_t i = 0; i < idle.labels.size(); ++i) {
    if (idle.labels[i] != 0) labels[std::string(model::kIdleLabelNames[i])] = idle.labels[i];
  }
  const auto most = std::max_element(idle.blamed.begin(), idle.blamed.end(),
                                     [](const Blamed& a, const Blamed& b) { return a.ns < b.ns; });
  const auto thread = std::find_if(info_.threads.begin(), info_.threads.end(),
                                   [&](const model::ThreadRow& of) { return of.thread_id == most->thread_id; });
  const bool has_file = most->file_id > 0 && static_cast<size_t>(most->file_id) <= info_.files.size();
  return {.name = is_named ? info_.names[static_cast<size_t>(step.name_id) - 1].text : step.name,
          .proc_id = step.proc_id,
          .start_ns = step.start_ns,
          .duration_ns = step.end_ns - step.start_ns,
          .idle_ns = idle.all(),
          .idle = std::move(labels),
          .blamed = model::GpuSteps::Blamed{
              .label = std::string(model::kIdleLabelNames[static_cast<size_t>(most->label)]),
              .path = has_file ? info_.files[static_cast<size_t>(most->file_id) - 1].path : std::string(),
              .proc_id = thread == info_.threads.end() ? 0 : thread->proc_id,
              .thread_id = most->thread_id,
              .time_ns = most->ns}};
}

nlohmann::json Steps::describe() const {
  struct Ranked {
    const Step* step;
    const Idle* idle;
    int32_t gpu_id;
    size_t number;
    int64_t ns;
  };
  std::vector<Ranked> ranked;
  for (const auto& [key, steps] : idle_) {
    for (const auto& [at, idle] : steps) {
      const Step& step = (*key.second)[at];
      if (is_whole(key.first, step)) ranked.push_back({&step, &idle, key.first, at + 1, idle.all()});
    }
  }
  if (ranked.empty()) return {};
  const auto place = [](const Ranked& of) { return std::tuple(-of.ns, of.step->start_ns, of.gpu_id); };
  std::sort(ranked.begin(), ranked.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
  if (ranked.size() > kWorstSteps) ranked.resize(kWorstSteps);
  model::GpuSteps found{.devices = devices(), .worst = {}, .left_out = count_left_out()};
  for (const Ranked& one : ranked) {
    model::GpuSteps::Step& row = found.worst.emplace_back(describe(*one.step, *one.idle));
    row.gpu_id = one.gpu_id;
    row.number = static_cast<int64_t>(one.number);
  }
  return model::json_of(found);
}

}  // namespace mlrun::idle
