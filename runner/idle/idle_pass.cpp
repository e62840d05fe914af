// SPDX-License-Identifier: Apache-2.0
#include "runner/idle/idle_pass.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "runner/idle/blame.h"

namespace mlrun::idle {

namespace {

constexpr int64_t kRowsInWindow = 250'000, kWindowMinNs = 1'000'000;
constexpr size_t kSumsMax = 200'000;  // beyond it, new sums are for all files together
constexpr size_t kLinesMax = 10'000;  // maximum Python lines of a sum

// The gaps that overlap the current window. A gap stays open until a window begins after its end.
class OpenGaps {
 public:
  explicit OpenGaps(const std::vector<Gap>& gaps) : gaps_(gaps) {}

  // Indexes of the gaps that overlap the window. Requires: windows are in order.
  const std::vector<size_t>& in(const Stretch& window) {
    std::erase_if(open_, [&](size_t gap) { return gaps_[gap].end_ns <= window.start_ns; });
    for (; next_ < gaps_.size() && gaps_[next_].start_ns < window.end_ns; ++next_) open_.push_back(next_);
    return open_;
  }
  // Start of the first gap that begins after the current window; INT64_MAX: there is none.
  [[nodiscard]] int64_t next_start_ns() const { return next_ < gaps_.size() ? gaps_[next_].start_ns : INT64_MAX; }

 private:
  const std::vector<Gap>& gaps_;
  std::vector<size_t> open_;
  size_t next_ = 0;
};

int64_t last_end(const std::vector<Gap>& gaps) {
  int64_t end_ns = 0;
  for (const Gap& gap : gaps) end_ns = std::max(end_ns, gap.end_ns);
  return end_ns;
}

}  // namespace

int64_t IdlePass::window_ns(const std::vector<Gap>& gaps) const {
  if (gaps.empty()) return kWindowMinNs;
  const int64_t span_ns = last_end(gaps) - gaps.front().start_ns;
  const double share = static_cast<double>(kRowsInWindow) / static_cast<double>(std::max<int64_t>(options_.rows, 1));
  return share >= 1 ? span_ns : std::max(kWindowMinNs, static_cast<int64_t>(static_cast<double>(span_ns) * share));
}

Status IdlePass::run(GapFinder::Found found, Steps& steps) {
  IdleTable table(info_);
  if (Status opened = table.open(options_.folder + "/tables"); !opened) return opened;
  unlisted_ = std::move(found.unlisted);
  beyond_ = std::move(found.beyond);
  talks_left_out_ = found.talks_left_out;
  not_taken_back_ = found.not_taken_back;
  for (const auto& [gpu_id, beyond] : beyond_) steps.end_at(gpu_id, beyond.from_ns);
  const std::vector<Gap>& gaps = found.gaps;
  Activities activities(options_.folder, info_, {options_.has_kernel_side, options_.has_gpu_file_calls});
  Blame blame(info_, activities, options_.calls_recorded || options_.sees_sleeps);
  OpenGaps open(gaps);
  const int64_t step_ns = window_ns(gaps), end_ns = last_end(gaps);
  for (int64_t at_ns = gaps.empty() ? 0 : gaps.front().start_ns; at_ns < end_ns;) {
    const Stretch window{at_ns, std::min(at_ns + step_ns, end_ns)};
    const std::vector<size_t>& here = open.in(window);
    at_ns = here.empty() ? std::max(window.end_ns, open.next_start_ns()) : window.end_ns;
    if (here.empty()) continue;
    if (Status loaded = activities.load(window); !loaded) return loaded;
    for (const size_t number : here) {
      const Gap& gap = gaps[number];
      const Stretch part{std::max(gap.start_ns, window.start_ns), std::min(gap.end_ns, window.end_ns)};
      if (part.end_ns <= part.start_ns) continue;
      for (model::IdleRow& row : blame.pieces(gap, part, found.communication[gap.gpu_id])) {
        row.gap_id = static_cast<int64_t>(number) + 1;
        find_line(row);
        if (Status added = table.add(row); !added) return added;
        add(row);
        steps.add_idle(row);
      }
    }
  }
  calls_left_out_ = activities.left_out();
  return table.close();
}

void IdlePass::add(const model::IdleRow& row) {
  Key key{row.gpu_id, row.label, row.thread_id, row.file_id};
  if (sums_.size() >= kSumsMax && !sums_.contains(key)) std::get<3>(key) = 0;
  Sum& sum = sums_[key];
  ++sum.all.pieces;
  sum.all.time_ns += row.dur_ns;
  if (row.split) sum.all.split.add(*row.split);
  const bool has_room = sum.lines.size() < kLinesMax || sum.lines.contains(row.python_frame_id);
  if (!row.func.empty()) sum.funcs[row.func] += row.dur_ns;
  if (row.python_frame_id != 0 && has_room) sum.lines[row.python_frame_id] += row.dur_ns;
}

// Sets the Python line of a piece in which the thread was on a processor, or is assumed to have been.
void IdlePass::find_line(model::IdleRow& row) const {
  if (row.label != model::IdleLabel::kCpu) return;
  const PythonLines::Sample* sample = python_.find(row.thread_id, {row.ts_ns, row.ts_ns + row.dur_ns});
  if (sample == nullptr) return;
  row.python_stack_id = sample->stack_id;
  row.python_frame_id = sample->frame_id;
}

void IdlePass::add_unlisted(const std::unordered_map<int32_t, Unlisted>& from, const char* label,
                            std::vector<summary::GpuIdleSummary>& rows) {
  for (const auto& [gpu_id, unlisted] : from) {
    summary::GpuIdleSummary& row = rows.emplace_back();
    row.gpu_id = gpu_id;
    row.label = label;
    row.pieces = unlisted.gaps;
    row.time_ns = unlisted.time_ns;
  }
}

std::vector<model::CoverageRow> IdlePass::coverage() const {
  std::vector<model::CoverageRow> rows;
  const auto add = [&](int64_t count, const char* what) {
    if (count > 0) rows.push_back({.subject = "GPU idle time", .detail = fmt::format("{} {}", count, what)});
  };
  int64_t beyond = 0;
  for (const auto& [gpu_id, unlisted] : beyond_) beyond += unlisted.gaps;
  add(calls_left_out_, "calls and sleeps exceeded the limit of a window: their time counts as cpu");
  add(python_.left_out(), "samples of Python stacks exceeded the limit");
  add(beyond, "gaps exceeded the limit: their time is counted but not attributed");
  add(talks_left_out_,
      "kernels of communication exceeded the limit: the gaps that they cover are attributed like other gaps");
  add(not_taken_back_,
      "GPU operations arrived after the gaps that they fill had been counted: these gaps still count as idle");
  return rows;
}

std::vector<summary::GpuIdleSummary> IdlePass::sums() const {
  std::unordered_map<int32_t, const model::ThreadRow*> threads;
  for (const model::ThreadRow& thread : info_.threads) threads[thread.thread_id] = &thread;
  std::vector<summary::GpuIdleSummary> rows;
  for (const auto& [key, sum] : sums_) {
    const auto& [gpu_id, label, thread_id, file_id] = key;
    summary::GpuIdleSummary& row = rows.emplace_back(sum.all);
    row.gpu_id = gpu_id;
    row.label = std::string(model::kIdleLabelNames[static_cast<size_t>(label)]);
    row.thread_id = thread_id;
    const auto thread = threads.find(thread_id);
    row.proc_id = thread == threads.end() ? 0 : thread->second->proc_id;
    row.tid = thread == threads.end() ? 0 : thread->second->tid;
    row.file_id = file_id;
    if (file_id > 0 && static_cast<size_t>(file_id) <= info_.files.size()) {
      row.path = info_.files[static_cast<size_t>(file_id - 1)].path;
    }
    for (const auto& [frame_id, time_ns] : sum.lines) {
      const std::string line = model::python_line(info_.stacks.frame(frame_id));
      if (std::tie(time_ns, row.python_line) < std::tie(row.python_ns, line)) continue;
      row.python_line = line;
      row.python_ns = time_ns;
    }
    for (const auto& [func, time_ns] : sum.funcs) {
      if (time_ns <= row.func_ns) continue;
      row.func = func;
      row.func_ns = time_ns;
    }
  }
  add_unlisted(unlisted_, "short", rows);
  add_unlisted(beyond_, "not listed", rows);
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return std::tie(b.time_ns, a.gpu_id, a.label, a.thread_id, a.file_id) <
           std::tie(a.time_ns, b.gpu_id, b.label, b.thread_id, b.file_id);
  });
  if (rows.size() > summary::kTopIdle) rows.resize(summary::kTopIdle);
  return rows;
}

}  // namespace mlrun::idle
