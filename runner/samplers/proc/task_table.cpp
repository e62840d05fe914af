// SPDX-License-Identifier: Apache-2.0
#include "runner/samplers/proc/task_table.h"

#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "runner/util/proc_files.h"

namespace mlrun::proc {

namespace {

// Number of threads of a process. 0: the process has ended.
size_t thread_count(uint32_t host_pid) {
  struct stat about {};
  if (::stat(fmt::format("/proc/{}/task", host_pid).c_str(), &about) != 0) return 0;
  return about.st_nlink > 2 ? about.st_nlink - 2 : 0;  // the folder's links: . and .. and one for each thread's folder
}

// Thread ids of a process, sorted. Empty: the process has ended. Nothing: they cannot be listed for lack of descriptors.
std::optional<std::vector<uint32_t>> threads_of(uint32_t host_pid) {
  int error = 0;
  std::vector<uint32_t> tids = util::numbers_in(fmt::format("/proc/{}/task", host_pid), &error);
  if (is_shortage(error)) return std::nullopt;
  std::sort(tids.begin(), tids.end());
  return tids;
}

}  // namespace

void TaskTable::set(const std::vector<Owner>& owners) {
  std::unordered_map<uint32_t, Owner> latest;
  for (const Owner& owner : owners) {
    Owner& of_pid = latest[owner.host_pid];
    if (owner.number >= of_pid.number) of_pid = owner;
  }
  for (auto process = processes_.begin(); process != processes_.end();) {
    if (latest.contains(process->first)) {
      ++process;
      continue;
    }
    std::map<uint32_t, Task>& tasks = process->second.tasks;
    while (!tasks.empty()) remove(process->second, tasks.begin());
    process = processes_.erase(process);
  }
  for (const auto& [host_pid, owner] : latest) {
    Process& process = processes_[host_pid];
    if (process.owner.number != owner.number) {
      for (auto& [tid, task] : process.tasks) task.set_process(owner.number);
      process.counted_ns = process.listed_ns = 0;
      next_work_ns_ = 0;
    }
    process.owner = owner;
  }
}

Task* TaskTable::add(Process& process, uint32_t host_tid) {
  const auto known = process.tasks.find(host_tid);
  if (known != process.tasks.end()) return &known->second;
  if (tasks_ >= kTasksMax) return nullptr;
  const Owner& owner = process.owner;
  const bool is_ours = owner.pid == owner.host_pid;
  const uint32_t tid = is_ours ? host_tid : util::innermost_pid_of(host_tid);
  if (!is_ours && tid != 0) process.hosts[tid] = host_tid;
  const Task::Ids ids{owner.number, tid, owner.host_pid, host_tid};
  Task& task = process.tasks.try_emplace(host_tid, ids, kept_open_ < kKeptOpenMax).first->second;
  ++tasks_;
  kept_open_ += task.is_kept_open() ? 1 : 0;
  return &task;
}

void TaskTable::remove(Process& process, std::map<uint32_t, Task>::iterator task) {
  task->second.finish(rows_);
  --tasks_;
  kept_open_ -= task->second.is_kept_open() ? 1 : 0;
  process.hosts.erase(task->second.ids().tid);
  process.tasks.erase(task);
}

bool TaskTable::sample(Task& task, uint64_t now_ns) {
  if (task.sample(now_ns, rows_)) return true;
  Process& process = processes_[task.ids().host_pid];
  process.listed_ns = 0;
  if (const auto found = process.tasks.find(task.ids().host_tid); found != process.tasks.end()) remove(process, found);
  return false;
}

Task* TaskTable::find(uint32_t host_pid, uint32_t tid) {
  const auto process = processes_.find(host_pid);
  if (process == processes_.end()) return nullptr;
  const Owner& owner = process->second.owner;
  if (owner.pid == owner.host_pid) return add(process->second, tid);
  const auto host = process->second.hosts.find(tid);
  if (host == process->second.hosts.end()) return nullptr;
  const auto task = process->second.tasks.find(host->second);
  return task == process->second.tasks.end() ? nullptr : &task->second;
}

void TaskTable::list(Process& process, uint64_t now_ns, const std::function<bool()>& go_on) {
  const bool may_be_same = process.listed_ns != 0 && process.listed_ns + kListNs > now_ns;
  if (may_be_same && thread_count(process.owner.host_pid) == process.tasks.size()) {
    process.counted_ns = now_ns;
    return;
  }
  const auto tids = threads_of(process.owner.host_pid);
  if (!tids) {
    process.counted_ns = now_ns;
    return;
  }
  for (auto task = process.tasks.begin(); task != process.tasks.end();) {
    const auto here = task++;
    if (!std::binary_search(tids->begin(), tids->end(), here->first)) remove(process, here);
  }
  for (const uint32_t tid : *tids) {
    if (process.tasks.contains(tid)) continue;
    if (!go_on()) return;  // the remaining threads are added at the next call
    if (Task* task = add(process, tid)) sample(*task, now_ns);
  }
  process.counted_ns = process.listed_ns = now_ns;
}

void TaskTable::work(uint64_t now_ns, const std::function<bool()>& go_on) {
  if (now_ns < next_work_ns_) return;
  next_work_ns_ = now_ns + kWorkNs;
  std::vector<std::pair<uint64_t, Process*>> to_list;
  for (auto& [pid, process] : processes_) {
    if (process.counted_ns + kPauseNs <= now_ns) to_list.emplace_back(process.counted_ns, &process);
  }
  std::sort(to_list.begin(), to_list.end());
  for (const auto& [counted_ns, process] : to_list) {
    if (go_on()) list(*process, now_ns, go_on);
  }
  std::vector<std::tuple<uint64_t, Task*, Process*>> due;
  for (auto& [pid, process] : processes_) {
    for (auto& [tid, task] : process.tasks) {
      const uint64_t sampled_ns = task.sampled_ns();  // later than now_ns if it was sampled in this round
      if (sampled_ns + kPauseNs - kWorkNs / 2 <= now_ns) due.emplace_back(sampled_ns, &task, &process);
    }
  }
  std::sort(due.begin(), due.end());
  for (const auto& [sampled_ns, task, process] : due) {
    if (!go_on()) return;
    if (!sample(*task, now_ns)) process->listed_ns = process->counted_ns = 0;
  }
}

uint64_t TaskTable::due_ns() const {
  uint64_t due_ns = UINT64_MAX;
  for (const auto& [pid, process] : processes_) due_ns = std::min(due_ns, process.counted_ns + kPauseNs);
  return processes_.empty() ? due_ns : std::max(due_ns, next_work_ns_);
}

void TaskTable::finish() {
  for (auto& [pid, process] : processes_) {
    for (auto& [tid, task] : process.tasks) task.finish(rows_);
  }
}

std::vector<mlrun_thread_sample> TaskTable::take() { return std::exchange(rows_, {}); }

}  // namespace mlrun::proc
