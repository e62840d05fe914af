// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/proc/task.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "runner/samplers/proc/kernel_texts.h"

namespace mlrun::proc {

namespace {

constexpr size_t kStatBytes = 1024, kSchedstatBytes = 128;

std::string path_of(const Task::Ids& ids, const char* name) {
  return fmt::format("/proc/{}/task/{}/{}", ids.host_pid, ids.host_tid, name);
}

// Does the kernel count? One that does not reports three zeros, the same as for a thread that has not begun to run.
bool counts_turns() {
  static const bool kCounts = [] {
    std::array<char, kSchedstatBytes> room;
    const ProcFile own("/proc/thread-self/schedstat");
    Numbers numbers(own.read(room.data(), room.size()));
    uint64_t run_ns = 0, queued_ns = 0, turns = 0;
    return numbers.next(run_ns) && numbers.next(queued_ns) && numbers.next(turns) && turns != 0;
  }();
  return kCounts;
}

int64_t grown(uint64_t before, uint64_t now) { return static_cast<int64_t>(now - std::min(before, now)); }

}  // namespace

Task::Task(const Ids& ids, bool keeps_open) : ids_(ids) {
  if (!keeps_open) return;
  schedstat_ = ProcFile(path_of(ids, "schedstat"));
  stat_ = ProcFile(path_of(ids, "stat"));
}

bool Task::read_turns(Sight& sight, Totals& totals) const {
  std::array<char, kSchedstatBytes> room;
  const ProcFile opened = schedstat_.is_open() ? ProcFile() : ProcFile(path_of(ids_, "schedstat"));
  Numbers numbers((schedstat_.is_open() ? schedstat_ : opened).read(room.data(), room.size()));
  if (!numbers.next(totals.run_ns) || !numbers.next(totals.runq_ns) || !numbers.next(sight.turns)) return false;
  sight.run_ns = totals.run_ns;
  sight.has_turns = counts_turns();
  return true;
}

Task::Stat Task::read_stat(Sight& sight, Totals& totals) {
  std::array<char, kStatBytes> room;
  const ProcFile opened = stat_.is_open() ? ProcFile() : ProcFile(path_of(ids_, "stat"));
  if (opened.is_refused()) return Stat::kRefused;
  const auto line = parse_stat((stat_.is_open() ? stat_ : opened).read(room.data(), room.size()));
  if (!line || line->state == 'Z' || line->state == 'X') return Stat::kEnded;
  sight.state = line->state;
  totals.user_ticks = line->user_ticks;
  totals.system_ticks = line->system_ticks;
  totals.majflt = line->majflt;
  start_ticks_ = line->start_ticks;
  comm_.fill(0);
  std::memcpy(comm_.data(), line->comm.data(), std::min(line->comm.size(), comm_.size()));
  return Stat::kRead;
}

mlrun_thread_sample Task::row(uint64_t begin_ns, uint64_t end_ns, const Totals& now) const {
  mlrun_thread_sample row{};
  row.monotonic_ns = end_ns;
  row.interval_ns = end_ns - std::min(begin_ns, end_ns);
  row.process = ids_.process;
  row.tid = ids_.tid;
  row.host_pid = ids_.host_pid;
  row.host_tid = ids_.host_tid;
  row.utime_ns = grown(totals_.user_ticks, now.user_ticks) * static_cast<int64_t>(tick_ns());
  row.stime_ns = grown(totals_.system_ticks, now.system_ticks) * static_cast<int64_t>(tick_ns());
  row.majflt = grown(totals_.majflt, now.majflt);
  row.run_ns = sight_.has_turns ? grown(totals_.run_ns, now.run_ns) : MLRUN_NOT_KNOWN;
  row.runq_ns = sight_.has_turns ? grown(totals_.runq_ns, now.runq_ns) : MLRUN_NOT_KNOWN;
  row.state = static_cast<unsigned char>(sight_.state);
  row.is_first = is_first_ ? 1 : 0;
  std::memcpy(row.comm, comm_.data(), sizeof row.comm);
  return row;
}

// schedstat is read first: if it is the same at the next sample, the thread has not run since a moment before its state
// was read.
bool Task::sample(uint64_t now_ns, std::vector<mlrun_thread_sample>& rows) {
  Sight sight;
  Totals totals = totals_;
  const bool has_schedstat = read_turns(sight, totals);
  sight.state = sight_.state;
  const bool sleeps_on = sampled_ns_ != 0 && has_schedstat && sight_.is_asleep() && sight == sight_;
  if (!sleeps_on) {
    const Stat stat = read_stat(sight, totals);
    if (stat != Stat::kRead) return stat == Stat::kRefused;
  } else {
    sampled_ns_ = now_ns;
    if (now_ns - row_end_ns_ >= kHeldNs) finish(rows);
    return true;
  }
  if (sampled_ns_ == 0) row_end_ns_ = std::min(monotonic_of_ticks(start_ticks_), now_ns);
  if (sampled_ns_ > row_end_ns_) finish(rows);
  sight_ = sight;
  rows.push_back(row(row_end_ns_, now_ns, totals));
  is_first_ = false;
  totals_ = totals;
  row_end_ns_ = sampled_ns_ = now_ns;
  return true;
}

void Task::finish(std::vector<mlrun_thread_sample>& rows) {
  if (sampled_ns_ <= row_end_ns_) return;
  rows.push_back(row(row_end_ns_, sampled_ns_, totals_));
  row_end_ns_ = sampled_ns_;
}

}  // namespace mlrun::proc
