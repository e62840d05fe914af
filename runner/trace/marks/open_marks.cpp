// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/marks/open_marks.h"

#include <algorithm>
#include <tuple>

namespace mlrun::trace {

void MarkTimeline::begin(int64_t at_ns, const OpenMark& mark) {
  open_.push_back({mark, false});
  note(at_ns);
}

// Ranges may end in any order; ended ones inside the list are removed when they are half of it.
void MarkTimeline::end(int64_t at_ns, int64_t mark_id) {
  const auto found =
      std::partition_point(open_.begin(), open_.end(), [&](const Open& one) { return one.mark.mark_id < mark_id; });
  if (found == open_.end() || found->mark.mark_id != mark_id || found->has_ended) return;
  const bool was_innermost = found + 1 == open_.end();
  found->has_ended = true;
  ++ended_;
  for (; !open_.empty() && open_.back().has_ended; --ended_) open_.pop_back();
  if (ended_ * 2 > open_.size()) {
    std::erase_if(open_, [](const Open& one) { return one.has_ended; });
    ended_ = 0;
  }
  if (was_innermost) note(at_ns);
}

void MarkTimeline::note(int64_t at_ns) {
  if (kept_ != 0 && changes_.size() >= 2 * kept_) keep(kept_);
  changes_.push_back({at_ns, now()});
}

void MarkTimeline::keep(size_t changes) {
  if (changes_.size() <= changes) return;
  changes_.erase(changes_.begin(), changes_.end() - static_cast<std::ptrdiff_t>(changes));
  changes_.shrink_to_fit();
  has_forgotten_ = true;
}

bool MarkTimeline::at(int64_t ns, OpenMark& mark) const {
  const auto later =
      std::partition_point(changes_.begin(), changes_.end(), [&](const Change& one) { return one.at_ns <= ns; });
  mark = later == changes_.begin() ? OpenMark{} : std::prev(later)->innermost;
  return later != changes_.begin() || !has_forgotten_;
}

void OpenMarks::set_log(std::span<const model::MarkRow> marks, std::span<const int32_t> paths) {
  struct Moment {
    int64_t ns = 0;
    bool begins = false;
    size_t mark = 0;
  };
  std::vector<Moment> moments;
  for (size_t i = 0; i < marks.size(); ++i) {
    if (marks[i].dur_ns <= 0) continue;
    moments.push_back({marks[i].origin.ts_ns, true, i});
    moments.push_back({marks[i].origin.ts_ns + marks[i].dur_ns, false, i});
  }
  std::sort(moments.begin(), moments.end(), [](const Moment& a, const Moment& b) {
    return std::tuple(a.ns, a.begins, a.mark) < std::tuple(b.ns, b.begins, b.mark);
  });
  for (const Moment& moment : moments) {
    const model::MarkRow& mark = marks[moment.mark];
    if (moment.begins) {
      log_.begin(moment.ns, {mark.mark_id, moment.ns, paths[moment.mark]});
    } else {
      log_.end(moment.ns, mark.mark_id);
    }
  }
}

OpenMark OpenMarks::around(const model::Origin& origin) const {
  const auto thread = threads_.find(origin.thread_id);
  if (thread != threads_.end() && thread->second.now().mark_id != 0) return thread->second.now();
  bool is_known = true;
  return process_wide(origin.proc_id, origin.ts_ns, is_known);
}

void OpenMarks::begin(const model::Origin& origin, const OpenMark& mark, bool is_of_process, bool counts_for_process) {
  const auto begin = [&](auto& timelines, int32_t id, size_t kept) {
    MarkTimeline& timeline = timelines.try_emplace(id, kept).first->second;
    const size_t before = timeline.changes();
    timeline.begin(origin.ts_ns, mark);
    note_change(timeline, before);
  };
  if (!is_of_process) begin(threads_, origin.thread_id, kThreadChanges);
  if (is_of_process || counts_for_process) begin(processes_, origin.proc_id, kProcessChanges);
  if (changes_ > changes_max_) make_room();
}

void OpenMarks::end(const model::Origin& begun, int64_t at_ns, const OpenMark& mark, bool is_of_process,
                    bool counts_for_process) {
  const auto end = [&](auto& timelines, int32_t id) {
    const auto found = timelines.find(id);
    if (found == timelines.end()) return;
    const size_t before = found->second.changes();
    found->second.end(at_ns, mark.mark_id);
    note_change(found->second, before);
  };
  if (!is_of_process) end(threads_, begun.thread_id);
  if (is_of_process || counts_for_process) end(processes_, begun.proc_id);
}

void OpenMarks::note_change(const MarkTimeline& timeline, size_t changes_before) {
  changes_ = changes_ - changes_before + timeline.changes();
}

// Shortens every history to kThreadChanges. Threads and processes that have ended keep theirs, and a loader creates new
// workers for each epoch. Not repeated until the changes double, since it visits all histories.
void OpenMarks::make_room() {
  changes_ = 0;
  for (auto* timelines : {&threads_, &processes_}) {
    for (auto& [id, timeline] : *timelines) {
      timeline.keep(kThreadChanges);
      changes_ += timeline.changes();
    }
  }
  changes_max_ = std::max(kChangesMax, 2 * changes_);
}

OpenMark OpenMarks::process_wide(int32_t proc_id, int64_t ns, bool& is_known) const {
  OpenMark innermost, of_process;
  is_known = log_.at(ns, innermost);
  const auto process = processes_.find(proc_id);
  if (process == processes_.end()) return innermost;
  is_known = process->second.at(ns, of_process) && is_known;
  return of_process.mark_id != 0 && of_process.start_ns >= innermost.start_ns ? of_process : innermost;
}

// A thread begins and ends no range during a call, so any moment of the call works. The middle is the farthest from
// ranges at either end: their times may be from another clock than CUPTI's, which differs slightly. Ranges of other
// threads are looked up at the launch.
bool OpenMarks::fill(model::GpuWorkRow& call) const {
  OpenMark mark;
  bool is_known = true;
  const auto thread = threads_.find(call.origin.thread_id);
  if (call.origin.thread_id != 0 && thread != threads_.end()) {
    is_known = thread->second.at(call.origin.ts_ns + call.dur_ns / 2, mark);
  }
  if (is_known && mark.mark_id == 0) mark = process_wide(call.origin.proc_id, call.origin.ts_ns, is_known);
  if (!is_known) return false;
  call.mark_id = mark.mark_id;
  call.mark_path = mark.path;
  return true;
}

}  // namespace mlrun::trace
