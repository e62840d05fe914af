// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/machine/process_source.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "runner/util/clock.h"
#include "runner/util/proc_files.h"

namespace mlrun::machine {

namespace {

// PSS is read 2 s after a process was seen, then every 20 s, and less often if that takes more than 1/2000 of the time for all processes
// together: the kernel walks all pages of a process, which may take seconds.
constexpr uint64_t kFirstShareNs = 2'000'000'000, kSharePauseNs = 20'000'000'000, kShareCostMax = 2000;

}  // namespace

ProcessCounters ProcessSource::make(uint32_t pid, uint32_t tid) {
  // Where descriptors become scarce, a thread keeps only schedstat: sleeping threads are read at each sample too, and that is all
  // they cost.
  const uint32_t wanted = tid == 0 ? 3 : descriptors_ < kDescriptorsMax / 2 ? 2 : 1;
  ProcessCounters counters(places_, pid, tid, std::min(wanted, kDescriptorsMax - descriptors_));
  descriptors_ += counters.descriptors();
  return counters;
}

ProcessSource::Process& ProcessSource::find_or_add(uint32_t pid) {
  const auto known = processes_.find(pid);
  if (known != processes_.end()) return known->second;
  return processes_.emplace(pid, Process{make(pid, 0), {}}).first->second;
}

// Takes effect at the next sample.
void ProcessSource::watch(const std::vector<uint32_t>& host_pids) {
  wanted_ = host_pids;
  std::sort(wanted_.begin(), wanted_.end());
  for (const uint32_t pid : wanted_) find_or_add(pid);
}

void ProcessSource::remove(Process& process, std::map<uint32_t, ProcessCounters>::iterator thread) {
  descriptors_ -= thread->second.descriptors();
  --threads_;
  process.threads.erase(thread);
}

void ProcessSource::end(Process& process, Batch& batch) {
  if (threads_ < threads_max_)
    without_rows_ += process.listed - std::min<uint64_t>(process.listed, process.threads.size());
  for (auto& [tid, thread] : process.threads) thread.finish(batch);
  process.counters.finish(batch);
  while (!process.threads.empty()) remove(process, process.threads.begin());
  without_share_ += process.counters.row_end_ns() != 0 && !process.has_share ? 1 : 0;
  descriptors_ -= process.counters.descriptors();
  process.counters = ProcessCounters(places_, 0, 0, 0);  // to close the open files
}

bool ProcessSource::has_unlisted(const Process& process) const {
  if (process.listed == 0 || process.listed != process.counters.threads()) return true;
  return process.threads.size() < process.listed && threads_ < threads_max_;
}

// Adds the threads that are not known, some in each sample: the first reading of a thread is expensive, and a program may make
// thousands at once. Their first rows have the whole time since their beginning.
void ProcessSource::list_threads(uint32_t pid, Process& process) {
  const std::vector<uint32_t> tids = util::numbers_in(fmt::format("{}/{}/task", places_.proc, pid));
  if (tids.empty()) return;
  process.listed = tids.size();
  for (const uint32_t tid : tids) {
    if (process.threads.contains(tid)) continue;
    if (threads_ >= threads_max_) {
      left_out_ = true;
      continue;
    }
    if (first_reads_ >= kFirstReadsMax) continue;
    process.threads.emplace(tid, make(pid, tid));
    ++threads_;
    ++first_reads_;
  }
}

// Samples the threads of a process. True: at least one has run or ended.
bool ProcessSource::sample_threads(Process& process, uint64_t now_ns, Batch& batch) {
  bool any = false;
  for (auto thread = process.threads.begin(); thread != process.threads.end();) {
    const auto here = thread++;
    const ProcessCounters::Seen seen = here->second.sample(now_ns, batch);
    any = any || seen != ProcessCounters::Seen::kAsleep;
    if (seen != ProcessCounters::Seen::kGone) continue;
    here->second.finish(batch);
    process.listed = 0;
    remove(process, here);
  }
  return any;
}

// Samples the process as a whole. False: it has ended.
bool ProcessSource::sample_process(Process& process, uint64_t now_ns, Batch& batch) {
  // A thread without rows may have run: only the process's own numbers show it.
  const bool ran = sample_threads(process, now_ns, batch) || process.threads.size() < process.listed;
  if (process.next_share_ns == 0) process.next_share_ns = now_ns + kFirstShareNs;
  const bool reads_share = &process == share_due_;
  if (!ran && !reads_share && !process.threads.empty()) {
    process.counters.keep(now_ns);
    if (now_ns - process.counters.row_end_ns() >= kQuietNs) process.counters.finish(batch);
    return true;
  }
  if (reads_share) process.counters.wants_share();
  const uint64_t before_ns = util::clock_ns(CLOCK_THREAD_CPUTIME_ID);
  if (process.counters.sample(now_ns, batch) == ProcessCounters::Seen::kGone) return false;
  if (reads_share) {
    process.has_share = true;
    const uint64_t cost_ns = util::clock_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns;
    process.next_share_ns = now_ns + kSharePauseNs;
    next_share_ns_ = now_ns + kShareCostMax * cost_ns;
    bounded_ns_ += cost_ns;
  }
  return true;
}

// The process whose PSS is due for the longest time; nullptr: none may be read now.
ProcessSource::Process* ProcessSource::find_share_due(uint64_t now_ns) {
  Process* due = nullptr;
  if (now_ns < next_share_ns_) return due;
  for (auto& [pid, process] : processes_) {
    const bool is_due = !process.has_ended && process.next_share_ns != 0 && now_ns >= process.next_share_ns;
    if (is_due && (due == nullptr || process.next_share_ns < due->next_share_ns)) due = &process;
  }
  return due;
}

// Adds threads of all processes, from the one on that had the last turn: a process that makes threads all the time leaves turns to the others.
void ProcessSource::list_all_threads() {
  first_reads_ = 0;
  auto at = processes_.lower_bound(last_listed_);
  for (size_t i = 0; i < processes_.size() && first_reads_ < kFirstReadsMax; ++i, ++at) {
    if (at == processes_.end()) at = processes_.begin();
    if (!at->second.has_ended && has_unlisted(at->second)) list_threads(at->first, at->second);
    last_listed_ = at->first + 1;
  }
}

void ProcessSource::sample(uint64_t now_ns, Batch& batch) {
  share_due_ = find_share_due(now_ns);
  list_all_threads();
  for (auto process = processes_.begin(); process != processes_.end();) {
    const auto here = process++;
    const uint32_t pid = here->first;
    Process& one = here->second;
    const bool is_wanted = std::binary_search(wanted_.begin(), wanted_.end(), pid);
    one.unnamed_ns = is_wanted ? 0 : one.unnamed_ns == 0 ? now_ns : one.unnamed_ns;
    if (!one.has_ended) {
      one.has_ended = !sample_process(one, now_ns, batch);
      if (one.has_ended) end(one, batch);
    }
    if (is_wanted || (!one.has_ended && now_ns - one.unnamed_ns < kUnnamedNs)) continue;
    if (!one.has_ended) end(one, batch);
    processes_.erase(here);
  }
}

// The numbers of a zombie are final, but for its memory, which is gone.
void ProcessSource::sample_end(uint32_t host_pid, uint64_t now_ns, Batch& batch) {
  Process& process = find_or_add(host_pid);
  if (process.has_ended) return;
  share_due_ = nullptr;
  first_reads_ = 0;
  if (has_unlisted(process)) list_threads(host_pid, process);
  sample_process(process, now_ns, batch);
  end(process, batch);
  process.has_ended = true;
}

void ProcessSource::finish(Batch& batch) {
  for (auto& [pid, process] : processes_) {
    if (!process.has_ended) end(process, batch);
  }
  processes_.clear();
}

// What mlrun's own files lack, those of the command's processes lack too.
std::vector<std::string> ProcessSource::problems() const {
  std::vector<std::string> list;
  if (left_out_)
    list.push_back(fmt::format(
        "more than {} threads: the further ones have no rows and are only in the rows of their process", threads_max_));
  if (without_rows_ > 0)
    list.push_back(fmt::format(
        "{} threads have no rows of their own: they, or the run, ended before they were read; at most {} new "
        "threads are read per sample",
        without_rows_, kFirstReadsMax));
  std::vector<char> room;
  const proc::ProcFile schedstat(places_.proc + "/thread-self/schedstat");
  if (schedstat.read(room).find_first_of("123456789") == std::string_view::npos)
    list.emplace_back(
        "no times in /proc/PID/task/TID/schedstat (needs CONFIG_SCHEDSTATS): run_ns and runq_ns of threads are null");
  if (!proc::ProcFile(places_.proc + "/thread-self/io").is_open())
    list.emplace_back("no /proc/PID/io (needs CONFIG_TASK_IO_ACCOUNTING): bytes and calls of processes are null");
  if (!proc::ProcFile(places_.proc + "/self/smaps_rollup").is_open())
    list.emplace_back("no /proc/PID/smaps_rollup (needs Linux 4.14, CONFIG_PROC_PAGE_MONITOR): pss_bytes is null");
  return list;
}

std::vector<std::string> ProcessSource::remarks() const {
  if (without_share_ == 0) return {};
  return {
      fmt::format("processes without pss_bytes: {} ended before it was read, {} s after they were seen at the earliest",
                  without_share_, kFirstShareNs / 1'000'000'000)};
}

}  // namespace mlrun::machine
